"""Sets quotas of a project or domain, or simulates that; switches bursting. As it is one code path, simulation and
change cannot disagree.

Invariants: all quotas of an update are written, or none. Because of us, the sum of a domain's project quotas never
exceeds the domain's quota, which never falls below that sum; with `strict_domain_quota_limit`, the sum of all domain
quotas never exceeds the capacity. To check the sums, a transaction locks the domain's row of each resource, and before
that, for a domain's quota, the rows of the resources. So the second of two requests sees what the first wrote.

The quota is pushed after the commit. The change marks the backends in its own transaction, and the push job serves
those that could not be reached at once, so a crash in between loses nothing.

Bursting can only be switched off while the usage of every resource is within its quota: the backend gets the plain
quota from then on. Source: the original.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from msgspec import structs

from limes.app.context import Limes
from limes.catalog.catalog import Ref
from limes.catalog.queries import lock_resources, raw_capacities, resource_ids
from limes.db.engine import Engine
from limes.db.transactions import atomic
from limes.kernel.errors import BadRequest, Conflict
from limes.kernel.units import UnitError, beyond_capacity, effective_capacity
from limes.projects.queries import DomainRow, ProjectRow
from limes.projects.scope import Place, Target, find_project, ids_of, not_ready
from limes.quota import change_log, decision_queries, hierarchy, push_quota, queries, temporary_queries
from limes.quota import changes as quota_changes
from limes.quota.change_log import scope_of
from limes.quota.changes import ChangedQuota, EndingQuota, QuotaChange, QuotaOutcome, QuotaUpdate
from limes.quota.hierarchy import DomainFigures, Figures, ProjectFigures, QuotaRules, Refusal
from limes.quota.rules import IfMatch, Permissions
from limes.quota.temporary import ALWAYS, Plan, RequestedQuota, TemporaryQuota, Term, check_term, plan


def set_quotas(
    limes: Limes,
    target: Target,
    changes: Iterable[QuotaChange],
    permissions: Mapping[Ref, Permissions],
    *,
    dry_run: bool,
    condition: IfMatch | None = None,
) -> QuotaOutcome:
    """Sets and pushes quotas, or says why not. `permissions` are those for configured resources. Raises `NotReady` for
    a project that was not scraped yet, and `PreconditionFailed`."""
    update = read_update(limes, target, changes, permissions)
    work = partial(apply_update, limes, target, update, dry_run=dry_run, condition=condition)
    if dry_run:
        return limes.engine.snapshot(work)
    return push_changes(limes, target, limes.engine.atomic(work))


def read_update(
    limes: Limes, target: Target, changes: Iterable[QuotaChange], permissions: Mapping[Ref, Permissions]
) -> QuotaUpdate:
    """Returns the wanted quotas as `apply_update` takes them."""
    catalog, now = limes.catalog, limes.now()
    is_project = isinstance(target, ProjectRow)
    grows = hierarchy.PROJECT_QUOTA_GROWS if is_project else hierarchy.DOMAIN_QUOTA_GROWS
    wanted, terms, refusals = dict[Ref, int](), dict[Ref, Term](), dict[Ref, Refusal]()
    for change in changes:
        refusal = quota_changes.without_quota(catalog, change.ref) or (grows if catalog.autogrow(change.ref) else None)
        refusal = refusal or check_term(change.term, now)
        if refusal is not None:
            refusals[change.ref] = refusal
            continue
        try:
            wanted[change.ref] = quota_changes.read_amount(catalog, change.ref, change.amount, change.unit)
            terms[change.ref] = change.term
        except UnitError as error:
            refusals[change.ref] = hierarchy.invalid_value(str(error))
    return QuotaUpdate(wanted, refusals, permissions, terms=terms)


def apply_update(
    limes: Limes, target: Target, update: QuotaUpdate, *, dry_run: bool = False, condition: IfMatch | None = None
) -> QuotaOutcome:
    """Sets quotas inside the caller's transaction; after its commit, `push_changes` has to be called."""
    ids = _lock(limes, target, update.wanted.keys(), condition, dry_run)
    outcome = _decide(limes, target, ids, update) if ids else QuotaOutcome(update.refusals)
    if dry_run:
        return outcome
    with limes.engine.batch.collect():
        return _write(limes, target, ids, update, outcome)


