"""Records each change in the change's own transaction: in the history of quotas, and as events for the audit.
Forgets old history.

Invariant: a change and its records are committed together, or not at all. Every use case that changes a quota, bursting
or a commitment calls this before its transaction ends. That costs one statement for the history and one for the events,
whatever the number of changes.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import structs

from limes.app.context import Limes
from limes.audit import events, outbox
from limes.audit.events import CommitmentStep, Event, QuotaStep, Reason, Scope, What, render
from limes.catalog.catalog import Ref
from limes.kernel.units import Unit
from limes.projects import discovery, pushes, tasks
from limes.projects.queries import DomainRow, ProjectRow
from limes.quota import hierarchy, history, queries
from limes.quota.changes import QuotaOutcome
from limes.quota.constraints import Constraint

OTHERS_REFUSED = "cannot commit this because other values in this request are unacceptable"


def scope_of(target: DomainRow | ProjectRow | tasks.ProjectTask | queries.ProjectQuotaRow) -> Scope:
    """Returns the name of a domain or project in the history and the audit."""
    match target:
        case DomainRow():
            return Scope(target.uuid, target.name)
        case ProjectRow():
            return Scope(target.domain_uuid, target.domain_name, target.uuid, target.name)
        case tasks.ProjectTask() | queries.ProjectQuotaRow():
            return Scope(target.domain_uuid, target.domain_name, target.project_uuid, target.project_name)


def record_outcome(limes: Limes, scope: Scope, outcome: QuotaOutcome) -> None:
    """Records that a request has changed quotas or their ends, or was refused as a whole."""
    if outcome.refusals:
        _record_refusals(limes, scope, outcome)
        return
    steps = []
    for change in (*outcome.changed, *outcome.noted):
        detail, unit = "; ".join(filter(None, (limes.cause, change.detail))), limes.catalog.unit_of(change.ref)
        steps.append(QuotaStep(change.ref, unit, change.old, change.new, limes.reason, detail))
    _record_steps(limes, scope, steps)


def _record_refusals(limes: Limes, scope: Scope, outcome: QuotaOutcome) -> None:
    """Records all of the request's quotas that would have changed, and the ones that could not even be read."""
    attempts = {change.ref: change for change in outcome.attempted}
    refusals = []
    for ref in {**attempts, **outcome.refusals}:
        if limes.catalog.find(ref) is None:
            continue
        refusal, attempt, unit = outcome.refusals.get(ref), attempts.get(ref), limes.catalog.unit_of(ref)
        old, new = (attempt.old, attempt.new) if attempt else (None, None)
        message = refusal.message if refusal else OTHERS_REFUSED
        refusals.append(events.quota_refused(scope, ref, unit, old, new, message, limes.initiator))
    _emit(limes, refusals)


def record_bursting(limes: Limes, scope: Scope, enabled: bool) -> None:
    step = QuotaStep(("", ""), Unit.COUNT, int(not enabled), int(enabled), Reason.REQUEST, what=What.BURSTING)
    _append(limes, [(scope, step)])
    _emit(limes, [events.bursting_changed(scope, enabled, limes.initiator)])


def record_bounds(limes: Limes, changes: Sequence[tuple[Scope, QuotaStep]]) -> None:
    """Records how far quota may grow by itself from now on, for any number of projects."""
    changes = [(scope, structs.replace(step, detail=step.detail or limes.cause)) for scope, step in changes]
    _append(limes, changes)
    _emit(limes, [events.bound_changed(scope, step, limes.initiator) for scope, step in changes])


def record_refused_bounds(limes: Limes, scope: Scope, what: What, refusals: Mapping[Ref, hierarchy.Refusal]) -> None:
    """Records that a request for such bounds was refused as a whole, with the unacceptable ones."""
    known = [(ref, refusal.message) for ref, refusal in refusals.items() if limes.catalog.find(ref) is not None]
    _emit(limes, [events.bound_refused(scope, ref, what, message, limes.initiator) for ref, message in known])


def record_refused_bursting(limes: Limes, scope: Scope, enabled: bool, message: str) -> None:
    _emit(limes, [events.bursting_refused(scope, enabled, message, limes.initiator)])


def request_push(limes: Limes, project_id: int, service_types: Sequence[str]) -> None:
    """Marks the backends of these services: this project's quota has to be pushed to them. Where this process does so
    after the commit, the job leaves it alone for a lease: it could still be writing when the user has the answer."""
    now, wait = limes.now(), 0.0 if limes.push_quota is None else limes.lease
    pushes.mark_desynced(limes.engine, project_id, service_types, now, now + wait)


def record_commitments(limes: Limes, steps: Sequence[CommitmentStep]) -> None:
    """Records changes of commitments. Their history is kept elsewhere (`limes.commitments.events`)."""
    _emit(limes, [events.commitment_changed(step, limes.initiator) for step in steps])


def record_quota_request(limes: Limes, scope: Scope, request_id: int, kind: str, details: Mapping[str, object]) -> None:
    """Records what happened to a request for more quota. What was said stays in its own conversation."""
    _emit(limes, [events.quota_request_changed(scope, request_id, kind, details, limes.initiator)])


# -- what Limes does by itself -----------------------------------------------------------------------------------


