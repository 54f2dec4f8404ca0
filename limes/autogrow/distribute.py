"""Computes quota that follows usage, and writes what differs from what projects have.

A resource is claimed, so that one process computes it at a time. It reads one state of the database and computes from
it without any lock, which takes seconds in a large cloud. Then it writes pieces of some projects, each in a transaction
that locks the resource and these projects. Invariants:

- What is written is what would be there if all of it had been written at once when it was read, and all other changes
  had come after that: what a project needs by now it keeps, as `raise_to_demand` would have granted it. Once the
  capacity has changed, no more is written, and a project whose bounds have changed is not raised. Whatever has changed
  makes the resource due again (`limes.autogrow.queries.mark_due`).
- Pieces that make room come first (`limes.autogrow.redistribution.split`): after each piece, no AZ has more quota than
  before the first one, than it has capacity, or than was computed for it; but for what was granted since for needs.
- A project's quota is the sum of its quota by AZ, and covers what it needs in each AZ.

The same state gives the same quotas, but for small changes, which wait (`limes.autogrow.redistribution`). A process
that is killed between two pieces leaves such a state to others, which start again when its lease is over.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from limes.app.context import Limes
from limes.audit.events import QuotaStep, Reason
from limes.autogrow import advice, queries, rules
from limes.autogrow import figures as autogrow_figures
from limes.autogrow.compute import Computation, autogrow_rule, compute_quota, growing_resources
from limes.autogrow.figures import SET_BY_PEOPLE, AZQuotaChanges, Figures
from limes.autogrow.redistribution import Proposal, capped, choose_changes, cover, split
from limes.catalog.catalog import AutogrowRule, Ref
from limes.catalog.queries import resource_ids
from limes.db.transactions import atomic
from limes.kernel.errors import LimesError
from limes.projects.claims import never
from limes.quota import change_log
from limes.quota.change_log import scope_of
from limes.quota.queries import ProjectQuotaRow

log = logging.getLogger(__name__)

_PIECE = 250


class DistributionOutcome(Struct, frozen=True):
    ref: Ref
    success: bool
    changed: int = 0
    """How many projects have another quota now."""


class _Claim(NamedTuple):
    """A resource that is computed here until the end of the lease."""

    ref: Ref
    resource: int
    until: float


class ExplainedAllocation(Struct, frozen=True):
    """What one project would get now, and why."""

    demand: rules.ProjectDemand
    allocation: rules.Allocation
    bounds: advice.AutogrowBounds
    rule: AutogrowRule
    capacity: Mapping[str, int]
    """Of all projects, by AZ, after overcommit."""
    quotas: Mapping[str, int]
    """What the project has now, by AZ."""
    text: str
    """All of it in one line."""


def distribute_next(limes: Limes, piece: int = _PIECE) -> DistributionOutcome | None:
    """Computes the resource that has been due longest. None if none is due. Quota of `piece` projects is written in one
    transaction, if it can be."""
    refs = growing_resources(limes.catalog)
    claim = _claim(limes, refs, limes.now()) if refs else None
    if claim is None:
        return None
    try:
        changed = _distribute(limes, claim, piece)
    except LimesError as error:
        log.error("quota of %s was not computed: %s", "/".join(claim.ref), error)
        message = str(error)
    except Exception as error:  # a bug: recorded like other errors, so that it stops no other resource
        log.exception("quota of %s was not computed", "/".join(claim.ref))
        message = f"internal error: {type(error).__name__}"
    else:
        return DistributionOutcome(claim.ref, True, changed)
    _end(limes, claim, limes.now() + limes.jitter.spread(limes.settings.collector.capacity_retry), message)
    return DistributionOutcome(claim.ref, False)


@atomic
def _claim(limes: Limes, refs: Collection[Ref], now: float) -> _Claim | None:
    ids, collector = resource_ids(limes.engine), limes.settings.collector
    names, until = {ids[ref]: ref for ref in refs if ref in ids}, now + limes.lease
    horizon = never(now, collector.capacity_interval, collector.capacity_retry, limes.lease)
    claimed = queries.claim(limes.engine, names, now, until, horizon)
    return None if claimed is None else _Claim(names[claimed], claimed, until)


def _distribute(limes: Limes, claim: _Claim, size: int) -> int:
    rule, now = limes.catalog.autogrow(claim.ref), limes.now()
    assert rule is not None  # or else it was not claimed
    computed = compute_quota(limes, claim.ref, claim.resource, rule, now)
    proposals = _propose(computed)
    chosen = choose_changes(computed.capacity, proposals, rule, now)
    changed, is_stale = 0, False
    for piece in split(computed.capacity, proposals, _to_write(computed, proposals, chosen), size):
        written = _write(limes, claim, computed, piece)
        if is_stale := written is None:
            break
        changed += written or 0
    if changed:
        log.info("quota of %s: changed for %d of %d projects", "/".join(claim.ref), changed, len(proposals))
    pause = 0.0 if is_stale else limes.jitter.spread(limes.settings.collector.capacity_interval)
    _end(limes, claim, now + pause, "")
    return changed


@atomic
def _end(limes: Limes, claim: _Claim, next_run_at: float, message: str) -> None:
    """Gives the resource back, and records how it went; `message` is what was wrong."""
    due_at = queries.lock_claimed(limes.engine, claim.resource, claim.until)
    if due_at is None:
        return
    has_changed = due_at < claim.until and not message
    next_run_at = min(due_at, next_run_at) if has_changed else next_run_at
    queries.set_due(limes.engine, claim.resource, next_run_at)
    queries.record_outcome(limes.engine, "/".join(claim.ref), limes.now(), next_run_at, message)


def explain_allocation(limes: Limes, project_id: int, ref: Ref) -> ExplainedAllocation | None:
    """Returns what a project would get now. None if quota of the resource does not follow usage, or the project was
    never scraped for it. Writes nothing."""
    rule, resource = autogrow_rule(limes.catalog, ref), resource_ids(limes.engine).get(ref)
    if rule is None or resource is None:
        return None
    computed = compute_quota(limes, ref, resource, rule, limes.now())
    if project_id not in computed.demands:
        return None
    return ExplainedAllocation(
        demand=computed.demands[project_id],
        allocation=computed.allocations[project_id],
        bounds=computed.bounds[project_id],
        rule=rule,
        capacity=computed.capacity,
        quotas=_present(computed.figures, project_id),
        text=computed.describe(project_id),
    )


# -- writing -----------------------------------------------------------------------------------------------------------


@atomic
def _write(limes: Limes, claim: _Claim, computed: Computation, piece: Sequence[Proposal]) -> int | None:
    """Returns how many of these projects have another quota now; None if it must not be written any more."""
    engine, resource, now = limes.engine, claim.resource, limes.now()
    is_ours = queries.lock_claimed(engine, resource, claim.until) is not None
    if not is_ours or autogrow_figures.raw_capacity_by_az(engine, resource) != computed.raw_capacity:
        return None
    planned = {each.id: each for each in piece}
    figures = autogrow_figures.read_figures(engine, resource, now, 0, projects=planned, lock=True)
    is_pooled = not limes.catalog.behavior(claim.ref).commitment_is_az_aware
    present = [_update(computed, planned[row.project_id], row, figures, is_pooled) for row in figures.projects]
    changes = AZQuotaChanges()
    for each in present:  # the latest row of a project says when its quota over all AZs was changed
        by_people = _set_by_people(figures, each.id)
        moves_only = not by_people and sum(each.old.values()) == sum(each.new.values())
        changed_at = each.changed_at if moves_only else now
        changes.add(each.id, figures.quotas.get(each.id, {}), each.new, changed_at, everything=by_people)
    changes.write(engine, resource)
    quotas = {each.id: sum(each.new.values()) for each in present}
    rows = [row for row in figures.projects if row.quota != quotas[row.project_id]]
    told = {row.project_id for row in rows}
    definition = limes.catalog.find(claim.ref)
    if definition is not None and definition.az_separated:  # what has only moved between AZs is pushed, too
        told |= {each.id for each in present if each.old != each.new or _set_by_people(figures, each.id)}
    if told:
        autogrow_figures.mark_desynced(engine, resource, sorted(told), now)
    if rows:
        autogrow_figures.write_quotas(engine, resource, {row.project_id: quotas[row.project_id] for row in rows})
        steps = [_step(claim.ref, computed, figures, row, quotas[row.project_id]) for row in rows]
        change_log.record_quotas(limes, list(zip(map(scope_of, rows), steps, strict=True)))
    return len(rows)


def _step(ref: Ref, computed: Computation, figures: Figures, row: ProjectQuotaRow, quota: int) -> QuotaStep:
    reason, detail = Reason.AUTOGROW, computed.describe(row.project_id)
    if _set_by_people(figures, row.project_id):
        reason, detail = Reason.DISTRIBUTION_MODEL, f"autogrow instead of hierarchical: {detail}"
    return QuotaStep(ref, computed.unit, row.quota, quota, reason, detail)


def _propose(computed: Computation) -> list[Proposal]:
    proposals, figures, step = [], computed.figures, rules.Step.NEEDED
    for id_, demand in computed.demands.items():
        allocation = computed.allocations[id_]
        new, needed = capped(allocation.quotas), allocation.granted.get(step, {})
        proposals.append(Proposal(id_, _present(figures, id_), new, needed, _changed_at(figures, id_), demand.bounds))
    return proposals


def _to_write(computed: Computation, proposals: Sequence[Proposal], chosen: Sequence[Proposal]) -> list[Proposal]:
    """Returns what to write: the chosen proposals, what people have set and nothing changes, and where the quota over
    all AZs is not their sum."""
    written = {each.id: each for each in chosen}
    totals = {row.project_id: row.quota for row in computed.figures.projects}
    for each in proposals:
        is_same = each.old == each.new and _set_by_people(computed.figures, each.id)
        if each.id not in written and (is_same or totals[each.id] != sum(each.old.values())):
            written[each.id] = each._replace(new=each.old)
    return list(written.values())


def _update(
    computed: Computation, planned: Proposal, row: ProjectQuotaRow, figures: Figures, is_pooled: bool
) -> Proposal:
    """Returns what to write now, given the project's present row and figures, which are locked."""
    id_, old = planned.id, _present(figures, planned.id)
    demand = rules.demand_by_az(figures.usage.get(id_, {}), {}, figures.committed.get(id_, {}), is_pooled=is_pooled)
    needed = {az: each.needed for az, each in demand.items()}
    new = cover(planned.new, needed)
    has_other_bounds = computed.rows[id_] != row._replace(quota=computed.rows[id_].quota)
    if has_other_bounds and sum(new.values()) > sum(old.values()):
        new = cover(old, needed)
    return Proposal(id_, old, new, needed, _changed_at(figures, id_))


def _present(figures: Figures, project_id: int) -> dict[str, int]:
    return {az: quota for az, (quota, _) in figures.quotas.get(project_id, {}).items() if quota}


def _changed_at(figures: Figures, project_id: int) -> float:
    return max([at for _, at in figures.quotas.get(project_id, {}).values()], default=SET_BY_PEOPLE)


def _set_by_people(figures: Figures, project_id: int) -> bool:
    """Returns whether a project's quota is what people have set before it followed usage."""
    return any([at == SET_BY_PEOPLE for _, at in figures.quotas.get(project_id, {}).values()])