def push_changes(limes: Limes, target: Target, outcome: QuotaOutcome) -> QuotaOutcome:
    """Pushes what was changed of a project to the backends. Returns the outcome with their errors."""
    if isinstance(target, DomainRow):
        return outcome
    services = sorted({change.ref[0] for change in outcome.changed} | set(outcome.repaired))
    return structs.replace(outcome, backend_errors=_push(limes, target.id, services))


def _push(limes: Limes, project_id: int, services: Sequence[str]) -> Sequence[str]:
    return limes.push_quota(limes, project_id, services) if services and limes.push_quota else ()


def _lock(
    limes: Limes, target: Target, refs: Collection[Ref], condition: IfMatch | None, dry_run: bool
) -> dict[Ref, int]:
    """Returns the ids of these resources. Unless it is a dry run, what decides on them is locked."""
    engine, catalog, locks = limes.engine, limes.catalog, bool(refs) and not dry_run
    if isinstance(target, ProjectRow):
        if condition is not None and not dry_run:
            queries.lock_project(engine, target.id, lock=True)  # comes before the domain's rows
        ids = queries.lock_named_quotas(engine, target.domain_id, refs) if locks else _ids(engine, refs)
        if condition is not None:
            condition.check(quota_changes.project_tag(engine, catalog, target.id, lock=not dry_run))
        return ids
    ids = _ids(engine, refs)
    if locks:
        lock_resources(engine, list(ids.values()))
    if condition is not None:
        condition.check(quota_changes.domain_tag(engine, catalog, target.id, lock=not dry_run))
    if locks:
        queries.lock_domain_quotas(engine, target.id, list(ids.values()))
    return ids


def _ids(engine: Engine, refs: Collection[Ref]) -> dict[Ref, int]:
    all_ids = resource_ids(engine) if refs else {}
    return {ref: all_ids[ref] for ref in refs}


def _write(
    limes: Limes, target: Target, ids: Mapping[Ref, int], update: QuotaUpdate, outcome: QuotaOutcome
) -> QuotaOutcome:
    """Writes and records the changes. Unchanged quota is pushed again to backends that differ, if the caller may set
    it."""
    engine, quotas = limes.engine, {change.ref: change.new for change in outcome.changed}
    by_id = {ids[ref]: quota for ref, quota in quotas.items()}
    if by_id and isinstance(target, ProjectRow):
        queries.write_project_quotas(engine, target.id, by_id)
        change_log.request_push(limes, target.id, sorted({service for service, _ in quotas}))
    elif by_id:
        queries.write_domain_quotas(engine, target.id, by_id)
    replaced = {ids[ref]: temporary for ref, temporary in outcome.replaced.items()}
    temporary_queries.write_temporary_quotas(engine, *ids_of(target), replaced)
    same = {ref: id_ for ref, id_ in ids.items() if ref not in quotas and update.permissions[ref].can_set}
    if same and not outcome.refusals and isinstance(target, ProjectRow):
        outcome = structs.replace(outcome, repaired=push_quota.repair_backends(limes, target, same))
    change_log.record_outcome(limes, scope_of(target), outcome)
    return outcome


# -- the decision ------------------------------------------------------------------------------------------------------


def _decide(limes: Limes, target: Target, ids: Mapping[Ref, int], update: QuotaUpdate) -> QuotaOutcome:
    figures, temporary = read_figures(limes, target, ids)
    rules = {ref: rules_of(limes, target, ref, update.permissions[ref]) for ref in ids}
    outcome = _judge_all(update, figures, rules, temporary, limes.now())
    beyond = [
        warning
        for change in outcome.changed
        if change.new > change.old  # a lowered quota makes nothing worse
        and (warning := warn_beyond_capacity(change.ref, figures[change.ref], rules[change.ref], change.new))
    ]
    return structs.replace(outcome, warnings=[*outcome.warnings, *beyond]) if beyond else outcome


