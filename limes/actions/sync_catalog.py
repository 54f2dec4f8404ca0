"""Adds the rows that mirror the configuration: services, resources and capacitors, and what depends on them.

It may run repeatedly, and in several processes at once. Rows are only deleted with `prune`, which the collector asks
for: an API process of the next release, started beside old ones, must not take anything away from them.

A service that is not configured any more is hidden, but its quotas and commitments are kept for a grace period. So a
mistake in the configuration is repaired by putting the service back.
"""

import logging
from functools import partial

from limes.actions.context import Limes
from limes.actions.metering.usage import end_metering_of_resources, end_metering_of_services
from limes.core.calendar import render_time
from limes.db.engine import Engine
from limes.db.queries import catalog as queries
from limes.db.queries import commitments, discovery
from limes.db.transactions import atomic

log = logging.getLogger(__name__)


@atomic
def sync_catalog(limes: Limes, *, prune: bool = False) -> None:
    """Adds missing rows. With `prune`, deletes capacitors that are not configured any more, and services whose
    grace period is over.

    A service with live commitments is kept until they have ended, with a warning: somebody pays for them.
    """
    engine, now, capacitors = limes.engine, limes.now(), list(limes.backends.capacity)
    queries.add_services(engine, limes.catalog.services)
    queries.add_resources(engine, limes.catalog.refs())
    queries.add_capacitors(engine, capacitors, now)
    hidden = queries.show_only(engine, set(limes.catalog.refs()))
    # the usage of a service that has left the configuration is unknown from now on, but not over
    gone = [id_ for id_, service in hidden.items() if service in limes.catalog.services]
    end_metering_of_resources(engine, gone, now)
    if prune:
        _prune_services(limes, now)
        queries.delete_other_capacitors(engine, capacitors)
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
