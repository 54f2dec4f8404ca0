"""What bounds a quota that grows by itself, why it is what it is, and what would raise it.

An override pins the quota. Without one, the largest minimum and the smallest maximum count, of: the limit that the
project's admins have set, what was granted to the project, the operator's constraint, and what the backend accepts. A
minimum comes before a maximum; but nothing that was granted exceeds the constraint, or what the backend accepts.

For advice the computation itself is asked, so the two cannot disagree: for the project alone, with as much capacity as
it wants, or, where there was too little, with what it got.
"""

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Annotated

from msgspec import Struct, field, structs
from pydantic import Field

from limes.autogrow.rules import Allocation, Demand, ProjectBounds, ProjectDemand, Step, add_up, distribute
from limes.catalog.catalog import ANY_AZ, AutogrowRule
from limes.kernel.units import MAX_AMOUNT, Unit
from limes.kernel.validation.shape import Amount, Shape, one_of
from limes.quota.constraints import Constraint


class BoundSource(enum.StrEnum):
    """Where a bound comes from."""

    OVERRIDE = "override"
    """The operator's file of quota overrides."""
    MAX_QUOTA = "max-quota"
    """The project's admins."""
    MIN_QUOTA = "min-quota"
    """What was granted to the project."""
    CONSTRAINT = "constraint"
    """The operator's constraint for the project."""
    BACKEND = "backend"
    """What the backend says that it accepts."""


class AutogrowBounds(Struct, frozen=True):
    """What counts. A source is None where there is no such bound."""

    bounds: ProjectBounds = field(default_factory=ProjectBounds)
    minimum_from: BoundSource | None = None
    maximum_from: BoundSource | None = None


_UNBOUNDED = AutogrowBounds()
_NO_AMOUNTS = (None, None, None, None)


def find_bounds(
    *,
    override: int | None = None,
    max_quota: int | None = None,
    min_quota: int | None = None,
    forbids_growth: bool = False,
    constraint: Constraint | None = None,
    min_backend_quota: int | None = None,
    max_backend_quota: int | None = None,
) -> AutogrowBounds:
    """Returns what counts of all limits of one project. None where there is none."""
    if override is not None:
        return AutogrowBounds(ProjectBounds(override, override), BoundSource.OVERRIDE, BoundSource.OVERRIDE)
    amounts = (max_quota, min_quota or None, min_backend_quota, max_backend_quota)
    if amounts == _NO_AMOUNTS and constraint is None and not forbids_growth:
        return _UNBOUNDED  # as for most of thousands of projects
    least, most = (constraint.minimum, constraint.maximum) if constraint else (None, None)
    granted = min(each for each in (min_quota or 0, most, max_backend_quota) if each is not None)
    minima = [
        (granted, BoundSource.MIN_QUOTA),
        (least, BoundSource.CONSTRAINT),
        (min_backend_quota, BoundSource.BACKEND),
    ]
    maxima = [
        (max_quota, BoundSource.MAX_QUOTA),
        (most, BoundSource.CONSTRAINT),
        (max_backend_quota, BoundSource.BACKEND),
    ]
    amount = itemgetter(0)
    minimum, minimum_from = max(((value, source) for value, source in minima if value), default=(0, None), key=amount)
    maximum, maximum_from = min(
        ((value, source) for value, source in maxima if value is not None), default=(None, None), key=amount
    )
    return AutogrowBounds(ProjectBounds(minimum, maximum, forbids_growth), minimum_from, maximum_from)


def largest_minimum(capacity: Mapping[str, int], others: Iterable[ProjectDemand]) -> int:
    """Returns how much a project can be granted at most, given the capacity by AZ and all other projects: what is left
    of it after what they need and were granted."""
    taken = sum(max(sum(each.needed for each in other.azs.values()), other.bounds.minimum) for other in others)
    return max(0, sum(capacity.values()) - taken)


class Action(enum.StrEnum):
    COMMIT = "commit"
    KEEP_USING = "keep-using"
    RAISE_MAX_QUOTA = "raise-max-quota"
    ALLOW_GROWTH = "allow-growth"
    ASK_OPERATOR = "ask-operator"
    """Only the operator can do something about it."""


