"""Makes the rows that mirror the configuration: services, resources and capacitors, and what hangs on them.

Safe to run in any number of processes at once, and again. Rows are only deleted when `prune` is asked for, which the
collector does: an API process of the next release, started beside the old ones, must not take anything away from them.
"""

import logging
from collections.abc import Collection
from dataclasses import dataclass

from limes.core.catalog import Catalog
from limes.db.engine import Engine, placeholders
from limes.db.queries import catalog as queries
from limes.db.queries import commitments
from limes.seams import Clock

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SyncCatalog:
    """The use case with what it works with."""

    engine: Engine
    catalog: Catalog
    capacitors: Collection[str]
    clock: Clock

    def run(self, *, prune: bool = False) -> None:
        """Makes missing rows; with `prune`, deletes services and capacitors that are not configured any more.

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
            self._prune("services", "type", [*self.catalog.services, *self._promised_services()])
            self._prune("capacitors", "name", list(self.capacitors))
            self._drop_unowned_capacity()
        self._fill_projects(now)

    def _hide_vanished_resources(self) -> None:
        known = set(self.catalog.refs())
        for ref, id_ in queries.resource_ids(self.engine).items():
            self.engine.execute(
                "UPDATE resources SET is_known = %s WHERE id = %s AND is_known <> %s",
                [ref in known, id_, ref in known],
            )

    def _prune(self, table: str, column: str, names: list[str]) -> None:
        condition = f" WHERE {column} NOT IN ({placeholders(len(names))})" if names else ""
        self.engine.execute(f"DELETE FROM {table}{condition}", names)

    def _promised_services(self) -> list[str]:
        """Services that are not configured any more, but have commitments."""
        found = sorted(set(commitments.live_services(self.engine)) - set(self.catalog.services))
        for service in found:
            log.warning("service %s is not configured any more, but is kept: projects have commitments in it", service)
        return found

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
