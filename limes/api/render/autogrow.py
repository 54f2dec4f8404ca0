"""Why a quota that grows by itself is what it is, and what would raise it."""

from collections.abc import Mapping
from typing import cast

from limes.actions.distribute_quota import ExplainedAllocation
from limes.actions.explain_quota import AutogrowExplanation
from limes.api.render.common import Json
from limes.api.shapes.quota import Autogrow, AutogrowAdvice, AutogrowBound, AutogrowDemand, AutogrowStep
from limes.core.autogrow import Allocation, Demand, Step
from limes.core.autogrow_advice import Advice
from limes.core.autogrow_bounds import BoundSource


def render_autogrow(explanation: AutogrowExplanation) -> Autogrow:
    """Returns the document, with the steps in the order in which they are taken."""
    computed = explanation.computed
    document: Autogrow = {
        "computed_quota": computed.allocation.quota,
        "message": computed.text,
        "demand": {az: _demand(demand) for az, demand in sorted(computed.demand.azs.items())},
        "steps": [step for name in Step if (step := _step(computed.allocation, name))],
        "raised_by": [_advice(advice) for advice in explanation.advice],
    }
    _add_bounds(document, computed)
    return document


def _add_bounds(document: Autogrow, computed: ExplainedAllocation) -> None:
    bounds, sources = computed.demand.bounds, computed.bounds
    if bounds.minimum and sources.minimum_from is not None:
        document["minimum"] = _bound(bounds.minimum, sources.minimum_from)
    if bounds.maximum is not None and sources.maximum_from is not None:
        document["maximum"] = _bound(bounds.maximum, sources.maximum_from)
    if bounds.forbids_growth:
        document["forbid_autogrowth"] = True


def _bound(quota: int, source: BoundSource) -> AutogrowBound:
    return {"quota": quota, "source": source.value}


def _demand(demand: Demand) -> AutogrowDemand:
    return {
        "usage": demand.usage,
        "smallest_usage": demand.smallest,
        "largest_usage": demand.largest,
        "committed": demand.committed,
    }


def _step(allocation: Allocation, step: Step) -> AutogrowStep | None:
    """Returns one step; None if nothing was wanted in it."""
    granted: Mapping[str, int] = allocation.granted.get(step, {})
    lacking, capped = allocation.lacking.get(step), allocation.capped.get(step)
    if not (granted or lacking or capped):
        return None
    document: AutogrowStep = {
        "step": step.value,
        "quota": sum(granted.values()),
        "per_az": dict(sorted(granted.items())),
    }
    if lacking:
        document["lacking"] = dict(sorted(lacking.items()))
    if capped:
        document["capped"] = capped
    return document


def _advice(advice: Advice) -> AutogrowAdvice:
    more: Json = {"availability_zone": advice.az, "amount": advice.amount, "quota": advice.quota}
    found = {name: value for name, value in more.items() if value is not None}
    return cast("AutogrowAdvice", {"action": advice.action.value, "message": advice.message, **found})
