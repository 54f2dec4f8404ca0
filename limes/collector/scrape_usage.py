"""Asks a service for the usage and quota of a project, and stores them.

One transaction claims the project. The backend is asked with none open. Another transaction writes the report if the
claim still holds. What is not used any more then goes to commitments that wait for capacity, in transactions of their
own, so that the scrape holds no lock that others wait for. The backend is the authority on usage, Limes on quota: a
backend quota that differs from the wanted one is marked, and `limes.quota.push_quota` writes it.

If the first scrape fails, only the error is stored: no usage of 0 and no unlimited quota is made up (the original did
that, which led to inconsistencies). Quota can be set as soon as a scrape has succeeded.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import orjson

from limes.app.context import Limes
from limes.autogrow.compute import autogrow_rule, on_scrape
from limes.backends import AZUsage, BackendError, ResourceUsage, UsageReport, base, calls
from limes.catalog import queries as catalog_queries
from limes.commitments.settle import settle_waiting
from limes.db.transactions import atomic
from limes.kernel import errors, units
from limes.projects import claims, tasks
from limes.projects import scrapes as queries
from limes.projects.scrapes import AZRow, Figures, Listener, ResourceRow, Scrape, ScrapeResult, project_info
from limes.projects.tasks import ProjectTask
from limes.quota import change_log, push_quota
from limes.quota.push_quota import wanted_quotas

log = logging.getLogger(__name__)


class ScrapeTask(NamedTuple):
    """A claimed project, and the ids of the service's resources that its backend still offers, by name."""

    project: ProjectTask
    resource_ids: Mapping[str, int]


@atomic
def _claim(limes: Limes, service_type: str, limit: int) -> list[ScrapeTask]:
    now, rules = limes.now(), limes.settings.collector
    horizon = claims.never(now, rules.scrape_interval, rules.scrape_retry_max, limes.lease)
    claimed = tasks.claim_scrapes(limes.engine, service_type, now, now + limes.lease, horizon, limit)
    ids = catalog_queries.service_resource_ids(limes.engine, claimed[0].service_id) if claimed else {}
    return [ScrapeTask(task, ids) for task in claimed]


def claim_scrapes(limes: Limes, service_type: str, limit: int) -> list[ScrapeTask]:
    """Claims up to `limit` projects that are due. Give each of them to `scrape_project`, or back."""
    claimed = _claim(limes, service_type, limit)
    for task in claimed:
        if task.project.taken_over:
            log.warning("%s: taken over from a collector that did not finish it", _describe(task.project))
            limes.telemetry.lease_taken_over("scrape-usage")
    return claimed


@atomic
def give_back(limes: Limes, claimed: Sequence[ScrapeTask]) -> None:
    """Ends claims that were not started."""
    for task, _ in claimed:
        tasks.release_scrape(limes.engine, task.id, task.lease, task.due_at, task.asked_for)


def scrape_project(limes: Limes, claimed: ScrapeTask, listeners: Sequence[Listener] = ()) -> bool | None:
    """Scrapes a claimed project. Returns whether that succeeded; None, with the claim given back, if the backend is
    paused. Listeners are called in their order."""
    task = claimed.project
    begun, started = limes.now(), limes.clock.monotonic()
    backend, service = limes.backends.quota[task.service_type], limes.catalog.services[task.service_type]
    try:
        report = calls.report_usage(backend, service, project_info(task), limes.catalog)
    except errors.BackendPaused:
        give_back(limes, [claimed])
        return None
    except BackendError as error:
        log.error("%s failed: %s", _describe(task), error)
        _record_failure(limes, task, error.observed or str(error))
        return False
    freed = _record(limes, claimed, report, limes.clock.monotonic() - started, begun, listeners)
    if freed is None:
        log.warning("%s: not recorded, as its lease is over or the project is gone", _describe(task))
    elif freed:
        settle_waiting(limes, freed)
    return True


@atomic
def _record_failure(limes: Limes, task: ProjectTask, message: str) -> None:
    before = queries.lock_claim(limes.engine, task.id, task.lease)
    if before is not None:
        now, rules = limes.now(), limes.settings.collector
        pause = limes.jitter.spread(claims.next_pause(before + 1, rules.scrape_retry, rules.scrape_retry_max))
        queries.record_failure(limes.engine, task.id, now, now + pause, before + 1, message)


