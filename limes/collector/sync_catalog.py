"""Adds the rows that mirror the configuration: services, resources and capacitors, and what depends on them. Compares
it with them, too, before a collector starts with it: what it would drop, and where it changes the distribution model.

It may run repeatedly, and in several processes at once. Rows are only deleted with `prune`, which the collector asks
for: an API process of the next release, started beside old ones, must not take anything away from them.

A service that is not configured any more is hidden, but its quotas and commitments are kept for a grace period. So a
mistake in the configuration is repaired by putting the service back.
"""

import logging
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from limes.app.context import Limes
from limes.autogrow.compute import autogrow_rule
from limes.autogrow.queries import computed_resources
from limes.catalog import queries
from limes.catalog.catalog import ANY_AZ, UNKNOWN_AZ, Ref
from limes.collector import holdings
from limes.collector.holdings import Holdings, StoredResource, StoredService, ZoneHoldings
from limes.commitments import queries as commitments
from limes.db.engine import Engine
from limes.db.transactions import atomic, snapshot
from limes.kernel.calendar import render_time
from limes.metering.usage import end_metering_of_resources, end_metering_of_services
from limes.projects import discovery

log = logging.getLogger(__name__)


@atomic
def sync_catalog(limes: Limes, *, prune: bool = False) -> None:
    """Adds missing rows. With `prune`, deletes capacitors that are not configured any more, and services whose grace
    period is over. A service with live commitments is kept until they have ended, with a warning, since they
    are paid for."""
    engine, now, capacitors = limes.engine, limes.now(), list(limes.backends.capacity)
    queries.add_services(engine, [(type_,) for type_ in limes.catalog.services])
    services = queries.service_ids(engine)
    queries.add_resources(engine, [(services[type_], name, True) for type_, name in limes.catalog.refs()])
    queries.add_capacitors(engine, [(name, now, "") for name in capacitors])  # due at once
    hidden = queries.show_only(engine, set(limes.catalog.refs()))
    # the usage of a service that has left the configuration is unknown from now on, but not over
    gone = [id_ for id_, service in hidden.items() if service in limes.catalog.services]
    end_metering_of_resources(engine, gone, now)
    if prune:
        _prune_services(limes, now)
        queries.delete_other_capacitors(engine, capacitors)
        queries.delete_unreported(engine)
    discovery.add_project_services(engine, now)


def _prune_services(limes: Limes, now: float) -> None:
    engine, configured, grace = limes.engine, list(limes.catalog.services), limes.settings.collector.service_grace
    for service in sorted(queries.restore_services(engine, configured)):
        _log(engine, "service %s is configured again, and has its quotas and commitments back", service)
    kept_until = render_time(int(now + grace))
    for service in sorted(queries.mark_vanished_services(engine, configured, now)):
        text = "service %s is not configured any more: its quotas and commitments are kept until %s"
        _log(engine, text, service, kept_until)
    overdue = queries.services_vanished_before(engine, now - grace)
    committed = set(commitments.live_services(engine))
    for service in overdue:
        if service in committed:
            text = "service %s is not configured any more, but is kept: projects have commitments in it"
        else:
            text = "service %s is not configured any more: deleted with all of its quotas"
        _log(engine, text, service)
    deleted = [service for service in overdue if service not in committed]
    of_deleted = queries.resources_of_services(engine, deleted, now - grace)
    end_metering_of_services(limes, deleted, of_deleted, now)
    queries.delete_services(engine, deleted, now - grace)


def _log(engine: Engine, text: str, *values: object) -> None:
    """Logs after the commit: a transaction may be run again, or not at all."""
    engine.after_commit(partial(log.warning, text, *values))


class DroppedResource(NamedTuple):
    """A resource that is not configured, and what is recorded about it."""

    ref: Ref
    holdings: Holdings


class DroppedService(NamedTuple):
    type: str
    resources: Sequence[DroppedResource]
    projects: int
    """Projects that have quota for it, or use it."""
    commitments: int
    missing_since: float | None
    """When a collector first missed it (seconds since the epoch); None if none has yet."""
    deleted_at: float
    """The earliest time of its deletion (seconds since the epoch): its grace and its last commitment are over then."""


class DroppedZone(NamedTuple):
    name: str
    holdings: ZoneHoldings


class Comparison(NamedTuple):
    """What is in the database and not in the configuration."""

    services: Sequence[DroppedService]
    """The ones that collectors do not miss yet."""
    resources: Sequence[DroppedResource]
    """Resources of services that stay."""
    availability_zones: Sequence[DroppedZone]
    missing: Sequence[DroppedService]
    """Services that the collectors miss already, and that are kept for a grace."""

    @property
    def drops_anything(self) -> bool:
        """Whether this configuration hides something that is shown now."""
        return bool(self.services or self.resources or self.availability_zones)


class ChangedModel(NamedTuple):
    """A resource, what is recorded about it, and its distribution model before and after."""

    ref: Ref
    before: str
    after: str
    holdings: Holdings


@snapshot
def compare_catalog(limes: Limes) -> Comparison:
    """Nothing is written."""
    engine, catalog, now = limes.engine, limes.catalog, limes.now()
    stored = holdings.resources(engine)
    services = [
        _service(limes, service, [resource for resource in stored if resource.ref[0] == service.type], now)
        for service in holdings.services(engine)
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
        [DroppedZone(az, there) for az, there in holdings.zones(engine, now).items() if az not in zones],
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
        holdings.count_projects(limes.engine, ids),
        sum(resource.holdings.commitments for resource in dropped),
        missing_since,
        max(deleted_at, holdings.last_end(limes.engine, ids, now) or 0.0),
    )


def _resource(limes: Limes, resource: StoredResource, now: float) -> DroppedResource:
    return DroppedResource(resource.ref, holdings.holdings(limes.engine, resource.id, now))


@snapshot
def compare_models(limes: Limes) -> Sequence[ChangedModel]:
    """Leaves out resources about which nothing is recorded. Nothing is written."""
    growing = {(row.service_type, row.name) for row in computed_resources(limes.engine)}
    now = limes.now()
    changed = []
    for resource in holdings.resources(limes.engine):
        definition = limes.catalog.find(resource.ref)
        if not resource.is_known or definition is None or not definition.tracks_quota:
            continue
        grew, grows = resource.ref in growing, autogrow_rule(limes.catalog, resource.ref) is not None
        if grew != grows and any(found := holdings.holdings(limes.engine, resource.id, now)):
            changed.append(ChangedModel(resource.ref, _model(grew), _model(grows), found))
    return changed


def _model(grows: bool) -> str:
    return "autogrow" if grows else "hierarchical"