def _judge_all(
    update: QuotaUpdate,
    figures: Mapping[Ref, Figures],
    rules: Mapping[Ref, QuotaRules],
    temporary: Mapping[Ref, TemporaryQuota],
    now: float,
) -> QuotaOutcome:
    """Judges each quota that differs from the present one. One refusal, here or before, refuses the whole update."""
    refusals, attempted, plans = dict(update.refusals), list[ChangedQuota](), dict[Ref, Plan]()
    for ref, quota in update.wanted.items():
        present = figures[ref].quota
        found = _plan(update, ref, present, temporary.get(ref), rules[ref], now)
        if isinstance(found, Refusal):
            refusals[ref] = found
        elif found is not None:
            plans[ref] = found
            if refusal := _may_not_raise(quota, figures[ref], rules[ref], found):
                refusals[ref] = refusal
        if quota == present or (update.only_raises and quota < present):
            continue
        attempted.append(ChangedQuota(ref, present, quota, plans[ref].note if ref in plans else ""))
        if refusal := hierarchy.judge(quota, figures[ref], rules[ref]):
            refusals[ref] = refusal
    if refusals:
        return QuotaOutcome(refusals, attempted=attempted)
    changed = {change.ref: change for change in attempted if change.ref not in plans or not plans[change.ref].waits}
    after = {ref: changed[ref].new if ref in changed else figures[ref].quota for ref in update.wanted}
    ends = {**temporary, **{ref: each.temporary for ref, each in plans.items()}}
    noted = [ref for ref, each in plans.items() if each.note and ref not in changed]
    return QuotaOutcome(
        changed=list(changed.values()),
        warnings=[f"{'/'.join(ref)}: {each.warning}" for ref, each in plans.items() if each.warning],
        noted=[ChangedQuota(ref, after[ref], after[ref], plans[ref].note) for ref in noted],
        ending={ref: EndingQuota(end, after[ref]) for ref in update.wanted if (end := ends.get(ref)) is not None},
        replaced={ref: each.temporary for ref, each in plans.items() if each.temporary != temporary.get(ref)},
    )


def _plan(
    update: QuotaUpdate, ref: Ref, present: int, temporary: TemporaryQuota | None, rules: QuotaRules, now: float
) -> Plan | Refusal | None:
    """Returns what becomes of a temporary quota, or why it cannot be; None if that is nothing."""
    if update.steps is not None:
        return Plan(update.steps[ref].temporary, note=update.steps[ref].note)
    wish = RequestedQuota(update.wanted[ref], update.terms.get(ref, ALWAYS), present, temporary, update.only_raises)
    return plan(wish, rules.unit, now)


def _may_not_raise(quota: int, figures: Figures, rules: QuotaRules, found: Plan) -> Refusal | None:
    """Returns the refusal of those who want to keep, for longer, a quota that they may not raise."""
    if found.raised_from is None:
        return None
    refusal = hierarchy.judge(quota, structs.replace(figures, quota=found.raised_from), rules)
    if refusal is None or refusal.rule is not hierarchy.Bounding.PERMISSION:
        return None
    hint = "" if found.temporary else "; with keep_until: true, its end stays"
    return structs.replace(refusal, message=refusal.message + hint)


def read_figures(
    limes: Limes, target: Target, ids: Mapping[Ref, int]
) -> tuple[Mapping[Ref, Figures], Mapping[Ref, TemporaryQuota]]:
    """Returns the deciding numbers for resources, given with their ids, and what is temporary of their quotas. Raises
    `NotReady`. Inside a transaction."""
    if isinstance(target, ProjectRow):
        return project_figures(limes, target, ids)
    engine, catalog, resources = limes.engine, limes.catalog, list(ids.values())
    temporary = temporary_queries.temporary_quotas(engine, target.id, None)
    quotas = queries.domain_quotas_by_resource(engine, resources)
    projects = decision_queries.project_quota_sums(engine, target.id, resources)
    raw, all_quotas = raw_capacities(engine, resources), Counter[int]()
    for (_, id_), quota in quotas.items():
        all_quotas[id_] += quota
    figures = {}
    for ref, id_ in ids.items():
        quota, capacity = quotas.get((target.id, id_), 0), raw.get(id_, 0)
        figures[ref] = DomainFigures(
            quota=quota,
            projects_quota=projects.get(id_, 0),
            other_domains_quota=all_quotas[id_] - quota,
            capacity=effective_capacity(capacity, catalog.behavior(ref).overcommit_factor),
            strict_limit=catalog.distribution(ref).strict_domain_quota_limit,
        )
    return figures, {ref: temporary[id_] for ref, id_ in ids.items() if id_ in temporary}