def record_constrained(limes: Limes, scope: Scope, changes: Iterable[tuple[Ref, int | None, int, Constraint]]) -> None:
    """Records quotas that constraints have changed: (resource, old quota, new quota, constraint)."""
    _record_steps(limes, scope, [_constrained(limes, *change) for change in changes])


def record_quotas(limes: Limes, changes: Sequence[tuple[Scope, QuotaStep]]) -> None:
    """Records quotas of many projects or domains; what only corrects a backend is history, but no event."""
    _append(limes, changes)
    if limes.settings.audit.sinks:
        quotas = [(scope, step) for scope, step in changes if step.what is What.QUOTA]
        _emit(limes, [events.quota_changed(scope, step, limes.initiator) for scope, step in quotas])


def record_scrapes(
    limes: Limes,
    scraped: Iterable[tuple[tasks.ProjectTask, Mapping[str, queries.HasQuota], Mapping[str, queries.HasQuota]]],
) -> None:
    """Records the quotas that scrapes have changed, given with what they were before and are now, both by resource
    name. A first quota of 0 is no change."""
    record_quotas(limes, [(scope_of(task), step) for task, *rows in scraped for step in _steps_of(limes, task, *rows)])


def _steps_of(
    limes: Limes, task: tasks.ProjectTask, before: Mapping[str, queries.HasQuota], after: Mapping[str, queries.HasQuota]
) -> Iterator[QuotaStep]:
    for name, row in after.items():
        ref, old, new = (task.service_type, name), before[name].quota if name in before else None, row.quota
        if new is None or new == (old or 0):
            continue
        resource = limes.catalog.find(ref)
        if old is None and resource is not None and resource.auto_approve_initial_quota == new:
            yield QuotaStep(ref, resource.unit, old, new, Reason.AUTO_APPROVAL)
            continue
        constraint = limes.constraints.for_project(ref, task.domain_name, task.project_name)
        assert constraint is not None  # nothing else changes a quota in a scrape
        yield _constrained(limes, ref, old, new, constraint)


def record_repairs(limes: Limes, scope: Scope, quotas: Mapping[Ref, tuple[int | None, int | None]]) -> None:
    """Quotas are pushed again to backends that were changed outside Limes: what each enforces, and what it is
    to enforce (both in the stored form of `limes.quota.rules`)."""
    detail = "the backend quota was changed outside Limes"
    steps = [
        QuotaStep(ref, limes.catalog.unit_of(ref), old, new, Reason.BACKEND_DRIFT, detail, What.BACKEND_QUOTA)
        for ref, (old, new) in quotas.items()
    ]
    _record_steps(limes, scope, steps)


def record_deletion(limes: Limes, *, projects: Collection[str] = (), domains: Collection[str] = ()) -> None:
    """Records that these projects and domains, by UUID, are about to be deleted with their quotas."""
    by_scope: dict[Scope, list[QuotaStep]] = defaultdict(list)
    for *place, service_type, resource_name, quota in discovery.quotas_of_vanished(limes.engine, projects, domains):
        ref = (service_type, resource_name)
        by_scope[Scope(*place)].append(QuotaStep(ref, limes.catalog.unit_of(ref), quota, None, Reason.VANISHED))
    for scope, steps in by_scope.items():
        _record_steps(limes, scope, steps)


def _constrained(limes: Limes, ref: Ref, old: int | None, new: int, constraint: Constraint) -> QuotaStep:
    unit = limes.catalog.unit_of(ref)
    return QuotaStep(ref, unit, old, new, Reason.CONSTRAINT, constraint.render(unit))


# -- history and events ------------------------------------------------------------------------------------------


def _record_steps(limes: Limes, scope: Scope, steps: Sequence[QuotaStep]) -> None:
    if steps:
        record_quotas(limes, [(scope, step) for step in steps])


def _emit(limes: Limes, new_events: Sequence[Event]) -> None:
    if not limes.settings.audit.sinks or not new_events:
        return
    now = limes.now()
    rows = []
    for event in new_events:
        event_id = limes.ids.uuid()
        document = render(event, event_id, now, limes.observer)
        rows += [(now, sink, event.scope.stream, event_id, document) for sink in limes.settings.audit.sinks]
    outbox.append(limes.engine, rows)


def _append(limes: Limes, changes: Iterable[tuple[Scope, QuotaStep]]) -> None:
    now, initiator = limes.now(), limes.initiator
    rows = [
        history.HistoryRow(
            at=now,
            domain_uuid=scope.domain_uuid,
            project_uuid=scope.project_uuid,
            service_type=step.ref[0],
            resource_name=step.ref[1],
            what=step.what.value,
            old=step.old,
            new=step.new,
            reason=step.reason.value,
            detail=step.detail,
            initiator_id=initiator.id,
            initiator_name=initiator.name,
            request_id=initiator.request_id,
        )
        for scope, step in changes
    ]
    history.append(limes.engine, rows)


_BATCH = 1000


def forget_history(limes: Limes) -> None:
    """Deletes history that is older than its retention. Several may run this at once."""
    before = limes.now() - limes.settings.audit.history_retention
    while limes.engine.atomic(partial(history.forget_before, limes.engine, before, _BATCH)) == _BATCH:
        pass
