"""Why a quota that grows by itself is what it is, and what would raise it."""

from limes.actions.explain_quota import AutogrowExplanation
from limes.api.shapes.quota import Autogrow, AutogrowAdvice, AutogrowBound, AutogrowDemand, AutogrowStep
from limes.core.autogrow import Allocation, Demand, Step
from limes.core.autogrow_advice import Advice
from limes.core.autogrow_bounds import BoundSource


def render_autogrow(explanation: AutogrowExplanation) -> Autogrow:
    """Renders it, with the steps in the order in which they are taken."""
    computed = explanation.computed
    bounds, sources = computed.demand.bounds, computed.bounds
    return Autogrow(
        computed_quota=computed.allocation.quota,
        message=computed.text,
        demand={az: _demand(demand) for az, demand in sorted(computed.demand.azs.items())},
        steps=[step for name in Step if (step := _step(computed.allocation, name))],
        raised_by=[_advice(advice) for advice in explanation.advice],
        minimum=_bound(bounds.minimum or None, sources.minimum_from),
        maximum=_bound(bounds.maximum, sources.maximum_from),
        forbid_autogrowth=True if bounds.forbids_growth else None,
    )


def _bound(quota: int | None, source: BoundSource | None) -> AutogrowBound | None:
    return None if quota is None or source is None else AutogrowBound(quota=quota, source=source.value)


def _demand(demand: Demand) -> AutogrowDemand:
    return AutogrowDemand(
        usage=demand.usage,
        smallest_usage=demand.smallest,
        largest_usage=demand.largest,
        committed=demand.committed,
    )


def _step(allocation: Allocation, step: Step) -> AutogrowStep | None:
    """None if nothing was wanted in it."""
    granted, lacking = allocation.granted.get(step, {}), allocation.lacking.get(step, {})
    capped = allocation.capped.get(step, 0)
    if not (granted or lacking or capped):
        return None
    return AutogrowStep(
        step=step.value,
        quota=sum(granted.values()),
        per_az=dict(sorted(granted.items())),
        lacking=dict(sorted(lacking.items())),
        capped=capped,
    )


def _advice(advice: Advice) -> AutogrowAdvice:
    return AutogrowAdvice(
        action=advice.action.value,
        message=advice.message,
        availability_zone=advice.az,
        amount=advice.amount,
        quota=advice.quota,
    )
