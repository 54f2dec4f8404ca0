"""What a configuration would drop from the database, told before a collector starts with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.core.catalog import ANY_AZ, UNKNOWN_AZ, Catalog, Ref
from limes.db.engine import Engine
from limes.db.queries import holdings as queries
from limes.db.queries.holdings import Holdings, StoredResource, StoredService, ZoneHoldings
from limes.system import Clock


@dataclass(frozen=True, slots=True)
class DroppedResource:
    """A resource that is not configured, and what there is of it."""

    ref: Ref
    holdings: Holdings


@dataclass(frozen=True, slots=True)
class DroppedService:
    """A service that is not configured, with its resources."""

    type: str
    resources: Sequence[DroppedResource]
    projects: int
    """Projects that have quota for it, or use it."""
    commitments: int
    missing_since: float | None
    """When a collector first missed it (seconds since the epoch); None if none has yet."""
    deleted_at: float
    """The earliest time of its deletion (seconds since the epoch): its grace and its last commitment are over then."""


@dataclass(frozen=True, slots=True)
class DroppedZone:
    """An availability zone that is not configured, and what there is in it."""

    name: str
    holdings: ZoneHoldings


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is in the database and not in the configuration."""

    services: Sequence[DroppedService]
    """Those that the collectors do not miss yet."""
    resources: Sequence[DroppedResource]
    """Resources of services that stay."""
    availability_zones: Sequence[DroppedZone]
    missing: Sequence[DroppedService]
    """Services that the collectors miss already, and that are kept for a grace."""

    @property
    def drops_anything(self) -> bool:
        """Whether this configuration hides something that is shown now."""
        return bool(self.services or self.resources or self.availability_zones)


@dataclass(frozen=True, slots=True)
class CompareCatalog:
    """The use case. A service is kept for `grace` seconds after it has left the configuration."""

    engine: Engine
    catalog: Catalog
    clock: Clock
    grace: float

    def run(self) -> Comparison:
        """Compares in one snapshot. Nothing is written."""
        now = self.clock.now().timestamp()
        return self.engine.snapshot(lambda: self._compare(now))

    def _compare(self, now: float) -> Comparison:
        stored = queries.resources(self.engine)
        services = [
            self._service(service, [resource for resource in stored if resource.ref[0] == service.type], now)
            for service in queries.services(self.engine)
            if service.type not in self.catalog.services
        ]
        resources = [
            self._resource(resource, now)
            for resource in stored
            if resource.is_known
            and resource.ref[0] in self.catalog.services
            and self.catalog.find(resource.ref) is None
        ]
        zones = {*self.catalog.availability_zones, ANY_AZ, UNKNOWN_AZ}
        return Comparison(
            [service for service in services if service.missing_since is None],
            resources,
            [DroppedZone(az, holdings) for az, holdings in queries.zones(self.engine, now).items() if az not in zones],
            [service for service in services if service.missing_since is not None],
        )

    def _service(self, service: StoredService, resources: Sequence[StoredResource], now: float) -> DroppedService:
        ids = [resource.id for resource in resources]
        dropped = [self._resource(resource, now) for resource in resources]
        missing_since = service.vanished_at
        deleted_at = (now if missing_since is None else missing_since) + self.grace
        return DroppedService(
            service.type,
            dropped,
            queries.count_projects(self.engine, ids),
            sum(resource.holdings.commitments for resource in dropped),
            missing_since,
            max(deleted_at, queries.last_end(self.engine, ids, now) or 0.0),
        )

    def _resource(self, resource: StoredResource, now: float) -> DroppedResource:
        return DroppedResource(resource.ref, queries.holdings(self.engine, resource.id, now))
