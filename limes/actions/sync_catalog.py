"""Adds the rows that mirror the configuration: services, resources and capacitors, and what depends on them.

It may run repeatedly, and in several processes at once. Rows are only deleted with `prune`, which the collector asks
for: an API process of the next release, started beside old ones, must not take anything away from them.

A service that is not configured any more is hidden, but its quotas and commitments are kept for a grace period. So a
mistake in the configuration is repaired by putting the service back.
"""

import logging
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from limes.actions.metering.usage import VALID_FOR, end_metering_of_resources, end_metering_of_services
from limes.core.catalog import Catalog
from limes.core.metering.calendar import render_time
from limes.db.engine import Engine
from limes.db.queries import catalog as queries
from limes.db.queries import commitments, discovery
from limes.db.transactions import atomic
from limes.system import Clock

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SyncCatalog:
    engine: Engine
    catalog: Catalog
    capacitors: Collection[str]
    clock: Clock
    grace: float = 0.0
    """How long a service is kept after it has left the configuration, in seconds."""
    usage_valid_for: float = VALID_FOR
    """How long (in seconds) the usage of a project counts as known, without another scrape."""

    @atomic
    def run(self, *, prune: bool = False) -> None:
        """Adds missing rows. With `prune`, deletes capacitors that are not configured any more, and services whose
        grace period is over.

        A service with live commitments is kept until they have ended, with a warning: somebody pays for them.
        """
        engine, now = self.engine, self.clock.now().timestamp()
        queries.add_services(engine, self.catalog.services)
        queries.add_resources(engine, self.catalog.refs())
        queries.add_capacitors(engine, self.capacitors, now)
        hidden = queries.show_only(engine, set(self.catalog.refs()))
        # the usage of a service that has left the configuration is unknown from now on, but not over
        gone = [id_ for id_, service in hidden.items() if service in self.catalog.services]
        end_metering_of_resources(engine, gone, now)
        if prune:
            self._prune_services(now)
            queries.delete_other_capacitors(engine, self.capacitors)
        discovery.add_project_services(engine, now)

    def _prune_services(self, now: float) -> None:
        configured = list(self.catalog.services)
        for service in sorted(queries.restore_services(self.engine, configured)):
            self._log("service %s is configured again, and has its quotas and commitments back", service)
        kept_until = render_time(int(now + self.grace))
        for service in sorted(queries.mark_vanished_services(self.engine, configured, now)):
            text = "service %s is not configured any more: its quotas and commitments are kept until %s"
            self._log(text, service, kept_until)
        overdue = queries.services_vanished_before(self.engine, now - self.grace)
        committed = set(commitments.live_services(self.engine))
        for service in overdue:
            if service in committed:
                text = "service %s is not configured any more, but is kept: projects have commitments in it"
            else:
                text = "service %s is not configured any more: deleted with all of its quotas"
            self._log(text, service)
        deleted = [service for service in overdue if service not in committed]
        of_deleted = queries.resources_of_services(self.engine, deleted, now - self.grace)
        end_metering_of_services(self.engine, deleted, of_deleted, now, self.usage_valid_for)
        queries.delete_services(self.engine, deleted, now - self.grace)

    def _log(self, text: str, *values: object) -> None:
        """Logs after the commit: a transaction may be run again, or not at all."""
        self.engine.after_commit(partial(log.warning, text, *values))
