"""Quota that follows usage and commitments: how much each project gets of a resource, in each AZ.

Four steps, each for all projects at once. The first is always granted, even beyond the capacity; the others as far as
the capacity goes.

1. What is needed: the larger of confirmed commitments and usage.
2. The largest recent usage.
3. Growth: more than the larger of confirmed commitments and the smallest recent usage, by a factor.
4. A base quota for projects that have less, in no particular AZ.

A project's own bounds come first in each step after the first: a minimum is granted even beyond the capacity, and a
maximum lowers what is wanted. Where not all wishes fit, everybody gets the same share of theirs. Only integers, and the
same result whatever the order of projects. Source: the model `autogrow` of the original.
"""

import enum
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import NamedTuple, TypeVar

from msgspec import Struct, field

from limes.catalog.catalog import ANY_AZ, UNKNOWN_AZ, AutogrowRule

T = TypeVar("T")


class Step(enum.StrEnum):
    """What a part of a quota was granted for."""

    NEEDED = "needed"
    """Usage, or confirmed commitments."""
    RECENT_USAGE = "recent-usage"
    """The largest recent usage."""
    GROWTH = "growth"
    BASE = "base"
    MINIMUM = "minimum"
    """The project's own minimum."""


class Demand(NamedTuple):
    """What a project uses in one AZ, now and recently, and its confirmed commitments there."""

    usage: int = 0
    smallest: int = 0
    """The smallest usage within the retention period. Never above `usage`."""
    largest: int = 0
    """Never below `usage`."""
    committed: int = 0

    @property
    def needed(self) -> int:
        """Returns what the project gets whatever the capacity."""
        return self.committed if self.committed > self.usage else self.usage  # `max` takes twice as long


_NOTHING = Demand()


def demand_by_az(
    usage: Mapping[str, int], recent: Mapping[str, tuple[int, int]], committed: Mapping[str, int], *, is_pooled: bool
) -> dict[str, Demand]:
    """Returns the demand of a project, given its usage, the smallest and largest recent usage where it has changed,
    and its confirmed commitments. `is_pooled` says that commitments are not for single AZs: then those in `any` cover
    usage wherever it is. Usage in an unknown AZ is needed in no particular one, and nothing grows from it: nobody could
    use quota there."""
    nowhere = usage.get(UNKNOWN_AZ, 0)
    usage, recent = _known(usage), _known(recent)
    if is_pooled and ANY_AZ in committed:
        elsewhere = sum(amount for az, amount in usage.items() if az != ANY_AZ)
        committed = {**committed, ANY_AZ: max(0, committed[ANY_AZ] - elsewhere)}
    demands = {}
    for az in {**usage, **recent, **committed} if recent or committed else usage:
        used, held = usage.get(az, 0), committed.get(az, 0)
        smallest, largest = recent.get(az, (used, used))
        demands[az] = Demand(used, smallest, largest, held) if largest or held else _NOTHING
    if nowhere:
        found = demands.get(ANY_AZ, _NOTHING)
        used = found.usage + nowhere
        demands[ANY_AZ] = Demand(used, found.smallest, max(found.largest, used), found.committed)
    return demands


def quota_az(az: str) -> str:
    """Returns the AZ in which the quota is for what is used in this one."""
    return ANY_AZ if az == UNKNOWN_AZ else az


def _known(by_az: Mapping[str, T]) -> Mapping[str, T]:
    return {az: each for az, each in by_az.items() if az != UNKNOWN_AZ} if UNKNOWN_AZ in by_az else by_az


class ProjectBounds(Struct, frozen=True):
    """What bounds the quota of one project, over all AZs together."""

    minimum: int = 0
    maximum: int | None = None
    forbids_growth: bool = False
    """Only what is needed is granted, and the minimum."""


_NO_BOUNDS = ProjectBounds()


class ProjectDemand(Struct, frozen=True):
    """A project with its demand by AZ. Projects are identified, and ordered, by `id`."""

    id: int
    azs: Mapping[str, Demand]
    bounds: ProjectBounds = _NO_BOUNDS


class Allocation(Struct):
    """What one project gets. Amounts of 0 are missing from all mappings."""

    granted: dict[Step, dict[str, int]] = field(default_factory=dict)
    """By step and AZ. Their sum is the quota."""
    lacking: dict[Step, dict[str, int]] = field(default_factory=dict)
    """What there was no capacity for."""
    capped: dict[Step, int] = field(default_factory=dict)
    """What the project's maximum, or that it forbids growth, has taken from the wishes."""
    quotas: dict[str, int] = field(default_factory=dict)
    """The sum of what was granted, by AZ."""

    @property
    def quota(self) -> int:
        return sum(self.quotas.values())


