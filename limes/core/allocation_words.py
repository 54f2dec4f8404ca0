"""Why a quota that grows by itself is what it is, in one line for the history and the audit."""

from collections.abc import Mapping

from limes.core.autogrow import Allocation, Demand, ProjectDemand, Step
from limes.core.autogrow_bounds import AutogrowBounds, BoundSource
from limes.core.units import Unit

_STEPS = {
    Step.NEEDED: "usage and commitments",
    Step.RECENT_USAGE: "recent usage",
    Step.GROWTH: "growth",
    Step.BASE: "base quota",
    Step.MINIMUM: "minimum",
}
_SOURCES = {
    BoundSource.OVERRIDE: "the operator's override",
    BoundSource.MAX_QUOTA: "the project's max_quota",
    BoundSource.CONSTRAINT: "the operator's constraint",
    BoundSource.BACKEND: "the backend",
}


def describe_allocation(demand: ProjectDemand, allocation: Allocation, bounds: AutogrowBounds, unit: Unit) -> str:
    """Returns what was used and committed, what each step has given for it, and what has limited it:
    `usage 50 (45 to 50 of late), committed 60: 60 for usage and commitments, 12 for growth`."""
    given = [
        f"{unit.render(amount)} for {_name(step, bounds)}"
        for step, by_az in allocation.granted.items()
        if (amount := sum(by_az.values()))
    ]
    parts = [f"{describe_demand(demand.azs, unit)}: {', '.join(given) or 'nothing'}"]
    if sum(allocation.capped.values()):
        parts.append(f"limited by {_limit(bounds)}")
    if lacking := sum(sum(by_az.values()) for by_az in allocation.lacking.values()):
        parts.append(f"no capacity for {unit.render(lacking)} more")
    return "; ".join(parts)


def describe_demand(azs: Mapping[str, Demand], unit: Unit) -> str:
    """Returns the demand over all AZs: `usage 50 (45 to 50 of late), committed 60`."""
    usage = smallest = largest = committed = 0
    for demand in azs.values():  # at once: this is done for each of thousands of projects
        usage += demand.usage
        smallest += demand.smallest
        largest += demand.largest
        committed += demand.committed
    text = f"usage {unit.render(usage)}"
    if (smallest, largest) != (usage, usage):
        text += f" ({unit.render(smallest)} to {unit.render(largest)} of late)"
    return f"{text}, committed {unit.render(committed)}" if committed else text


def _name(step: Step, bounds: AutogrowBounds) -> str:
    if bounds.minimum_from is BoundSource.MIN_QUOTA and step is Step.MINIMUM:
        return "min_quota, which the project was granted"
    if step is Step.MINIMUM and bounds.minimum_from is not None:
        return f"the minimum of {_SOURCES[bounds.minimum_from]}"
    return _STEPS[step]


def _limit(bounds: AutogrowBounds) -> str:
    if bounds.bounds.forbids_growth:
        return "forbid_autogrowth"
    return _SOURCES[bounds.maximum_from] if bounds.maximum_from is not None else "the largest amount there is"
