"""Asks a service for the usage and quota of projects, and stores them.

One transaction claims projects. The backend is asked about each, with none open. Another transaction writes the reports
that have arrived until then, each if its claim still holds. What is not used any more then goes to commitments that
wait for capacity, in transactions of their own, so that the scrape holds no lock that others wait for. The backend is
the authority on usage, Limes on quota: a backend quota that differs from the wanted one is marked, and
`limes.quota.push_quota` writes it.

If the first scrape fails, only the error is stored: no usage of 0 and no unlimited quota is made up (the original did
that, which led to inconsistencies). Quota can be set as soon as a scrape has succeeded.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import orjson

from limes.app.context import Limes
from limes.autogrow.compute import autogrow_rule, on_scrapes
from limes.backends import AZUsage, BackendError, ResourceUsage, UsageReport, base, calls
from limes.catalog import queries as catalog_queries
from limes.commitments.settle import settle_waiting
from limes.db.transactions import atomic
from limes.kernel import units
from limes.projects import claims, tasks
from limes.projects import scrapes as queries
from limes.projects.scrapes import AZRow, Figures, Listener, ResourceRow, Scrape, ServiceState, project_info
from limes.projects.tasks import ProjectTask
from limes.quota import change_log, push_quota
from limes.quota.push_quota import wanted_quotas

log = logging.getLogger(__name__)


class ScrapeTask(NamedTuple):
    """A claimed project, and the ids of the service's resources that its backend still offers, by name."""

    project: ProjectTask
    resource_ids: Mapping[str, int]


class ScrapeReport(NamedTuple):
    """What the backend says of a claimed project."""

    task: ProjectTask
    ids: Mapping[str, int]
    """Those of the `ScrapeTask`."""
    usage: UsageReport
    begun: float
    """When the backend was asked."""
    duration: float


@atomic
def _claim(limes: Limes, service_type: str, limit: int) -> list[ScrapeTask]:
    now, rules = limes.now(), limes.settings.collector
    horizon = claims.never(now, rules.scrape_interval, rules.scrape_retry_max, limes.lease)
    claimed = tasks.claim_scrapes(limes.engine, service_type, now, now + limes.lease, horizon, limit)
    ids = catalog_queries.service_resource_ids(limes.engine, claimed[0].service_id) if claimed else {}
    return [ScrapeTask(task, ids) for task in claimed]


def claim_scrapes(limes: Limes, service_type: str, limit: int) -> list[ScrapeTask]:
    """Claims up to `limit` projects that are due. Give each of them to `ask`, or back."""
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


def ask(limes: Limes, claimed: ScrapeTask) -> ScrapeReport:
    """Asks the backend about a claimed project. Raises `BackendError`, to be given to `record_failure`, and
    `BackendPaused`: then the claim is to be given back."""
    task = claimed.project
    begun, started = limes.now(), limes.clock.monotonic()
    backend, service = limes.backends.quota[task.service_type], limes.catalog.services[task.service_type]
    report = calls.report_usage(backend, service, project_info(task), limes.catalog)
    return ScrapeReport(task, claimed.resource_ids, report, begun, limes.clock.monotonic() - started)


def record_failure(limes: Limes, claimed: ScrapeTask, error: BackendError) -> None:
    """Ends a claim whose backend has failed."""
    log.error("%s failed: %s", _describe(claimed.project), error)
    _record_failure(limes, claimed.project, error.observed or str(error))


@atomic
def _record_failure(limes: Limes, task: ProjectTask, message: str) -> None:
    before = queries.lock_claim(limes.engine, task.id, task.lease)
    if before is not None:
        now, rules = limes.now(), limes.settings.collector
        pause = limes.jitter.spread(claims.next_pause(before + 1, rules.scrape_retry, rules.scrape_retry_max))
        queries.record_failure(limes.engine, task.id, now, now + pause, before + 1, message)


def record(limes: Limes, reports: Sequence[ScrapeReport], listeners: Sequence[Listener] = ()) -> None:
    """Stores reports on projects of one service, in one transaction. One that cannot be stored does not keep the others
    from it: then each has a transaction of its own. Listeners are called in their order."""
    try:
        stored, freed = _record(limes, reports, listeners)
    except Exception:
        if len(reports) == 1:
            raise
        log.warning("%d scrapes cannot be recorded together, so each is recorded alone", len(reports), exc_info=True)
        _record_each(limes, reports, listeners)
        return
    for report in reports:
        if report.task.id not in stored:
            log.warning("%s: not recorded, as its lease is over or the project is gone", _describe(report.task))
    if freed:
        settle_waiting(limes, freed)


def _record_each(limes: Limes, reports: Sequence[ScrapeReport], listeners: Sequence[Listener]) -> None:
    limes.engine.ping()  # if there is no database, this is nobody's fault
    errors = []
    for report in reports:
        try:
            record(limes, [report], listeners)
        except Exception as error:
            errors.append(error)
    if errors:
        raise ExceptionGroup(f"{len(errors)} of {len(reports)} scrapes were not recorded", errors)


