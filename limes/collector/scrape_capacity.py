"""Asks a capacitor for its figures and stores them.

One transaction claims the capacitor. It is asked with none open. Another transaction writes its report if the claim
still holds, and gives the capacity to commitments that wait for it. After a failure the old figures stay. A resource
belongs to the capacitor that has reported it last, and has no capacity if that one no longer reports it.

Invariant: no single answer takes away what quota and commitments rest on. Where a resource or one of its AZs is missing
from an answer, or has become less by more than `collector.capacity_drop_percent`, the resource keeps all of its
figures, so that they are always those of one answer. The next answer about it counts, whatever it says. A capacitor
that fails to answer changes nothing about that.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import orjson
from msgspec import structs

from limes.app.context import Limes
from limes.autogrow.queries import mark_due
from limes.backends import AZDemand, BackendError, CapacityReport, Demand, ResourceDemand, calls
from limes.catalog import queries
from limes.catalog.catalog import Ref
from limes.commitments.settle import settle_locked
from limes.db.transactions import atomic, snapshot
from limes.growth.sample import sample_capacity
from limes.kernel.units import falls
from limes.projects import claims, tasks
from limes.usage import project_sums
from limes.usage import sums as stored_sums

log = logging.getLogger(__name__)


class CapacityOutcome(NamedTuple):
    success: bool
    capacitor: str


def scrape_next_capacitor(limes: Limes) -> CapacityOutcome | None:
    """Scrapes the capacitor that is due first. None if none is due."""
    now, rules, names = limes.now(), limes.settings.collector, sorted(limes.backends.capacity)
    claim = (
        names,
        now,
        now + limes.lease,
        claims.never(now, rules.capacity_interval, rules.capacity_retry, limes.lease),
    )
    task = limes.engine.atomic(partial(tasks.claim_capacity, limes.engine, *claim))
    if task is None:
        return None
    started = limes.clock.monotonic()
    try:
        backend = limes.backends.capacity[task.name]
        wanted = calls.needs_demand(backend, task.name)
        demand = read_demand(limes, wanted) if wanted else {}
        report = calls.report_capacity(backend, task.name, limes.catalog, demand)
    except BackendError as error:
        log.error("scrape failed: %s", error)
        _record_failure(limes, task, str(error))
        return CapacityOutcome(False, task.name)
    _record(limes, task, report, limes.clock.monotonic() - started)
    return CapacityOutcome(True, task.name)


@atomic
def _record_failure(limes: Limes, task: tasks.CapacitorTask, message: str) -> None:
    if _holds_claim(limes, task):
        now = limes.now()
        queries.record_failed_scrape(
            limes.engine, task.id, now, now + limes.jitter.spread(limes.settings.collector.capacity_retry), message
        )


@atomic
def _record(limes: Limes, task: tasks.CapacitorTask, report: CapacityReport, duration: float) -> None:
    ids = queries.resource_ids(limes.engine)
    rows = {
        id_: [
            queries.AZCapacityRow(id_, az, item.capacity, item.usage, orjson.dumps(item.subcapacities).decode())
            for az, item in per_az.items()
        ]
        for service, resources in report.services.items()
        for name, per_az in resources.items()
        if (id_ := ids.get((service, name)))
    }
    concerned = {*rows, *queries.resources_of(limes.engine, task.id)}
    # capacity limits what may be granted: no decision on these resources meanwhile
    queries.lock_resources(limes.engine, sorted(concerned))
    if not _holds_claim(limes, task):
        return
    now = limes.now()
    doubtful = _doubtful(limes, task, concerned, rows, {id_: ref for ref, id_ in ids.items()})
    decided, believed = concerned - doubtful, {id_: azs for id_, azs in rows.items() if id_ not in doubtful}
    queries.keep_capacity(limes.engine, task.id, doubtful, now)
    queries.replace_capacity(limes.engine, task.id, believed)
    queries.replace_capacity(limes.engine, None, dict.fromkeys(decided - set(rows), ()))
    sample_capacity(limes, [id_ for id_, azs in believed.items() if any(az.raw_capacity for az in azs)], now)
    mark_due(limes.engine, decided, now, lock=False)
    next_at = now + limes.jitter.spread(limes.settings.collector.capacity_interval)
    queries.record_scrape(limes.engine, task.id, now, next_at, duration)
    settle_locked(limes, decided)


def _doubtful(
    limes: Limes,
    task: tasks.CapacitorTask,
    concerned: Collection[int],
    rows: Mapping[int, Sequence[queries.AZCapacityRow]],
    refs: Mapping[int, Ref],
) -> set[int]:
    """Returns the resources for which the answer, unlike the last one, has much less capacity than is kept."""
    doubtful = set()
    for id_, by_az in queries.kept_capacity(limes.engine, sorted(concerned)).items():
        reported = {row.az: row.raw_capacity for row in rows.get(id_, ())}
        if falls(by_az, reported, limes.settings.collector.capacity_drop_percent):
            doubtful.add(id_)
            text = "capacitor %s: capacity of %s is %s instead of %s: kept until its next answer"
            values = (task.name, "/".join(refs[id_]), _in_words(reported), _in_words(by_az))
            limes.engine.after_commit(partial(log.warning, text, *values))
    return doubtful


def _in_words(by_az: Mapping[str, int]) -> str:
    return ", ".join(f"{amount} in {az}" for az, amount in sorted(by_az.items())) or "nothing"


def _holds_claim(limes: Limes, task: tasks.CapacitorTask) -> bool:
    if queries.lock_capacitor(limes.engine, task.id) == task.lease:
        return True
    log.warning("scrape of capacitor %s: lease lost", task.name)
    return False


@snapshot
def read_demand(limes: Limes, wanted: Collection[Ref]) -> Demand:
    """Returns the demand of all projects for these resources; ones that are not configured are left out."""
    engine, catalog, now = limes.engine, limes.catalog, limes.now()
    ids = queries.resource_ids(engine)
    refs = {ids[ref]: ref for ref in wanted if ref in ids and catalog.find(ref)}
    if not refs:
        return {}
    per_az: dict[int, dict[str, AZDemand]] = defaultdict(lambda: {az: AZDemand() for az in catalog.availability_zones})
    for (_, resource, az), total in stored_sums.az_usage_sums(
        engine, list(refs), "cluster", project_sums.ALL_PROJECTS
    ).items():
        per_az[resource][az] = AZDemand(usage=int(total.usage))
    for (_, resource, az), amount in stored_sums.unused_commitments(
        engine, list(refs), now, "cluster", project_sums.ALL_PROJECTS
    ).items():
        per_az[resource][az] = structs.replace(per_az[resource].get(az, AZDemand()), unused_commitments=int(amount))
    sums = stored_sums.committed_sums(engine, list(refs), now, "cluster", project_sums.ALL_PROJECTS)
    for (_, resource, az, status, _), amount in sums.items():
        if status == "pending":
            known = per_az[resource].get(az, AZDemand())
            pending = known.pending_commitments + int(amount)
            per_az[resource][az] = structs.replace(known, pending_commitments=pending)
    return {
        ref: ResourceDemand(catalog.behavior(ref).overcommit_factor, dict(per_az[id_])) for id_, ref in refs.items()
    }
