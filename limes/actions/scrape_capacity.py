"""Asks a capacitor for its figures and stores them.

One transaction claims the capacitor. It is asked with none open. Another transaction writes its report if the claim
still holds, and gives the capacity to commitments that wait for it. After a failure the old figures stay. A resource
belongs to the capacitor that has reported it last, and has no capacity if that one no longer reports it.

Invariant: no single answer takes away what quota and commitments rest on. Where a resource or one of its AZs is missing
from an answer, or has become less by more than `tolerated_drop`, the resource keeps all of its figures, so that they
are always those of one answer. The next answer about it counts, whatever it says. A capacitor that fails to answer
changes nothing about that.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import orjson

from limes.actions.commitments.settle import settle_locked
from limes.actions.context import Limes
from limes.actions.growth.early_sample import sample_capacity
from limes.actions.project_tasks import never
from limes.backends import AZDemand, BackendError, CapacityBackend, CapacityReport, Demand, ResourceDemand, calls
from limes.core.capacity import falls
from limes.core.catalog import Catalog, Ref
from limes.db.engine import Engine
from limes.db.queries import capacity as queries
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import kept_sums, tasks
from limes.db.queries.autogrow import mark_due
from limes.db.queries.project_sums import Among
from limes.db.queries.tasks import CapacitorTask
from limes.system import Clock, Jitter

log = logging.getLogger(__name__)

_ALL = Among("project", None)
_PENDING = "pending"


@dataclass(frozen=True, slots=True)
class CapacityOutcome:
    """How a scrape went."""

    capacitor: str
    success: bool


@dataclass(frozen=True, slots=True)
class ScrapeCapacity:
    """The use case with what it works with. Durations are in seconds."""

    engine: Engine
    catalog: Catalog
    backends: Mapping[str, CapacityBackend]
    clock: Clock
    jitter: Jitter
    limes: Limes
    interval: float = 900.0
    retry: float = 180.0
    lease: float = 300.0
    tolerated_drop: int = 30
    """By how many percent the capacity in an AZ may become less at once."""

    def run_next(self) -> CapacityOutcome | None:
        """Scrapes the capacitor that is due first. None if none is due."""
        now = self._now()
        horizon = never(now, self.interval, self.retry, self.lease)
        task = self.engine.atomic(
            lambda: tasks.claim_capacity(self.engine, sorted(self.backends), now, now + self.lease, horizon)
        )
        if task is None:
            return None
        started = self.clock.monotonic()
        try:
            report = self._ask(task.name)
        except BackendError as error:
            message = str(error)
            log.error("scrape failed: %s", message)
            self.engine.atomic(lambda: self._record_failure(task, message))
            return CapacityOutcome(task.name, False)
        duration = self.clock.monotonic() - started
        self.engine.atomic(lambda: self._record(task, report, duration))
        return CapacityOutcome(task.name, True)

    def _ask(self, name: str) -> CapacityReport:
        """Returns the report of a capacitor, which gets the demand that it needs to know."""
        backend = self.backends[name]
        wanted = calls.needs_demand(backend, name)
        demand = read_demand(self.engine, self.catalog, wanted, self._now())
        return calls.report_capacity(backend, name, self.catalog, demand)

    def _record_failure(self, task: CapacitorTask, message: str) -> None:
        if self._holds_claim(task):
            now = self._now()
            queries.record_failed_scrape(self.engine, task.id, now, now + self.jitter.spread(self.retry), message)

    def _record(self, task: CapacitorTask, report: CapacityReport, duration: float) -> None:
        ids = catalog_queries.resource_ids(self.engine)
        rows = {
            id_: [
                queries.AZCapacityRow(id_, az, item.capacity, item.usage, orjson.dumps(item.subcapacities).decode())
                for az, item in per_az.items()
            ]
            for service, resources in report.services.items()
            for name, per_az in resources.items()
            if (id_ := ids.get((service, name)))
        }
        concerned = {*rows, *queries.resources_of(self.engine, task.id)}
        # capacity limits what may be granted: nobody decides on these resources meanwhile
        queries.lock_resources(self.engine, sorted(concerned))
        if not self._holds_claim(task):
            return
        now = self._now()
        doubtful = self._doubtful(task, concerned, rows, {id_: ref for ref, id_ in ids.items()})
        decided, believed = concerned - doubtful, {id_: azs for id_, azs in rows.items() if id_ not in doubtful}
        queries.keep_capacity(self.engine, task.id, doubtful, now)
        queries.replace_capacity(self.engine, task.id, believed)
        queries.drop_capacity(self.engine, decided - set(rows))
        sample_capacity(self.engine, [id_ for id_, azs in believed.items() if any(az.raw_capacity for az in azs)], now)
        mark_due(self.engine, decided, now, lock=False)
        queries.record_scrape(self.engine, task.id, now, now + self.jitter.spread(self.interval), duration)
        settle_locked(self.limes, decided)

    def _doubtful(
        self,
        task: CapacitorTask,
        concerned: Collection[int],
        rows: Mapping[int, Sequence[queries.AZCapacityRow]],
        refs: Mapping[int, Ref],
    ) -> set[int]:
        """Returns the resources of which the answer has much less than is kept, and the last answer had not."""
        kept: dict[int, dict[str, int]] = defaultdict(dict)
        for each in queries.kept_capacity(self.engine, sorted(concerned)):
            if each.drop_seen_at is None:
                kept[each.resource_id][each.az] = each.raw_capacity
        doubtful = set()
        for id_, by_az in kept.items():
            reported = {row.az: row.raw_capacity for row in rows.get(id_, ())}
            if falls(by_az, reported, self.tolerated_drop):
                doubtful.add(id_)
                text = "capacitor %s: capacity of %s is %s instead of %s: kept until its next answer"
                values = (task.name, "/".join(refs[id_]), _in_words(reported), _in_words(by_az))
                self.engine.after_commit(partial(log.warning, text, *values))
        return doubtful

    def _holds_claim(self, task: CapacitorTask) -> bool:
        if queries.lock_capacitor(self.engine, task.id) == task.lease:
            return True
        log.warning("scrape of capacitor %s: lease lost", task.name)
        return False

    def _now(self) -> float:
        return self.clock.now().timestamp()


def _in_words(by_az: Mapping[str, int]) -> str:
    return ", ".join(f"{amount} in {az}" for az, amount in sorted(by_az.items())) or "nothing"


def read_demand(engine: Engine, catalog: Catalog, wanted: Collection[Ref], now: float) -> Demand:
    """Returns the demand of all projects for these resources, without those that are not configured.

    Comes from one state of the database, with a fixed number of statements.
    """
    return engine.snapshot(lambda: _read(engine, catalog, wanted, now)) if wanted else {}


def _read(engine: Engine, catalog: Catalog, wanted: Collection[Ref], now: float) -> Demand:
    ids = catalog_queries.resource_ids(engine)
    refs = {ids[ref]: ref for ref in wanted if ref in ids and catalog.find(ref)}
    if not refs:
        return {}
    per_az: dict[int, dict[str, AZDemand]] = defaultdict(lambda: {az: AZDemand() for az in catalog.availability_zones})
    for row in kept_sums.az_usage_sums(engine, list(refs), "cluster", _ALL):
        per_az[row.resource_id][row.az] = AZDemand(usage=int(row.usage))
    for (_, resource, az), amount in kept_sums.unused_commitments(engine, list(refs), now, "cluster", _ALL).items():
        per_az[resource][az] = replace(per_az[resource].get(az, AZDemand()), unused_commitments=int(amount))
    for sums in kept_sums.committed_sums(engine, list(refs), now, "cluster", _ALL):
        if sums.status == _PENDING:
            known = per_az[sums.resource_id].get(sums.az, AZDemand())
            pending = known.pending_commitments + int(sums.amount)
            per_az[sums.resource_id][sums.az] = replace(known, pending_commitments=pending)
    return {
        ref: ResourceDemand(catalog.behavior(ref).overcommit_factor, dict(per_az[id_])) for id_, ref in refs.items()
    }
