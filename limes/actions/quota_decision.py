"""Decides on the quotas of a request, and on what becomes of those that end by themselves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from limes.actions.quota_changes import ChangedQuota, EndingQuota, QuotaOutcome, QuotaRequest
from limes.core.catalog import Catalog, Ref
from limes.core.hierarchy import Bounding, Refusal
from limes.core.temporary_quota import Plan, TemporaryQuota, Wish, plan

Judgement = Callable[[Ref, int, int], Refusal | None]
"""Whether a resource's quota, of which the present amount is given, may become another one."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The temporary quotas that there are of a project or domain, and what a request makes of them."""

    temporary: Mapping[Ref, TemporaryQuota]
    catalog: Catalog
    now: float

    def plan(self, request: QuotaRequest, ref: Ref, quota: int, present: int) -> Plan | Refusal | None:
        """Returns what becomes of one of them, or why it cannot be; None if that is nothing."""
        if request.steps is not None:
            step = request.steps[ref]
            return Plan(step.temporary, note=step.note)
        resource = self.catalog.find(ref)
        assert resource is not None
        wish = Wish(quota, request.term(ref), present, self.temporary.get(ref), request.only_raises)
        return plan(wish, resource.unit, self.now)

    def add_to(
        self, outcome: QuotaOutcome, request: QuotaRequest, plans: Mapping[Ref, Plan], present: Callable[[Ref], int]
    ) -> QuotaOutcome:
        """Returns the outcome with what becomes of the temporary quotas."""
        changed = {change.ref: change.new for change in outcome.changed}
        after = {ref: plans[ref].temporary if ref in plans else self.temporary.get(ref) for ref in request.wanted}
        return replace(
            outcome,
            warnings=[f"{'/'.join(ref)}: {plan.warning}" for ref, plan in plans.items() if plan.warning],
            noted=[
                ChangedQuota(ref, present(ref), present(ref), plan.note)
                for ref, plan in plans.items()
                if plan.note and ref not in changed
            ],
            ending={
                ref: EndingQuota(temporary, changed.get(ref, present(ref)))
                for ref, temporary in after.items()
                if temporary is not None
            },
            replaced={ref: plan.temporary for ref, plan in plans.items() if plan.temporary != self.temporary.get(ref)},
        )


def decide(
    request: QuotaRequest,
    present: Callable[[Ref], int],
    judge: Judgement,
    ends: Ends,
) -> QuotaOutcome:
    """Judges each quota that differs from the present one. One refusal, here or before, refuses the whole request."""
    refusals = dict(request.refusals)
    attempted: list[ChangedQuota] = []
    plans: dict[Ref, Plan] = {}
    for ref, quota in request.wanted.items():
        found = ends.plan(request, ref, quota, present(ref))
        if isinstance(found, Refusal):
            refusals[ref] = found
        elif found is not None:
            plans[ref] = found
            if refusal := _may_not_raise(judge, ref, quota, found):
                refusals[ref] = refusal
        if quota == present(ref) or (request.only_raises and quota < present(ref)):
            continue
        attempted.append(ChangedQuota(ref, present(ref), quota, plans[ref].note if ref in plans else ""))
        refusal = judge(ref, present(ref), quota)
        if refusal is not None:
            refusals[ref] = refusal
    if refusals:
        return QuotaOutcome(refusals, attempted=attempted)
    changed = [change for change in attempted if change.ref not in plans or not plans[change.ref].waits]
    return ends.add_to(QuotaOutcome(changed=changed), request, plans, present)


def _may_not_raise(judge: Judgement, ref: Ref, quota: int, plan: Plan) -> Refusal | None:
    """Returns the refusal of those who want to keep, for longer, a quota that they may not raise."""
    refusal = None if plan.raised_from is None else judge(ref, plan.raised_from, quota)
    if refusal is None or refusal.rule is not Bounding.PERMISSION:
        return None
    is_dropped = plan.temporary is None
    return (
        replace(refusal, message=f"{refusal.message}; with keep_until: true, its end stays") if is_dropped else refusal
    )