def add_up(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Returns the sums by AZ."""
    sums: dict[str, int] = {}
    for by_az in amounts:
        for az, amount in by_az.items():
            sums[az] = sums.get(az, 0) + amount
    return sums


def fair_share(total: int, wishes: Sequence[int]) -> list[int]:
    """Splits `total` in proportion to the wishes; no project gets more than it wishes. Earlier ones win ties. Each gets
    the whole part of its share; what is left goes to the largest remainders, one each (Hamilton's method)."""
    wanted = sum(wishes)
    if wanted <= total:
        return list(wishes)
    if total <= 0:
        return [0] * len(wishes)
    shares = [total * wish // wanted for wish in wishes]
    left = total - sum(shares)
    order = sorted(range(len(wishes)), key=lambda index: -(total * wishes[index] % wanted))
    for index in order[:left]:
        shares[index] += 1
    return shares


def _spread(amount: int, weights: Mapping[str, int]) -> dict[str, int]:
    """Splits the amount in proportion to the weights, by AZ. Nothing, if there are none."""
    azs, total = sorted(weights), sum(weights.values())
    scale = -(-amount // total) if total else 0  # so that no project's share is limited by its weight
    return dict(zip(azs, fair_share(amount, [weights[az] * scale for az in azs]), strict=True))


def distribute(
    capacity: Mapping[str, int], projects: Iterable[ProjectDemand], rule: AutogrowRule
) -> dict[int, Allocation]:
    """Returns what each project gets, by its id. `capacity` is by AZ, after overcommit."""
    return _Distribution(capacity, sorted(projects, key=lambda project: project.id), rule).run()


_Wishes = list[dict[str, int]]
"""What each project wants beyond what it has, by AZ; more than 0."""


class _Distribution:
    """One computation. Lists are in the order of projects."""

    def __init__(self, capacity: Mapping[str, int], projects: Sequence[ProjectDemand], rule: AutogrowRule) -> None:
        self._capacity = capacity
        self._whole = sum(capacity.values())
        self._zones = {az: amount for az, amount in capacity.items() if amount and az not in (ANY_AZ, UNKNOWN_AZ)}
        """The capacity of AZs. Empty if there is capacity in no particular AZ, which serves all of them."""
        if capacity.get(ANY_AZ):
            self._zones = {}
        self._projects = projects
        self._bounded = [index for index, project in enumerate(projects) if project.bounds != _NO_BOUNDS]
        self._rule = rule
        self._allocations = [Allocation() for _ in projects]
        self._totals = [0] * len(projects)
        self._free: dict[str, int] = defaultdict(int, capacity)
        """What is left in each AZ. Below 0 where more is needed than there is."""
        self._free_in_all = self._whole
        self._overcommitted: set[str] = set()
        """The AZs where wishes are granted beyond the capacity."""

    def run(self) -> dict[int, Allocation]:
        for index, project in enumerate(self._projects):
            needs = {az: needed for az, demand in project.azs.items() if (needed := demand.needed)}
            self._grant(index, Step.NEEDED, needs)
        self._overcommitted = self._find_overcommitted()
        self._take_step(Step.RECENT_USAGE, self._wanted(attrgetter("largest")))
        self._take_step(Step.GROWTH, self._wanted(_growth(self._rule)))
        base = min(self._rule.project_base_quota, self._whole or self._rule.project_base_quota)
        self._take_step(Step.BASE, [{ANY_AZ: base - total} if total < base else {} for total in self._totals])
        return {project.id: found for project, found in zip(self._projects, self._allocations, strict=True)}

    def _find_overcommitted(self) -> set[str]:
        """To be called when what is needed is granted, and nothing else. What is needed in no particular AZ counts in
        each as it has of the capacity."""
        azs = {ANY_AZ, *self._capacity}.union(*(project.azs for project in self._projects))
        if self._rule.overcommit or not self._zones:
            return azs if self._rule.may_overcommit(self._whole - self._free_in_all, self._whole) else set()
        needed = {az: self._capacity.get(az, 0) - self._free[az] for az in azs}
        share = Fraction(needed[ANY_AZ], sum(self._zones.values()))
        found = {
            az for az, amount in self._zones.items() if self._rule.may_overcommit(needed[az] + share * amount, amount)
        }
        elsewhere = azs - {ANY_AZ, UNKNOWN_AZ} - set(self._zones)
        if found == set(self._zones) and not any(needed[az] for az in elsewhere):
            found.add(ANY_AZ)  # all AZs stand for it
        return found

    def _wanted(self, target: Callable[[Demand], int]) -> _Wishes:
        return [
            {
                az: amount
                for az, demand in project.azs.items()
                if (amount := target(demand) - found.quotas.get(az, 0)) > 0
            }
            for project, found in zip(self._projects, self._allocations, strict=True)
        ]

    def _take_step(self, step: Step, wishes: _Wishes) -> None:
        for index in self._bounded:
            bounds = self._projects[index].bounds
            if bounds.minimum > self._totals[index]:
                self._raise_to_minimum(index, wishes[index])
            if bounds.maximum is not None or bounds.forbids_growth:
                wishes[index] = self._lower(index, step, wishes[index])
        for index, (wish, granted) in enumerate(zip(wishes, self._choose(wishes), strict=True)):
            self._grant(index, step, granted)
            if granted is not wish and granted != wish:
                lacking = {az: wanted - granted.get(az, 0) for az, wanted in wish.items()}
                self._allocations[index].lacking[step] = {az: amount for az, amount in lacking.items() if amount}

    def _raise_to_minimum(self, index: int, wish: dict[str, int]) -> None:
        """Grants what is missing, in the AZs where something is wanted, else in those that the project is in; but no
        more than their capacity, as long as others have some. What is granted this way is not wanted any more."""
        missing = self._projects[index].bounds.minimum - self._totals[index]
        azs = self._with_capacity(wish) or self._with_capacity(az for az in self._projects[index].azs if az != ANY_AZ)
        amounts = _spread(missing, {az: max(1, wish.get(az, 0)) for az in azs})
        for az in amounts.keys() & self._zones.keys():
            amounts[az] = min(amounts[az], self._zones[az])
        for az, amount in _spread(missing - sum(amounts.values()), self._zones or {ANY_AZ: 1}).items():
            amounts[az] = amounts.get(az, 0) + amount
        self._grant(index, Step.MINIMUM, {az: amount for az, amount in amounts.items() if amount})
        for az, amount in amounts.items():
            if wish.get(az, 0) <= amount:
                wish.pop(az, None)
            else:
                wish[az] -= amount

    def _with_capacity(self, azs: Iterable[str]) -> list[str]:
        return sorted(az for az in azs if not self._zones or az == ANY_AZ or az in self._zones)

    def _lower(self, index: int, step: Step, wish: dict[str, int]) -> dict[str, int]:
        bounds, wanted = self._projects[index].bounds, sum(wish.values())
        room = 0 if bounds.forbids_growth else wanted
        if bounds.maximum is not None:
            room = min(room, max(0, bounds.maximum - self._totals[index]))
        if wanted <= room:
            return wish
        self._allocations[index].capped[step] = wanted - room
        azs = sorted(wish)
        shares = fair_share(room, [wish[az] for az in azs])
        return {az: share for az, share in zip(azs, shares, strict=True) if share}

    def _choose(self, wishes: _Wishes) -> _Wishes:
        """Returns what is granted of the wishes."""
        beyond = self._overcommitted
        if not beyond:
            return self._fit(wishes, self._free_in_all)
        left = {az: self._free[az] for az in beyond}
        for wish in wishes:
            for az in wish.keys() & beyond:
                left[az] -= wish[az]
        in_all = self._free_in_all + sum(max(0, free) - self._free[az] for az, free in left.items())
        fitting = self._fit([{az: wish[az] for az in wish.keys() - beyond} for wish in wishes], in_all)
        return [
            {**fits, **{az: wish[az] for az in wish.keys() & beyond}}
            for wish, fits in zip(wishes, fitting, strict=True)
        ]

    def _fit(self, wishes: _Wishes, in_all: int) -> _Wishes:
        """Returns what fits into the capacity: wishes in an AZ there, or in no particular AZ; and all wishes in
        all AZs together, where `in_all` is left."""
        sums, free = add_up(wishes), {**self._free, ANY_AZ: in_all}
        if sum(sums.values()) <= in_all and all(wanted <= free.get(az, 0) for az, wanted in sums.items()):
            return wishes
        by_az: dict[str, list[int]] = defaultdict(list)
        for index, wish in enumerate(wishes):
            for az in wish:
                by_az[az].append(index)
        cells: dict[tuple[int, str], int] = {}
        for az, indexes in by_az.items():
            shares = fair_share(free.get(az, 0), [wishes[index][az] for index in indexes])
            cells.update({(index, az): share for index, share in zip(indexes, shares, strict=True)})
        places = sorted(cells)
        lacking = [wishes[index][az] - cells[index, az] if az != ANY_AZ else 0 for index, az in places]
        for place, share in zip(places, fair_share(self._free_in_no_az(), lacking), strict=True):
            cells[place] += share
        granted: _Wishes = [{} for _ in wishes]
        for (index, az), share in zip(places, fair_share(in_all, [cells[place] for place in places]), strict=True):
            if share:
                granted[index][az] = share
        return granted

    def _free_in_no_az(self) -> int:
        """Returns what is left of the capacity in no particular AZ, which also serves what AZs have too little for."""
        return self._free[ANY_AZ] + sum(min(0, free) for az, free in self._free.items() if az != ANY_AZ)

    def _grant(self, index: int, step: Step, amounts: Mapping[str, int]) -> None:
        """All amounts are more than 0."""
        if not amounts:
            return
        allocation, free, total = self._allocations[index], self._free, 0
        granted, quotas = allocation.granted.setdefault(step, {}), allocation.quotas
        for az, amount in amounts.items():
            granted[az] = granted.get(az, 0) + amount
            quotas[az] = quotas.get(az, 0) + amount
            free[az] -= amount
            total += amount
        self._totals[index] += total
        self._free_in_all -= total


def _growth(rule: AutogrowRule) -> Callable[[Demand], int]:
    """Returns what gives the quota that a demand grows to."""
    numerator, denominator = Fraction(str(rule.growth_multiplier)).as_integer_ratio()
    least = max(rule.growth_minimum, 1)

    def grown(demand: Demand) -> int:
        baseline = demand.committed if demand.committed > demand.smallest else demand.smallest
        if baseline == 0 or numerator == denominator:
            return baseline
        return max(baseline * numerator // denominator, baseline + least)

    return grown