@atomic
def _record(
    limes: Limes, claimed: ScrapeTask, report: UsageReport, duration: float, begun: float, listeners: Sequence[Listener]
) -> Collection[int] | None:
    """Writes the outcome. Returns the resources (ids) whose usage has gone down; None, with nothing written, if the
    claim is lost or the project is gone. Marks the service if its backend quota is not the wanted one, and takes the
    mark away if it is. The project is locked first, then its resources, then its service. New rows refer to the
    project: otherwise this would wait for a discovery that deletes it, and which waits for these rows."""
    task, ids = claimed.project, claimed.resource_ids
    if queries.keep_project(limes.engine, task.project_id) is None:
        return None
    stored = queries.lock_figures(limes.engine, task.project_id, ids.values())
    usages = {name: usage for name, usage in report.resources.items() if name in ids}
    after = {name: _row(limes, task, name, use, stored.resources.get(ids[name])) for name, use in usages.items()}
    present = Figures(
        {ids[name]: row for name, row in after.items()},
        {(ids[name], az): _az_row(item) for name, usage in usages.items() for az, item in usage.per_az.items()},
    )
    wanted = wanted_quotas(limes.catalog, task, ids, present.resources)
    # a sync applies the quota as well, but the first scrape shows what is there before anything is overwritten
    is_known = any(row.quota is not None for row in stored.resources.values())
    now, rules = limes.now(), limes.settings.collector
    repairs = rules.authoritative or (task.asked_for and is_known)
    in_sync = all(after[name].backend_quota == quota for name, quota in wanted.items())
    mark_at = now if repairs and not in_sync else None
    outcome = ScrapeResult(now, now + limes.jitter.spread(rules.scrape_interval), duration, in_sync, mark_at)
    changed = report.state if report.state != task.scrape_state else None
    # a report does not show the right quota in the wrong AZs, so it takes away no mark of such
    has_split = any(each.az_separated for each in limes.catalog.services[task.service_type].resources.values())
    seen = None if has_split else task.desynced_at
    state = queries.record_success(limes.engine, task.id, task.lease, outcome, seen, changed)
    if state is None:
        return None
    scrape = Scrape(task, ids, stored, present, usages, now)
    with limes.engine.batch.collect():
        for listen in listeners:
            listen(limes, scrape)
        queries.write_figures(limes.engine, task.project_id, stored, present)  # last: some listeners read first
    on_scrape(limes, scrape)
    before = {name: stored.resources[id_] for name, id_ in ids.items() if id_ in stored.resources}
    change_log.record_scrape(limes, task, limes.constraints, before, after)
    # while a quota waits to be written, or after one was written since the backend was asked, it proves nothing
    told_meanwhile = state.pushed_at is not None and state.pushed_at >= begun
    if task.desynced_at is None and state.quota_desynced_at in (None, mark_at) and not told_meanwhile:
        _note_drift(limes, task, wanted, before, after, state.drifted_at, repairs=repairs)
    return queries.less_used(stored, present)


def _note_drift(
    limes: Limes,
    task: ProjectTask,
    wanted: Mapping[str, int],
    before: Mapping[str, ResourceRow],
    after: Mapping[str, ResourceRow],
    since: float | None,
    *,
    repairs: bool,
) -> None:
    """`since` is when drift was noted before."""
    drift = push_quota.find_drift(wanted, before, after)
    if not drift:
        if repairs and not limes.settings.collector.authoritative and since is not None:  # left alone until now
            _record_repair(limes, task, {name: after[name].backend_quota for name in wanted}, wanted)
        return
    if since is None:
        queries.set_drift(limes.engine, task.id, limes.now())
    if repairs:
        _record_repair(limes, task, {name: enforced for name, (_, enforced) in drift.items()}, wanted)
    texts = [f"{name} {old} -> {new}" for name, (old, new) in drift.items()]
    event = f"the backend quota of {task.scope}, service {task.service_type}, was changed outside Limes"
    then = "it is corrected" if repairs else "it is left alone"
    limes.engine.after_commit(partial(log.warning, "%s: %s; %s", event, ", ".join(texts), then))
    limes.engine.after_commit(partial(limes.telemetry.drift_found, task.service_type))


def _record_repair(
    limes: Limes, task: ProjectTask, enforced: Mapping[str, int | None], wanted: Mapping[str, int]
) -> None:
    repairs = {
        (task.service_type, name): (old, wanted.get(name)) for name, old in enforced.items() if old != wanted.get(name)
    }
    change_log.record_repairs(limes, change_log.scope_of(task), repairs)


def _row(limes: Limes, task: ProjectTask, name: str, usage: ResourceUsage, stored: ResourceRow | None) -> ResourceRow:
    """Returns the project's quota after this report, the backend's, and the totals over all AZs."""
    quota, backend_quota = _quota(limes, task, name, usage, stored)
    items = usage.per_az.values()
    physical = None
    if any(item.physical_usage is not None for item in items):
        physical = sum(item.usage if item.physical_usage is None else item.physical_usage for item in items)
        physical = min(physical, units.MAX_AMOUNT)
    used = min(sum(item.usage for item in items), units.MAX_AMOUNT)
    return ResourceRow(quota, backend_quota, used, physical, usage.min_quota, usage.max_quota)


def _quota(
    limes: Limes, task: ProjectTask, name: str, usage: ResourceUsage, stored: ResourceRow | None
) -> tuple[int | None, int | None]:
    resource = limes.catalog.services[task.service_type].resources[name]
    if usage.quota is None:
        return None, None
    backend_quota = base.to_stored(usage.quota)
    # what the backend gives to every new project is the quota of this one, too
    initial = backend_quota if backend_quota == resource.auto_approve_initial_quota else 0
    quota = initial if stored is None or stored.quota is None else stored.quota
    ref = (task.service_type, name)
    if autogrow_rule(limes.catalog, ref) is not None:  # constraints are bounds of what is computed
        return (stored.quota or 0) if stored else 0, backend_quota
    constraint = limes.constraints.for_project(ref, task.domain_name, task.project_name)
    if constraint is not None and not constraint.allows(quota):
        old, quota = quota, constraint.apply_to(quota)
        where = f"{task.scope}, {task.service_type}/{name}"
        demanded = constraint.render(resource.unit)
        text = f"AUDIT: quota of {where}: {old} -> {quota}, as its constraint demands ({demanded})"
        limes.engine.after_commit(partial(log.warning, "%s", text))
    return quota, backend_quota


def _az_row(item: AZUsage) -> AZRow:
    subresources = orjson.dumps(item.subresources).decode() if item.subresources else ""
    return AZRow(item.usage, item.physical_usage, subresources, item.usage)


def _describe(task: ProjectTask) -> str:
    return f"scrape of project {task.project_uuid}, service {task.service_type}"
