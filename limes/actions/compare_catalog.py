"""What a configuration would drop of what the database has, before a collector starts with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.core.catalog import ANY_AZ, UNKNOWN_AZ, Catalog, Ref
from limes.db.engine import Engine
from limes.db.queries import holdings as queries
from limes.db.queries.holdings import Holdings, StoredResource, ZoneHoldings


@dataclass(frozen=True, slots=True)
class DroppedResource:
    """A resource that is not configured, and what hangs on it."""

    ref: Ref
    holdings: Holdings


@dataclass(frozen=True, slots=True)
class DroppedService:
    """A service that is not configured, with its resources."""

    type: str
    resources: Sequence[DroppedResource]
    projects: int
    """Projects that have quota of it, or use it."""
    commitments: int
    missing_since: float | None
    """When a collector first missed it; None if none has yet."""
    deleted_at: float
    """Not before this time (seconds since the epoch): when the grace and its last commitment are over."""


@dataclass(frozen=True, slots=True)
class DroppedZone:
    """An availability zone that is not configured, and what hangs on it."""

    name: str
    holdings: ZoneHoldings


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the database has and the configuration has not."""

    services: Sequence[DroppedService]
    """Configured where the collectors have last looked."""
    resources: Sequence[DroppedResource]
    """The same, of services that stay."""
    availability_zones: Sequence[DroppedZone]
    missing: Sequence[DroppedService]
    """Services that the collectors miss already."""

    @property
    def drops_anything(self) -> bool:
        """Whether this configuration takes something away that is shown now."""
        return bool(self.services or self.resources or self.availability_zones)


def compare(engine: Engine, catalog: Catalog, now: float, grace: float) -> Comparison:
    """Compares in one snapshot. Nothing is written."""
    return engine.snapshot(lambda: _Comparing(engine, catalog, now, grace).run())


@dataclass(frozen=True, slots=True)
class _Comparing:
    engine: Engine
    catalog: Catalog
    now: float
    grace: float

    def run(self) -> Comparison:
        stored = queries.resources(self.engine)
        gone = [one for one in queries.services(self.engine) if one.type not in self.catalog.services]
        services = [
            self._service(one.type, [resource for resource in stored if resource.ref[0] == one.type], one.vanished_at)
            for one in gone
        ]
        resources = [
            self._resource(one)
            for one in stored
            if one.is_known and one.ref[0] in self.catalog.services and self.catalog.find(one.ref) is None
        ]
        zones = {*self.catalog.availability_zones, ANY_AZ, UNKNOWN_AZ}
        return Comparison(
            [one for one in services if one.missing_since is None],
            resources,
            [DroppedZone(az, held) for az, held in queries.zones(self.engine, self.now).items() if az not in zones],
            [one for one in services if one.missing_since is not None],
        )

    def _service(
        self, service_type: str, resources: Sequence[StoredResource], missing_since: float | None
    ) -> DroppedService:
        ids = [one.id for one in resources]
        dropped = [self._resource(one) for one in resources]
        deleted_at = (self.now if missing_since is None else missing_since) + self.grace
        return DroppedService(
            service_type,
            dropped,
            queries.count_projects(self.engine, ids),
            sum(one.holdings.commitments for one in dropped),
            missing_since,
            max(deleted_at, queries.last_end(self.engine, ids, self.now) or 0.0),
        )

    def _resource(self, resource: StoredResource) -> DroppedResource:
        return DroppedResource(resource.ref, queries.holdings(self.engine, resource.id, self.now))
