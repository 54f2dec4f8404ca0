"""Our database, into which everything is written."""

from collections.abc import Iterable, Iterator
from dataclasses import astuple, fields
from typing import TypeVar

import orjson

from limes.core.catalog import Catalog, Ref
from limes.core.commitments.commitment import Commitment, describe
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitment_events
from limes.importer import bulk, commitments
from limes.importer.source import (
    CapacitorRow,
    CapacityRow,
    CommitmentRow,
    DomainQuotaRow,
    DomainRow,
    ProjectRow,
    QuotaRow,
    ServiceRow,
    UsageRow,
)
from limes.system import IdSource

T = TypeVar("T", CapacityRow, DomainQuotaRow, QuotaRow, UsageRow, CommitmentRow)

_DATA = ("domains", "projects", "project_commitments", "commitment_events", "quota_history")
_COMMITMENT_COLUMNS = tuple(field.name for field in fields(Commitment))


class Target:
    """Writes what the source gives; everything inside one transaction of the caller.

    Services, resources and capacitors have to be there already (`SyncCatalog`). What is of a resource that is not
    configured is left out.
    """

    def __init__(self, engine: Engine, catalog: Catalog, now: float) -> None:
        self.engine = engine
        self._catalog = catalog
        self._now = now
        self._resources = {ref: id_ for ref, id_ in catalog_queries.resource_ids(engine).items() if catalog.find(ref)}
        self._services = catalog_queries.service_ids(engine)
        self._domains: dict[str, int] = {}
        self._projects: dict[int, tuple[int, str, str]] = {}
        """Our id, the UUID, and that of the domain, by the source's id."""
        self._pairs: set[tuple[int, int]] = set()
        """Our ids of projects and resources for which there is a quota row."""

    def is_empty(self) -> bool:
        """Whether nobody has put any data of projects into it yet."""
        return all(self.engine.row(f"SELECT 1 FROM {table} LIMIT 1") is None for table in _DATA)

    def write_capacitors(self, rows: Iterable[CapacitorRow]) -> None:
        """When the capacitors that are configured here were scraped. Each is due at once."""
        for row in rows:
            self.engine.execute("UPDATE capacitors SET scraped_at = %s WHERE name = %s", [row.scraped_at, row.name])

    def write_capacity(self, rows: Iterable[CapacityRow]) -> None:
        """Capacity, and which capacitor it comes from, if that is configured here."""
        capacitors: dict[str, int] = dict(self.engine.rows("SELECT name, id FROM capacitors"))
        owners: dict[int, int] = {}

        def values() -> Iterator[tuple[object, ...]]:
            for row in self._ours(rows):
                id_ = self._resources[row.service, row.resource]
                if row.capacitor in capacitors:
                    owners[id_] = capacitors[row.capacitor]
                yield id_, row.az, row.raw_capacity, row.usage, row.subcapacities or "[]"

        bulk.insert(
            self.engine, "az_resources", ("resource_id", "az", "raw_capacity", "usage", "subcapacities"), values()
        )
        for id_, capacitor in owners.items():
            self.engine.execute("UPDATE resources SET capacitor_id = %s WHERE id = %s", [capacitor, id_])

    def write_domains(self, rows: Iterable[DomainRow]) -> None:
        """Domains."""
        bulk.insert(self.engine, "domains", ("uuid", "name"), rows)
        self._domains = dict(self.engine.rows("SELECT uuid, id FROM domains"))

    def write_domain_quotas(self, rows: Iterable[DomainQuotaRow]) -> None:
        """Quotas of domains; 0 for what the source has none of."""
        given = {
            (self._domains[row.domain], self._resources[row.service, row.resource]): row.quota
            for row in self._ours(rows)
            if self._tracks(row)
        }
        services = self._catalog.services
        tracked = sorted(
            id_ for (type_, name), id_ in self._resources.items() if services[type_].resources[name].tracks_quota
        )
        values = ((d, r, given.get((d, r), 0)) for d in self._domains.values() for r in tracked)
        bulk.insert(self.engine, "domain_resources", ("domain_id", "resource_id", "quota"), values)

    def write_projects(self, rows: Iterable[ProjectRow]) -> None:
        """Projects."""
        known: dict[str, tuple[int, str]] = {}

        def values() -> Iterator[tuple[object, ...]]:
            for row in rows:
                known[row.uuid] = (row.id, row.domain)
                yield row.uuid, row.name, row.parent_uuid or row.domain, self._domains[row.domain], row.has_bursting

        bulk.insert(self.engine, "projects", ("uuid", "name", "parent_uuid", "domain_id", "has_bursting"), values())
        for uuid, id_ in self.engine.rows("SELECT uuid, id FROM projects"):
            source_id, domain = known[uuid]
            self._projects[source_id] = (id_, uuid, domain)

    def write_services(self, rows: Iterable[ServiceRow]) -> None:
        """When each service was scraped. Each is due at once, so that differences to the backends show soon."""

        def values() -> Iterator[tuple[object, ...]]:
            for row in rows:
                if row.service in self._catalog.services:
                    scraped_at = row.scraped_at if row.scraped_at and row.scraped_at > 0 else None  # 0: it has failed
                    yield (
                        *(self._projects[row.project][0], self._services[row.service]),
                        *(scraped_at, row.checked_at, self._now, row.stale, row.duration, row.error, 0, "", 0),
                    )

        columns = (
            "project_id, service_id, scraped_at, checked_at, next_scrape_at, is_stale, scrape_duration, scrape_error,"
            " push_failures, push_error, scrape_failures"
        )
        bulk.insert(self.engine, "project_services", columns.split(", "), values())

    def write_quotas(self, rows: Iterable[QuotaRow]) -> None:
        """Quotas of projects, and what the backends enforce."""

        def values() -> Iterator[tuple[object, ...]]:
            for row in self._ours(rows):
                pair = self._projects[row.project][0], self._resources[row.service, row.resource]
                self._pairs.add(pair)
                quota, backend_quota = None, None
                if self._tracks(row):
                    quota = row.quota or 0
                    backend_quota = None if row.backend_quota is None else max(-1, row.backend_quota)
                yield (*pair, quota, backend_quota, 0)

        columns = ("project_id", "resource_id", "quota", "backend_quota", "usage")
        bulk.insert(self.engine, "project_resources", columns, values())

    def write_usages(self, rows: Iterable[UsageRow]) -> None:
        """Usage by AZ, and from it the totals."""

        def values() -> Iterator[tuple[object, ...]]:
            for row in self._ours(rows):
                pair = self._projects[row.project][0], self._resources[row.service, row.resource]
                if pair in self._pairs:
                    yield (*pair, row.az, row.usage, row.physical_usage, row.subresources)

        columns = ("project_id", "resource_id", "az", "usage", "physical_usage", "subresources")
        bulk.insert(self.engine, "project_az_resources", columns, values())
        physical = "CASE WHEN COUNT(physical_usage) > 0 THEN SUM(COALESCE(physical_usage, usage)) END"
        self.engine.execute(
            "UPDATE project_resources SET usage = t.usage, physical_usage = t.physical_usage"
            f" FROM (SELECT project_id, resource_id, SUM(usage) AS usage, {physical} AS physical_usage"
            " FROM project_az_resources GROUP BY project_id, resource_id) t"
            " WHERE t.project_id = project_resources.project_id AND t.resource_id = project_resources.resource_id"
        )

    def write_commitments(self, rows: Iterable[CommitmentRow], ids: IdSource) -> None:
        """Commitments under their numbers; an event `created` for each that still holds, so that who bills hears of it.

        Raises `ConfigError` for one that cannot be stored.
        """
        known: set[int] = set()
        events: list[commitment_events.EventRow] = []

        def values() -> Iterator[tuple[object, ...]]:
            for row in self._ours(rows):
                project_id, project_uuid, domain_uuid = self._projects[row.project]
                resource_id = self._resources[row.service, row.resource]
                place = commitments.Place(project_id, project_uuid, resource_id)
                one = commitments.convert(row, place, known, self._now, ids)
                known.add(one.id)
                if one.is_live:
                    events.append(self._event(one, (row.service, row.resource), project_uuid, domain_uuid))
                yield (*astuple(one)[:7], one.status.value, *astuple(one)[8:])

        bulk.insert(self.engine, "project_commitments", _COMMITMENT_COLUMNS, values())
        if self.engine.dialect == "postgresql" and known:
            sequence = "pg_get_serial_sequence('project_commitments', 'id')"
            self.engine.rows(f"SELECT setval({sequence}, (SELECT MAX(id) FROM project_commitments))")
        commitment_events.append(self.engine, events, lambda: self._now)

    def _event(self, one: Commitment, ref: Ref, project: str, domain: str) -> commitment_events.EventRow:
        document = describe(one, ref, self._catalog.services[ref[0]].resources[ref[1]].unit)
        text = orjson.dumps({**document, "project_id": project, "domain_id": domain}).decode()
        return commitment_events.EventRow("created", one.uuid, project, text)

    def _ours(self, rows: Iterable[T]) -> Iterator[T]:
        return (row for row in rows if (row.service, row.resource) in self._resources)

    def _tracks(self, row: DomainQuotaRow | QuotaRow) -> bool:
        return self._catalog.services[row.service].resources[row.resource].tracks_quota
