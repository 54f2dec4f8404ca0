"""Makes the rows that mirror the configuration: services, resources and capacitors, and what hangs on them.

Safe to run in any number of processes at once, and again. Rows are only deleted when `prune` is asked for, which the
collector does: an API process of the next release, started beside the old ones, must not take anything away from them.

A service that is not configured any more is shown nowhere, but its quotas and commitments stay for a time of grace: a
mistake in the configuration is mended by putting the service back.
"""

import logging
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from limes.core.catalog import Catalog
from limes.db.engine import Engine, placeholders
from limes.db.queries import catalog as queries
from limes.db.queries import commitments, vanished_services
from limes.system import Clock

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SyncCatalog:
    """The use case with what it works with."""

    engine: Engine
    catalog: Catalog
    capacitors: Collection[str]
    clock: Clock
    grace: float = 0.0
    """For how many seconds a service is kept after it has left the configuration."""

    def run(self, *, prune: bool = False) -> None:
        """Makes missing rows; with `prune`, deletes capacitors that are not configured any more, and services that have
        not been for the time of grace.

        A service whose commitments still hold is kept until they have ended, with a warning: somebody pays for them.
        """
        self.engine.atomic(lambda: self._work(prune))

    def _work(self, prune: bool) -> None:
        now = self.clock.now().timestamp()
        for service in self.catalog.services:
            self.engine.execute("INSERT INTO services (type) VALUES (%s) ON CONFLICT (type) DO NOTHING", [service])
        services = queries.service_ids(self.engine)
        for service_type, name in self.catalog.refs():
            self.engine.execute(
                "INSERT INTO resources (service_id, name, is_known) VALUES (%s, %s, %s)"
                " ON CONFLICT (service_id, name) DO NOTHING",
                [services[service_type], name, True],
            )
        for capacitor in self.capacitors:
            self.engine.execute(
                "INSERT INTO capacitors (name, next_scrape_at, scrape_error) VALUES (%s, %s, '')"
                " ON CONFLICT (name) DO NOTHING",
                [capacitor, now],
            )
        self._hide_vanished_resources()
        if prune:
            self._prune_services(now)
            self._prune_capacitors()
            self._drop_unowned_capacity()
        self._fill_projects(now)

    def _hide_vanished_resources(self) -> None:
        known = set(self.catalog.refs())
        for ref, id_ in queries.resource_ids(self.engine).items():
            self.engine.execute(
                "UPDATE resources SET is_known = %s WHERE id = %s AND is_known <> %s",
                [ref in known, id_, ref in known],
            )

    def _prune_services(self, now: float) -> None:
        configured = list(self.catalog.services)
        for service in vanished_services.restore(self.engine, configured):
            self._log("service %s is configured again, and has its quotas and commitments back", service)
        kept_until = datetime.fromtimestamp(now + self.grace, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for service in vanished_services.mark(self.engine, configured, now):
            text = "service %s is not configured any more: its quotas and commitments are kept until %s"
            self._log(text, service, kept_until)
        overdue = vanished_services.marked_before(self.engine, now - self.grace)
        promised = set(commitments.live_services(self.engine))
        for service in overdue:
            if service in promised:
                text = "service %s is not configured any more, but is kept: projects have commitments in it"
            else:
                text = "service %s is not configured any more: deleted with all of its quotas"
            self._log(text, service)
        vanished_services.delete(self.engine, [one for one in overdue if one not in promised], now - self.grace)

    def _log(self, text: str, *values: object) -> None:
        """Once it is true: a transaction may be run again, or not at all."""
        self.engine.after_commit(partial(log.warning, text, *values))

    def _prune_capacitors(self) -> None:
        names = list(self.capacitors)
        condition = f" WHERE name NOT IN ({placeholders(len(names))})" if names else ""
        self.engine.execute(f"DELETE FROM capacitors{condition}", names)

    def _drop_unowned_capacity(self) -> None:
        self.engine.execute(
            "DELETE FROM az_resources WHERE resource_id IN (SELECT id FROM resources WHERE capacitor_id IS NULL)"
        )

    def _fill_projects(self, now: float) -> None:
        self.engine.execute(
            "INSERT INTO project_services"
            " (project_id, service_id, next_scrape_at, is_stale, scrape_error, push_failures, push_error)"
            " SELECT p.id, s.id, %s, %s, '', 0, '' FROM projects p CROSS JOIN services s"
            " WHERE NOT EXISTS (SELECT 1 FROM project_services ps WHERE ps.project_id = p.id AND ps.service_id = s.id)"
            " ON CONFLICT (project_id, service_id) DO NOTHING",
            [now, False],
        )