def project_figures(
    limes: Limes, project: ProjectRow, ids: Mapping[Ref, int]
) -> tuple[dict[Ref, ProjectFigures], dict[Ref, TemporaryQuota]]:
    found = decision_queries.project_decisions(limes.engine, project, list(ids.values()), limes.now())
    if missing := [ref for ref, id_ in ids.items() if id_ not in found]:
        raise not_ready(limes.engine, project.id, missing)
    own = {ref: found[id_] for ref, id_ in ids.items()}
    figures = {
        ref: ProjectFigures(
            quota=row.quota or 0,
            usage=row.usage,
            projects_quota=row.projects_quota or 0,
            domain_quota=row.domain_quota or 0,
            capacity=effective_capacity(row.raw_capacity, limes.catalog.behavior(ref).overcommit_factor),
            backend_minimum=row.min_backend_quota,
            backend_maximum=row.max_backend_quota,
            committed=row.committed,
        )
        for ref, row in own.items()
    }
    return figures, {ref: row.temporary for ref, row in own.items() if row.temporary is not None}


def rules_of(limes: Limes, target: Target, ref: Ref, permissions: Permissions) -> QuotaRules:
    """Returns the other rules for the quota of a configured resource."""
    unit = limes.catalog.unit_of(ref)
    if isinstance(target, DomainRow):
        limit, constraint = limes.lowpriv.for_domain(ref), limes.constraints.for_domain(ref, target.name)
        return QuotaRules(ref[0], unit, permissions, limit, constraint)
    limit = limes.lowpriv.for_project(ref, target.domain_name)
    constraint = limes.constraints.for_project(ref, target.domain_name, target.name)
    least = limes.catalog.behavior(ref, target.scope).min_nonzero_project_quota
    return QuotaRules(ref[0], unit, permissions, limit, constraint, least)


def warn_beyond_capacity(ref: Ref, figures: Figures, rules: QuotaRules, quota: int) -> str | None:
    """Returns the warning about a domain's quota with which all domains together have more than the capacity."""
    if isinstance(figures, ProjectFigures):
        return None
    return beyond_capacity(ref, rules.unit, figures.other_domains_quota + quota, figures.capacity)


def set_bursting(
    limes: Limes, place: Place, *, enabled: bool, dry_run: bool, condition: IfMatch | None = None
) -> Sequence[str]:
    """Switches bursting and pushes quota. Returns one line for each backend that does not have it yet. Raises
    `NotFound`, `BadRequest` where there is no bursting, `Conflict` while it is used, and `PreconditionFailed`."""
    if not limes.catalog.burst_multiplier:
        raise BadRequest("bursting is not available for this cluster")

    def work() -> tuple[int, Sequence[str]]:
        project = find_project(limes.engine, place.domain_uuid, place.project_uuid)
        present = queries.lock_project(limes.engine, project.id, lock=not dry_run)
        if condition is not None:
            condition.check(quota_changes.project_tag(limes.engine, limes.catalog, project.id, lock=not dry_run))
        if present == enabled:
            return project.id, ()
        if not enabled:
            _refuse_while_bursted(limes, project.id)
        if dry_run:
            return project.id, ()
        services = list(limes.catalog.services)
        queries.write_bursting(limes.engine, project.id, enabled)
        change_log.record_bursting(limes, scope_of(project), enabled)
        change_log.request_push(limes, project.id, services)
        return project.id, services

    if dry_run:
        limes.engine.snapshot(work)
        return ()
    try:
        project_id, services = limes.engine.atomic(work)
    except Conflict as error:
        if limes.settings.audit.sinks:
            _record_refusal(limes, place, enabled, str(error))
        raise
    return _push(limes, project_id, services)


@atomic
def _record_refusal(limes: Limes, place: Place, enabled: bool, message: str) -> None:
    """In a transaction of its own, as that of the request is undone."""
    project = find_project(limes.engine, place.domain_uuid, place.project_uuid)
    change_log.record_refused_bursting(limes, scope_of(project), enabled, message)


def _refuse_while_bursted(limes: Limes, project_id: int) -> None:
    found = queries.bursted_resources(limes.engine, project_id)
    if bursted := sorted(ref for ref in found if limes.catalog.find(ref)):
        count = f"{len(bursted)} resource is" if len(bursted) == 1 else f"{len(bursted)} resources are"
        names = ", ".join("/".join(ref) for ref in bursted)
        raise Conflict(f"cannot disable bursting because {count} currently bursted: {names}")