class AutogrowAdvice(Shape, kw_only=False):
    """Something that would raise such a quota."""

    action: Annotated[str, one_of(Action)]
    message: Annotated[str, Field(description="for people")]
    availability_zone: str | None = None
    amount: Annotated[Amount, Field(description="how much more to commit to")] | None = None
    quota: Annotated[Amount, Field(description="what it would be then, if there is capacity for it")] | None = None


_PLENTY = MAX_AMOUNT // 4


class Adviser(Struct, frozen=True):
    """One project and resource."""

    demand: ProjectDemand
    allocation: Allocation
    bounds: AutogrowBounds
    rule: AutogrowRule
    unit: Unit
    committable: Sequence[str] = ()
    """The AZs in which commitments are possible; only `any` where they are for all AZs together."""
    uncovered: int = 0
    """How much of the usage in AZs commitments do not cover, where these are for all AZs together. The first of more
    commitments cover that, and raise nothing."""

    def advise(self) -> list[AutogrowAdvice]:
        """Returns all that would help, what is easiest first."""
        if self.bounds.minimum_from is BoundSource.OVERRIDE:
            return [AutogrowAdvice(Action.ASK_OPERATOR, "the operator has set this quota, and can set another one")]
        found = self._against_bounds()
        if found and found[0].action != Action.ALLOW_GROWTH:
            return found
        found += self._keep_using()
        for az in self.committable:
            found += self._commit(az)
        if lacking := self._lacking():
            where = ", ".join(self.unit.render(lacking[az]) + _place(az) for az in sorted(lacking))
            found.append(AutogrowAdvice(Action.ASK_OPERATOR, f"more capacity: it was too little for {where}"))
        return found

    def _against_bounds(self) -> list[AutogrowAdvice]:
        if not any(self.allocation.capped.values()):
            return []
        if self.demand.bounds.forbids_growth:
            allowed = structs.replace(self.demand, bounds=structs.replace(self.demand.bounds, forbids_growth=False))
            quota = self._quota(allowed)
            return [AutogrowAdvice(Action.ALLOW_GROWTH, f"allow growth again: {self._becomes(quota)}", quota=quota)]
        if self.bounds.maximum_from is BoundSource.MAX_QUOTA:
            quota = self._quota(structs.replace(self.demand, bounds=ProjectBounds(self.demand.bounds.minimum)))
            text = f"raise max_quota: without it, {self._becomes(quota)}"
            return [AutogrowAdvice(Action.RAISE_MAX_QUOTA, text, quota=quota)]
        is_constrained = self.bounds.maximum_from is BoundSource.CONSTRAINT
        text = "the operator's constraint allows no more" if is_constrained else "the backend accepts no more"
        return [AutogrowAdvice(Action.ASK_OPERATOR, text)]

    def _keep_using(self) -> list[AutogrowAdvice]:
        azs = {az: demand._replace(smallest=demand.usage) for az, demand in self.demand.azs.items()}
        quota = self._quota(structs.replace(self.demand, azs=azs))
        if quota <= self._quota(self.demand):
            return []
        text = f"keep using as much for {_duration(self.rule.retention)}: {self._becomes(quota)}"
        return [AutogrowAdvice(Action.KEEP_USING, text, quota=quota)]

    def _commit(self, az: str) -> list[AutogrowAdvice]:
        """Returns the smallest commitment that raises the quota, rounded up where amounts are measured."""
        present = self._quota(self.demand)

        def quota(more: int) -> int:
            demand = self.demand.azs.get(az, Demand())
            azs = {**self.demand.azs, az: demand._replace(committed=demand.committed + more)}
            return self._quota(structs.replace(self.demand, azs=azs))

        covered = self.uncovered if az == ANY_AZ else 0
        amount = self._round_up(_smallest(lambda more: quota(more) > present) + covered)
        reached = quota(amount - covered)
        text = f"commit to {self.unit.render(amount)} more{_place(az)}: {self._becomes(reached)}"
        return [AutogrowAdvice(Action.COMMIT, text, az, amount, reached)]

    def _round_up(self, amount: int) -> int:
        """Returns an amount that people would commit to: of measured resources, a whole number of the largest unit of
        which there is one."""
        step = 1
        while self.unit.is_measured and step * 1024 <= amount:
            step *= 1024
        return -(-amount // step) * step

    def _quota(self, demand: ProjectDemand) -> int:
        """Returns what the project would get for another demand."""
        azs = {*demand.azs, *self.allocation.quotas, ANY_AZ}
        capacity: Mapping[str, int] = dict.fromkeys(azs, _PLENTY // len(azs))
        if self._lacking():
            capacity = self.allocation.quotas
        return distribute(capacity, [demand], self.rule)[demand.id].quota

    def _lacking(self) -> dict[str, int]:
        return add_up(self.allocation.lacking.values())

    def _becomes(self, quota: int) -> str:
        return f"the quota becomes {self.unit.render(quota)}"


def _smallest(is_enough: Callable[[int], bool]) -> int:
    """Returns the smallest amount that is enough. Larger ones are, too."""
    too_little, enough = 0, 1
    while not is_enough(enough):
        too_little, enough = enough, 2 * enough
    while enough - too_little > 1:
        middle = (too_little + enough) // 2
        if is_enough(middle):
            enough = middle
        else:
            too_little = middle
    return enough


def _place(az: str) -> str:
    return "" if az == ANY_AZ else f" in {az}"


def _duration(seconds: float) -> str:
    hours = max(1, round(seconds / 3600))
    if hours % 24 == 0 and hours > 48:
        return f"{hours // 24} days"
    return "1 hour" if hours == 1 else f"{hours} hours"


# -- in one line, for the history and the audit ------------------------------------------------------------------------

_STEPS = {
    Step.NEEDED: "usage and commitments",
    Step.RECENT_USAGE: "recent usage",
    Step.GROWTH: "growth",
    Step.BASE: "the base quota",
    Step.MINIMUM: "the minimum",
}
_SOURCES = {
    BoundSource.OVERRIDE: "the operator's override",
    BoundSource.MAX_QUOTA: "the project's max_quota",
    BoundSource.CONSTRAINT: "the operator's constraint",
    BoundSource.BACKEND: "the backend",
}


def describe_allocation(demand: ProjectDemand, allocation: Allocation, bounds: AutogrowBounds, unit: Unit) -> str:
    """Returns what each step has given, for which usage and commitments, and what has limited it:
    `60 for usage and commitments, 12 for growth (50 used now, 45 to 50 recently, 60 committed)`."""
    given = [
        f"{unit.render(amount)} for {_name(step, bounds)}"
        for step, by_az in allocation.granted.items()
        if (amount := sum(by_az.values()))
    ]
    parts = [f"{', '.join(given) or 'nothing'} ({describe_demand(demand.azs, unit)})"]
    if sum(allocation.capped.values()):
        parts.append(f"limited by {_limit(bounds)}")
    if lacking := sum(sum(by_az.values()) for by_az in allocation.lacking.values()):
        parts.append(f"no capacity for {unit.render(lacking)} more")
    return "; ".join(parts)


def describe_demand(azs: Mapping[str, Demand], unit: Unit) -> str:
    """Returns the demand over all AZs: `50 used now, 45 to 50 recently, 60 committed`."""
    usage = smallest = largest = committed = 0
    for demand in azs.values():  # at once: this is done for each of thousands of projects
        usage += demand.usage
        smallest += demand.smallest
        largest += demand.largest
        committed += demand.committed
    text = f"{unit.render(usage)} used"
    if (smallest, largest) != (usage, usage):
        text += f" now, {unit.render(smallest)} to {unit.render(largest)} recently"
    return f"{text}, {unit.render(committed)} committed" if committed else text


def _name(step: Step, bounds: AutogrowBounds) -> str:
    if bounds.minimum_from is BoundSource.MIN_QUOTA and step is Step.MINIMUM:
        return "the min_quota that the project was granted"
    if step is Step.MINIMUM and bounds.minimum_from is not None:
        return f"the minimum of {_SOURCES[bounds.minimum_from]}"
    return _STEPS[step]


def _limit(bounds: AutogrowBounds) -> str:
    if bounds.bounds.forbids_growth:
        return "forbid_autogrowth"
    return _SOURCES[bounds.maximum_from] if bounds.maximum_from is not None else "the largest possible amount"
