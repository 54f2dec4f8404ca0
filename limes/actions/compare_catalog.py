"""What a configuration would drop from the database, and which resources it gives another distribution model. Told
before a collector starts with it."""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.actions.autogrow import autogrow_rule
from limes.actions.context import Limes
from limes.core.catalog import ANY_AZ, UNKNOWN_AZ, Ref
from limes.db.queries import holdings as queries
from limes.db.queries.autogrow import computed_resources
from limes.db.queries.holdings import Holdings, StoredResource, StoredService, ZoneHoldings
from limes.db.transactions import snapshot


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
class ChangedModel:
    """A resource, what there is of it, and its distribution model before and after."""

    ref: Ref
    before: str
    after: str
    holdings: Holdings


@snapshot
def compare_catalog(limes: Limes) -> Comparison:
    """Nothing is written."""
    engine, catalog, now = limes.engine, limes.catalog, limes.now()
    stored = queries.resources(engine)
    services = [
        _service(limes, service, [resource for resource in stored if resource.ref[0] == service.type], now)
        for service in queries.services(engine)
        if service.type not in catalog.services
    ]
    resources = [
        _resource(limes, resource, now)
        for resource in stored
        if resource.is_known and resource.ref[0] in catalog.services and catalog.find(resource.ref) is None
    ]
    zones = {*catalog.availability_zones, ANY_AZ, UNKNOWN_AZ}
    return Comparison(
        [service for service in services if service.missing_since is None],
        resources,
        [DroppedZone(az, holdings) for az, holdings in queries.zones(engine, now).items() if az not in zones],
        [service for service in services if service.missing_since is not None],
    )


def _service(limes: Limes, service: StoredService, resources: Sequence[StoredResource], now: float) -> DroppedService:
    ids = [resource.id for resource in resources]
    dropped = [_resource(limes, resource, now) for resource in resources]
    missing_since = service.vanished_at
    deleted_at = (now if missing_since is None else missing_since) + limes.settings.collector.service_grace
    return DroppedService(
        service.type,
        dropped,
        queries.count_projects(limes.engine, ids),
        sum(resource.holdings.commitments for resource in dropped),
        missing_since,
        max(deleted_at, queries.last_end(limes.engine, ids, now) or 0.0),
    )


def _resource(limes: Limes, resource: StoredResource, now: float) -> DroppedResource:
    return DroppedResource(resource.ref, queries.holdings(limes.engine, resource.id, now))


@snapshot
def compare_models(limes: Limes) -> Sequence[ChangedModel]:
    """Leaves out resources of which there is nothing. Nothing is written."""
    growing = {(row.service_type, row.name) for row in computed_resources(limes.engine)}
    now = limes.now()
    changed = []
    for resource in queries.resources(limes.engine):
        definition = limes.catalog.find(resource.ref)
        if not resource.is_known or definition is None or not definition.tracks_quota:
            continue
        grew, grows = resource.ref in growing, autogrow_rule(limes.catalog, resource.ref) is not None
        if grew != grows and any(found := queries.holdings(limes.engine, resource.id, now)):
            changed.append(ChangedModel(resource.ref, _model(grew), _model(grows), found))
    return changed


def _model(grows: bool) -> str:
    return "autogrow" if grows else "hierarchical"