@atomic
def _record(
    limes: Limes, reports: Sequence[ScrapeReport], listeners: Sequence[Listener]
) -> tuple[Collection[int], Collection[int]]:
    """Returns the ids of the tasks that were stored, and the resources (ids) whose usage has gone down. Writes nothing
    of a report whose claim is lost, or whose project is gone. The projects are locked first, then their resources, then
    their services. New rows refer to the project: otherwise this would wait for a discovery that deletes it, and which
    waits for these rows."""
    engine = limes.engine
    with engine.batch.collect():
        projects = [report.task.project_id for report in reports]
        queries.keep_projects(engine, projects)
        resources = {id_ for report in reports for id_ in report.ids.values()}
        stored = queries.lock_figures(engine, projects, resources)
        states = queries.lock_states(engine, [report.task.id for report in reports])
        now = limes.now()  # whoever has changed the rows meanwhile came before
        found = [
            _compare(limes, report, stored[report.task.project_id], state, now)
            for report in reports
            if (state := states.get(report.task.id)) is not None and state.lease == report.task.lease
        ]
        scrapes = [each.scrape for each in found]
        if not scrapes:
            return (), ()
        queries.record_successes(engine, now, [each.outcome for each in found])
        for listen in listeners:
            listen(limes, scrapes)
        changed = [scrape for scrape in scrapes if scrape.has_changes]
        # last: some listeners read first
        queries.write_figures(engine, [(scrape.task.project_id, scrape.changes) for scrape in changed])
    if changed:
        on_scrapes(limes, changed)
        quotas = [(each.scrape.task, each.before, each.after) for each in found if each.scrape.has_changes]
        change_log.record_scrapes(limes, quotas)
    for each in found:
        if each.may_have_drifted:
            _note_drift(limes, each)
    freed = {resource for scrape in changed for resource in scrape.less_used()}
    return {scrape.task.id for scrape in scrapes}, freed


class _Compared(NamedTuple):
    """What a report means, compared with what is stored."""

    scrape: Scrape
    outcome: queries.Outcome
    before: Mapping[str, ResourceRow]
    """By name, like all that follow."""
    after: Mapping[str, ResourceRow]
    wanted: Mapping[str, int]
    """The quota that the backend should enforce."""
    repairs: bool
    """Whether it is to be repaired if it does not."""
    may_have_drifted: bool


def _compare(limes: Limes, report: ScrapeReport, stored: Figures, state: ServiceState, now: float) -> _Compared:
    """Marks the service if its backend quota is not the wanted one, and takes the mark away if it is."""
    task, ids, rules = report.task, report.ids, limes.settings.collector
    usages = {name: usage for name, usage in report.usage.resources.items() if name in ids}
    after = {name: _row(limes, task, name, use, stored.resources.get(ids[name])) for name, use in usages.items()}
    present = Figures(
        {ids[name]: row for name, row in after.items()},
        {(ids[name], az): _az_row(item) for name, usage in usages.items() for az, item in usage.per_az.items()},
    )
    wanted = wanted_quotas(limes.catalog, task, ids, present.resources)
    # a sync applies the quota as well, but the first scrape shows what is there before anything is overwritten
    is_known = any(row.quota is not None for row in stored.resources.values())
    repairs = rules.authoritative or (task.asked_for and is_known)
    in_sync = all(after[name].backend_quota == quota for name, quota in wanted.items())
    mark_at = now if repairs and not in_sync else None
    # a report does not show the right quota in the wrong AZs, so it takes away no mark of such
    has_split = any(each.az_separated for each in limes.catalog.services[task.service_type].resources.values())
    state = state.after(None if has_split else task.desynced_at, mark_at, in_sync=in_sync)
    outcome = queries.Outcome(
        task.id,
        now + limes.jitter.spread(rules.scrape_interval),
        report.duration,
        report.usage.state if report.usage.state != task.scrape_state else None,
        *(state.quota_desynced_at, state.next_push_at, state.drifted_at, state.push_failures, state.push_error),
    )
    before = {name: stored.resources[id_] for name, id_ in ids.items() if id_ in stored.resources}
    # while a quota waits to be written, or after one was written since the backend was asked, it proves nothing
    told_meanwhile = state.pushed_at is not None and state.pushed_at >= report.begun
    may_have_drifted = task.desynced_at is None and state.quota_desynced_at in (None, mark_at) and not told_meanwhile
    scrape = Scrape(task, ids, stored, present, usages, now, queries.find_changes(stored, present))
    return _Compared(scrape, outcome, before, after, wanted, repairs, may_have_drifted)


def _note_drift(limes: Limes, found: _Compared) -> None:
    task, wanted, since = found.scrape.task, found.wanted, found.outcome.drifted_at
    drift = push_quota.find_drift(wanted, found.before, found.after)
    if not drift:
        if found.repairs and not limes.settings.collector.authoritative and since is not None:  # left alone until now
            _record_repair(limes, task, {name: found.after[name].backend_quota for name in wanted}, wanted)
        return
    if since is None:
        queries.set_drift(limes.engine, task.id, limes.now())
    if found.repairs:
        _record_repair(limes, task, {name: enforced for name, (_, enforced) in drift.items()}, wanted)
    texts = [f"{name} {old} -> {new}" for name, (old, new) in drift.items()]
    event = f"the backend quota of {task.scope}, service {task.service_type}, was changed outside Limes"
    then = "it is corrected" if found.repairs else "it is left alone"
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
    used, more, has_physical = 0, 0, False
    for item in usage.per_az.values():
        used += item.usage
        if item.physical_usage is not None:
            more, has_physical = more + item.physical_usage - item.usage, True
    physical = min(used + more, units.MAX_AMOUNT) if has_physical else None
    return ResourceRow(quota, backend_quota, min(used, units.MAX_AMOUNT), physical, usage.min_quota, usage.max_quota)


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
