"""Our database, which an import writes to."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import orjson
from peewee import Case, Field, Select, Value, fn

from limes.app.importer import conversion, source
from limes.autogrow import compute, models
from limes.catalog import queries as catalog_queries
from limes.catalog.catalog import Catalog, Ref
from limes.catalog.models import AZResource, Capacitor, Resource
from limes.commitments import events as commitment_events
from limes.commitments import models as commitments_models
from limes.commitments import queries as commitment_queries
from limes.commitments.commitment import Commitment
from limes.commitments.document import EventCommitment
from limes.db.compiled import any_of
from limes.db.compiled_rows import compiled_insert
from limes.db.engine import Engine
from limes.kernel.system import IdSource
from limes.projects.models import Domain, DomainResource, Project, ProjectAZResource, ProjectResource, ProjectService
from limes.quota.models import QuotaHistory
from limes.usage.recent import UsageChange

T = TypeVar(
    "T",
    source.CapacityRow,
    source.DomainQuotaRow,
    source.QuotaRow,
    source.UsageRow,
    source.AZQuotaRow,
    source.CommitmentRow,
)

_DATA = (Domain, Project, commitments_models.Commitment, commitments_models.CommitmentEvent, QuotaHistory)
_VALUES = 15_000
"""The most parameters of one statement; SQLite takes 32 766."""


class Target:
    """Writes the source's rows. All methods are to be called inside one transaction of the caller. Services, resources
    and capacitors have to exist already (`sync_catalog`). What concerns others is left out."""

    def __init__(self, engine: Engine, catalog: Catalog, now: float, ids: IdSource) -> None:
        self.engine = engine
        self._catalog = catalog
        self._now, self._ids = now, ids
        self._resources = {ref: id_ for ref, id_ in catalog_queries.resource_ids(engine).items() if catalog.find(ref)}
        self._services = catalog_queries.service_ids(engine)
        self._domains: dict[str, int] = {}
        self._projects: dict[int, tuple[int, str, str]] = {}
        """Our id, the UUID, and the domain's UUID, by the source's id."""
        self._pairs: set[tuple[int, int]] = set()
        """Our ids of the projects and resources that have a quota row."""
        self.skipped: Counter[str] = Counter()
        """What was left out, in words, and how much of it there was."""

    def is_empty(self) -> bool:
        return not any(self.engine.column(table.select(Value(1)).limit(1)) for table in _DATA)

    def write_capacitors(self, rows: Iterable[source.CapacitorRow]) -> None:
        table = Capacitor
        for row in rows:
            self.engine.write(table.update(scraped_at=row.scraped_at).where(table.name == row.name))

    def write_capacity(self, rows: Iterable[source.CapacityRow]) -> None:
        """Writes capacity, and the capacitor that reported it, if that is configured here."""
        capacitor = Capacitor
        capacitors: dict[str, int] = dict(self.engine.tuples(capacitor.select(capacitor.name, capacitor.id)))
        owners: dict[int, int] = {}

        def values() -> Iterator[tuple[object, ...]]:
            for row in self._of_known_resources(rows):
                id_ = self._resources[row.service, row.resource]
                if row.capacitor in capacitors:
                    owners[id_] = capacitors[row.capacitor]
                yield id_, row.az, row.raw_capacity, row.usage, row.subcapacities or "[]"

        table = AZResource
        self._insert((table.resource, table.az, table.raw_capacity, table.usage, table.subcapacities), values())
        for id_, owner in owners.items():
            self.engine.write(Resource.update(capacitor=owner).where(Resource.id == id_))

    def write_domains(self, rows: Iterable[source.DomainRow]) -> None:
        self._insert((Domain.uuid, Domain.name), rows)
        self._domains = dict(self.engine.tuples(Domain.select(Domain.uuid, Domain.id)))

    def write_domain_quotas(self, rows: Iterable[source.DomainQuotaRow]) -> None:
        given = {
            (self._domains[row.domain], self._resources[row.service, row.resource]): row.quota
            for row in self._of_known_resources(rows)
            if self._catalog.tracks_quota((row.service, row.resource))
        }
        table = DomainResource
        tracked = sorted(id_ for ref, id_ in self._resources.items() if self._catalog.tracks_quota(ref))
        values = ((d, r, given.get((d, r), 0)) for d in self._domains.values() for r in tracked)
        self._insert((table.domain, table.resource, table.quota), values)

    def write_projects(self, rows: Iterable[source.ProjectRow]) -> None:
        known: dict[str, tuple[int, str]] = {}

        def values() -> Iterator[tuple[object, ...]]:
            for row in rows:
                known[row.uuid] = (row.id, row.domain)
                yield row.uuid, row.name, row.parent_uuid or row.domain, self._domains[row.domain], row.has_bursting

        table = Project
        self._insert((table.uuid, table.name, table.parent_uuid, table.domain, table.has_bursting), values())
        for uuid, id_ in self.engine.tuples(table.select(table.uuid, table.id)):
            source_id, domain = known[uuid]
            self._projects[source_id] = (id_, uuid, domain)

    def write_services(self, rows: Iterable[source.ServiceRow]) -> None:
        """Writes when services were scraped. All are due at once, so that differences to the backends show soon."""

        def values() -> Iterator[tuple[object, ...]]:
            for row in rows:
                if row.service in self._catalog.services:
                    scraped_at = row.scraped_at if row.scraped_at and row.scraped_at > 0 else None  # 0: it has failed
                    yield (
                        *(self._projects[row.project][0], self._services[row.service]),
                        *(scraped_at, row.checked_at, self._now, row.stale, row.duration, row.error, 0, "", 0),
                    )

        table = ProjectService
        times = (table.scraped_at, table.checked_at, table.next_scrape_at)
        scrape = (table.is_stale, table.scrape_duration, table.scrape_error)
        push = (table.push_failures, table.push_error, table.scrape_failures)
        self._insert((table.project, table.service, *times, *scrape, *push), values())

    def write_quotas(self, rows: Iterable[source.QuotaRow]) -> None:
        def values() -> Iterator[tuple[object, ...]]:
            for row in self._of_known_resources(rows):
                pair = self._pair(row)
                self._pairs.add(pair)
                quota, backend_quota = None, None
                if self._catalog.tracks_quota((row.service, row.resource)):
                    quota = row.quota or 0
                    backend_quota = None if row.backend_quota is None else max(-1, row.backend_quota)
                yield (*pair, quota, backend_quota, 0, *self._bounds(row))

        table = ProjectResource
        amounts = (table.quota, table.backend_quota, table.usage)
        bounds = (table.max_quota, table.forbids_autogrowth)
        self._insert((table.project, table.resource, *amounts, *bounds), values())

    def _bounds(self, row: source.QuotaRow) -> tuple[int | None, bool]:
        if self._grows(row):
            return row.max_quota, row.forbids_autogrowth
        if row.max_quota is not None or row.forbids_autogrowth:
            self.skipped["max_quota and forbid_autogrowth where people set quota here"] += 1
        return None, False

    def write_az_quotas(self, rows: Iterable[source.AZQuotaRow]) -> None:
        """Writes quotas by AZ, of resources whose quota grows by itself. It is computed as soon as a collector runs."""

        def values() -> Iterator[tuple[object, ...]]:
            for row in self._of_known_resources(rows):
                if self._grows(row):
                    yield (*self._pair(row), row.az, row.quota, self._now)
                elif row.is_split:
                    self.skipped["quotas by AZ where people set quota here"] += 1

        growing = [id_ for ref, id_ in self._resources.items() if compute.autogrow_rule(self._catalog, ref)]
        self.engine.write(Resource.update(quota_due_at=self._now).where(any_of(Resource.id, growing)))
        table = models.ProjectAZQuota
        self._insert((table.project_id, table.resource_id, table.az, table.quota, table.changed_at), values())

    def write_usage_histories(self, rows: Iterable[source.UsageRow]) -> None:
        table = models.UsageChanges
        values = (
            (*self._pair(row), row.az, orjson.dumps([*map(tuple, changes)]).decode(), changes[-1].at)
            for row in self._of_known_resources(rows)
            if (changes := self._changes(row))
        )
        self._insert((table.project_id, table.resource_id, table.az, table.changes, table.changed_at), values)

    def _changes(self, row: source.UsageRow) -> list[UsageChange]:
        rule = compute.autogrow_rule(self._catalog, (row.service, row.resource))
        if rule is None:
            self.skipped["historical usage where people set quota here"] += 1
            return []
        try:
            return conversion.convert_history(row.history, row.usage, self._now, rule.retention)
        except conversion.UnreadableHistory:
            self.skipped["historical usage that cannot be read"] += 1
            return []

    def write_usages(self, rows: Iterable[source.UsageRow]) -> None:
        values = (
            (*pair, row.az, row.usage, row.physical_usage, row.subresources)
            for row in self._of_known_resources(rows)
            if (pair := self._pair(row)) in self._pairs
        )
        zone, total = ProjectAZResource, ProjectResource
        key = (zone.project_id, zone.resource_id)
        self._insert((*key, zone.az, zone.usage, zone.physical_usage, zone.subresources), values)
        physical = Case(
            None, [(fn.COUNT(zone.physical_usage) > 0, fn.SUM(fn.COALESCE(zone.physical_usage, zone.usage)))]
        )
        sums: Any = zone.select(*key, fn.SUM(zone.usage).alias("usage"), physical.alias("physical_usage"))
        sums = sums.group_by(*key).alias("t")
        self.engine.write(
            total.update(usage=sums.c.usage, physical_usage=sums.c.physical_usage)
            .from_(sums)
            .where(total.project == sums.c.project_id, total.resource == sums.c.resource_id)
        )

    def write_commitments(self, rows: Iterable[source.CommitmentRow]) -> None:
        """Writes commitments under their numbers, with an event `created` for each live one, for those who bill. Raises
        `ConfigError` for one that cannot be stored."""
        known: set[int] = set()
        events: list[commitment_events.EventRow] = []

        def values() -> Iterator[tuple[object, ...]]:
            for row in self._of_known_resources(rows):
                project_id, project_uuid, domain_uuid = self._projects[row.project]
                resource_id = self._resources[row.service, row.resource]
                project = (project_id, project_uuid)
                commitment = conversion.convert_commitment(row, project, resource_id, known, self._now, self._ids)
                known.add(commitment.id)
                if commitment.is_live:
                    events.append(self._event(commitment, (row.service, row.resource), project_uuid, domain_uuid))
                yield tuple(commitment_queries.to_values(commitment).values())

        self._insert(commitment_queries.COLUMNS, values())
        if self.engine.dialect == "postgresql" and known:
            sequence = fn.pg_get_serial_sequence("project_commitments", "id")
            last = commitments_models.Commitment.select(fn.MAX(commitments_models.Commitment.id))
            self.engine.tuples(Select(columns=[fn.setval(sequence, last)]))
        commitment_events.append(self.engine, events, lambda: self._now)

    def _insert(self, fields: Sequence[Field], rows: Iterable[Sequence[object]]) -> None:
        size = _VALUES // len(fields)
        insert, remaining = compiled_insert(fields[0].model, *fields), iter(rows)
        while chunk := list(islice(remaining, size)):
            self.engine.write(insert, rows=chunk)

    def _event(self, commitment: Commitment, ref: Ref, project: str, domain: str) -> commitment_events.EventRow:
        document = EventCommitment.of(commitment, ref, self._catalog.unit_of(ref), project_id=project, domain_id=domain)
        return commitment_events.EventRow(
            "created", commitment.uuid, project, document.as_json(), "", "import", "", domain
        )

    def _of_known_resources(self, rows: Iterable[T]) -> Iterator[T]:
        return (row for row in rows if (row.service, row.resource) in self._resources)

    def _pair(self, row: source.QuotaRow | source.UsageRow | source.AZQuotaRow) -> tuple[int, int]:
        return self._projects[row.project][0], self._resources[row.service, row.resource]

    def _grows(self, row: source.QuotaRow | source.UsageRow | source.AZQuotaRow) -> bool:
        return compute.autogrow_rule(self._catalog, (row.service, row.resource)) is not None
