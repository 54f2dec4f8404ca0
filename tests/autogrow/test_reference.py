"""Quota that follows usage, compared with the original's way to compute it, written down as plainly as possible.

Only for clouds where the two do not differ on purpose (docs/autogrow.md): nothing is needed beyond the capacity of its
AZ, or in no AZ, and no minimum is granted.
"""

import random
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limes.autogrow.rules import Demand, ProjectBounds, ProjectDemand, distribute, fair_share
from limes.catalog.catalog import ANY_AZ, AutogrowRule

AZS = ("one", "two", "three")
Quotas = dict[tuple[int, str], int]
"""By project and AZ."""


class Original:
    """The steps, one after the other."""

    def __init__(self, capacity: Mapping[str, int], projects: list[ProjectDemand], rule: AutogrowRule) -> None:
        self.capacity, self.rule = capacity, rule
        self.projects = {project.id: project for project in sorted(projects, key=lambda project: project.id)}
        self.given: Quotas = {place: self.demand(*place).needed for place in self.places()}
        self.overcommitted = {az for az in capacity if self.is_below(az)}
        if all(self.is_below(az) or (not capacity[az] and not self.in_az(az)) for az in capacity):
            self.overcommitted.add(ANY_AZ)

    def demand(self, id_: int, az: str) -> Demand:
        return self.projects[id_].azs.get(az, Demand())

    def places(self) -> list[tuple[int, str]]:
        return [(id_, az) for id_ in self.projects for az in (*AZS, ANY_AZ)]

    def in_az(self, az: str) -> int:
        return sum(amount for (_, where), amount in self.given.items() if where == az)

    def of_project(self, id_: int) -> int:
        return sum(amount for (whose, _), amount in self.given.items() if whose == id_)

    def is_below(self, az: str) -> bool:
        return self.in_az(az) < self.capacity[az] * Fraction(str(self.rule.overcommit_until))

    def run(self) -> dict[int, int]:
        self.step({place: self.demand(*place).largest for place in self.places()})
        self.step({place: self.grown(*place) for place in self.places()})
        base = min(self.rule.project_base_quota, sum(self.capacity.values()))
        self.step({(id_, ANY_AZ): max(0, base - self.of_project(id_)) for id_ in self.projects})
        return {id_: self.of_project(id_) for id_ in self.projects}

    def grown(self, id_: int, az: str) -> int:
        baseline = max(self.demand(id_, az).committed, self.demand(id_, az).smallest)
        if self.rule.growth_multiplier == 1 or not baseline:
            return baseline
        grown = int(baseline * Fraction(str(self.rule.growth_multiplier)))
        return max(grown, baseline + max(1, self.rule.growth_minimum))

    def step(self, targets: Quotas) -> None:
        wishes = {place: target - self.given[place] for place, target in targets.items() if target > self.given[place]}
        for id_, project in self.projects.items():
            own = sorted(place for place in wishes if place[0] == id_)
            if project.bounds.maximum is not None:
                room = max(0, project.bounds.maximum - self.of_project(id_))
                for place, share in zip(own, fair_share(room, [wishes[place] for place in own]), strict=True):
                    wishes[place] = share
        for az in (*self.capacity, ANY_AZ):  # what is in no AZ gets what the others have left
            here = [place for place in wishes if place[1] == az]
            free = sum(max(0, self.capacity[each] - self.in_az(each)) for each in self.capacity) - self.in_az(ANY_AZ)
            if az != ANY_AZ:
                free = self.capacity[az] - self.in_az(az)
            wanted = [wishes[place] for place in here]
            shares = wanted if az in self.overcommitted else fair_share(free, wanted)
            for place, share in zip(here, shares, strict=True):
                self.given[place] += share


@st.composite
def clouds(draw: st.DrawFn) -> tuple[dict[str, int], list[ProjectDemand]]:
    dice = random.Random(draw(st.integers(0, 2**32)))
    projects = []
    for id_ in range(draw(st.integers(1, 6))):
        azs = {}
        for az in draw(st.sets(st.sampled_from(AZS))):
            low, now, high = sorted(dice.randint(0, 30) for _ in range(3))
            azs[az] = Demand(now, low, high, dice.choice([0, 0, dice.randint(0, 40)]))
        maximum = draw(st.none() | st.integers(0, 80))
        projects.append(ProjectDemand(id_, azs, ProjectBounds(maximum=maximum)))
    needed = Counter[str]()
    for project in projects:
        needed.update({az: demand.needed for az, demand in project.azs.items()})
    capacity = {az: needed[az] + draw(st.sampled_from([0, 1, 5, 20, 100])) for az in AZS}
    return capacity, projects


rules = st.builds(
    AutogrowRule,
    growth_multiplier=st.sampled_from([1, 1.2, 2]),
    growth_minimum=st.integers(0, 5),
    project_base_quota=st.sampled_from([0, 10, 500]),
    overcommit_until=st.sampled_from([0, 0.5, 0.9, 1, 5]),
)


@given(clouds(), rules)
def test_same_as_the_original(cloud: tuple[dict[str, int], list[ProjectDemand]], rule: AutogrowRule) -> None:
    capacity, projects = cloud
    found = distribute(capacity, projects, rule)
    assert {id_: allocation.quota for id_, allocation in found.items()} == Original(capacity, projects, rule).run()


@pytest.mark.parametrize(("until", "expected"), [(0.9, [36, 60, 10, 10, 10]), (0.8, [35, 59, 6, 0, 0])])
def test_overcommit_ends_where_too_much_is_allocated(until: float, expected: list[int]) -> None:
    """85 of 100 are needed."""
    usages = [Demand(30, 30, 30), Demand(10, 10, 10, 50), Demand(5, 5, 5), Demand(), Demand()]
    projects = [ProjectDemand(id_, {"one": demand}) for id_, demand in enumerate(usages)]
    rule = AutogrowRule(growth_multiplier=1.2, project_base_quota=10, overcommit_until=until)
    assert list(Original({"one": 100}, projects, rule).run().values()) == expected
    assert [allocation.quota for allocation in distribute({"one": 100}, projects, rule).values()] == expected
