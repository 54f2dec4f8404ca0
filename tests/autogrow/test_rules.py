"""Quota that follows usage and commitments. The tables' figures are the original's."""

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from limes.autogrow.rules import (
    Allocation,
    Demand,
    ProjectBounds,
    ProjectDemand,
    Step,
    demand_by_az,
    distribute,
    fair_share,
)
from limes.catalog.catalog import ANY_AZ, AutogrowRule

RULE = AutogrowRule(growth_multiplier=1.2, project_base_quota=10)
FASTER = AutogrowRule(growth_multiplier=1.8, project_base_quota=10)


def used(usage: int, *of_late: int, committed: int = 0) -> Demand:
    """`of_late`: the smallest and largest usage, if it was not constant."""
    smallest, largest = of_late or (usage, usage)
    return Demand(usage, smallest, largest, committed)


def projects(*demands: Demand | Mapping[str, Demand], **bounds: Any) -> list[ProjectDemand]:
    return [
        ProjectDemand(number, {ANY_AZ: demand} if isinstance(demand, Demand) else demand, ProjectBounds(**bounds))
        for number, demand in enumerate(demands, start=1)
    ]


def quotas(found: Mapping[int, Allocation]) -> list[int]:
    return [found[id_].quota for id_ in sorted(found)]


MIXED = (used(30), used(50, 45, 50), used(0, 0, 20), used(10, 8, 12, committed=60), used(0), used(2))
IDLE = (used(20), used(50, 50, 70), used(0), used(0), used(0))


@pytest.mark.parametrize(
    ("capacity", "rule", "demands", "expected"),
    [
        (250, RULE, MIXED, [36, 54, 20, 72, 10, 10]),
        (141, FASTER, IDLE, [36, 90, 5, 5, 5]),  # 90 used, 36 grown, 15 left of 30
        (100, FASTER, IDLE, [24, 76, 0, 0, 0]),  # 10 left of 16 + 20
        (80, FASTER, IDLE, [20, 60, 0, 0, 0]),  # 10 left of 20
        (20, FASTER, IDLE, [20, 50, 0, 0, 0]),  # nothing left
    ],
)
def test_one_az(capacity: int, rule: AutogrowRule, demands: Any, expected: list[int]) -> None:
    assert quotas(distribute({ANY_AZ: capacity}, projects(*demands), rule)) == expected


def test_several_azs() -> None:
    found = distribute(
        {"one": 200, "two": 200},
        projects(
            {"one": used(20), "two": used(30, 28, 30)},
            {"one": used(5, 5, 20), "two": used(10, 8, 12, committed=60)},
            {"one": used(2), "two": used(1)},
            {"one": used(0), "two": used(0)},
        ),
        RULE,
    )
    assert [found[id_].quotas for id_ in sorted(found)] == [
        {"one": 24, "two": 33},
        {"one": 20, "two": 72},
        {"one": 3, "two": 2, "any": 5},
        {"any": 10},
    ]


def test_what_each_step_gave_and_lacked() -> None:
    found = distribute({ANY_AZ: 100}, projects(*IDLE), FASTER)
    assert found[1] == Allocation(
        granted={Step.NEEDED: {"any": 20}, Step.GROWTH: {"any": 4}},
        lacking={Step.GROWTH: {"any": 12}},
        quotas={"any": 24},
    )
    assert found[2] == Allocation(
        granted={Step.NEEDED: {"any": 50}, Step.RECENT_USAGE: {"any": 20}, Step.GROWTH: {"any": 6}},
        lacking={Step.GROWTH: {"any": 14}},
        quotas={"any": 76},
    )
    assert found[3] == Allocation(lacking={Step.BASE: {"any": 10}})


def test_growth() -> None:
    """At least the minimum, and nothing with the multiplier 1."""

    def grown(usage: int, **rule: Any) -> int:
        return quotas(distribute({ANY_AZ: 10**6}, projects(used(usage)), AutogrowRule(**rule)))[0]

    assert grown(10, growth_multiplier=1.25) == 12
    assert grown(10, growth_multiplier=1.25, growth_minimum=5) == 15
    assert grown(1, growth_multiplier=1.01, growth_minimum=0) == 2
    assert grown(0, growth_multiplier=2, growth_minimum=5) == 0
    assert grown(10, growth_multiplier=1, growth_minimum=5) == 10
    assert grown(10**5, growth_multiplier=1.1) == 110_000  # exact, unlike 10**5 * 1.1


def test_bounds() -> None:
    def bounded(*demands: Demand | Mapping[str, Demand], capacity: int = 1000, **bounds: Any) -> Allocation:
        return distribute({ANY_AZ: capacity, "one": 100, "two": 100}, projects(*demands, **bounds), RULE)[1]

    assert bounded(used(50, 40, 60)).quota == 60
    assert bounded(used(50), maximum=55).quota == 55
    assert bounded(used(50), maximum=55).capped == {Step.GROWTH: 5}
    assert bounded(used(50), maximum=20).quota == 50
    assert bounded(used(50, 40, 60), forbids_growth=True).quota == 50
    assert bounded(used(0), forbids_growth=True).capped == {Step.BASE: 10}
    assert bounded(used(50), minimum=70).granted == {Step.NEEDED: {"any": 50}, Step.MINIMUM: {"any": 20}}
    assert bounded(used(50), minimum=3000).quota == 3000
    assert bounded(used(5), minimum=7, maximum=7).quota == 7
    spread = bounded({"one": used(10, 10, 12), "two": used(10, 10, 16)}, minimum=29)
    assert spread.granted[Step.MINIMUM] == {"one": 2, "two": 7}  # of 9, as 2 and 6 are wanted
    lowered = bounded({"one": used(10, 10, 12), "two": used(10, 10, 16)}, maximum=24)
    assert lowered.granted[Step.RECENT_USAGE] == {"one": 1, "two": 3}
    idle = bounded({"one": used(0), "two": used(0)}, minimum=5)
    assert idle.granted[Step.MINIMUM] == {"one": 3, "two": 2}
    assert idle.quota == 10


def test_an_az_without_room_beside_one_with_room() -> None:
    found = distribute({"one": 20, "two": 100}, projects({"one": used(20)}, {"two": used(50)}), RULE)
    assert [found[1].quotas, found[2].quotas] == [{"one": 20}, {"two": 60}]
    assert found[1].lacking == {Step.GROWTH: {"one": 4}}


def test_use_in_no_particular_az_takes_room_everywhere() -> None:
    found = distribute({"one": 20}, projects({ANY_AZ: used(15)}, {"one": used(5)}), RULE)
    assert quotas(found) == [15, 5]


def test_capacity_in_no_particular_az() -> None:
    """Nobody says where it is, so it serves all AZs."""
    cloud = projects({"one": used(20), "two": used(10)}, {"one": used(10)})
    assert quotas(distribute({ANY_AZ: 100}, cloud, RULE)) == [36, 12]
    assert quotas(distribute({ANY_AZ: 44}, cloud, RULE)) == [33, 11]  # 4 left of 4 + 2 + 2
    found = distribute({"one": 32, ANY_AZ: 11}, cloud, RULE)
    assert [found[1].quotas, found[2].quotas] == [{"one": 22, "two": 10}, {"one": 11}]  # 2 + 1


def test_overcommit() -> None:
    assert quotas(distribute({}, projects(*MIXED), structs.replace(RULE, overcommit=True))) == [
        *(36, 54, 20, 72, 10, 10)
    ]
    until = structs.replace(FASTER, overcommit_until=0.8)  # 70 are needed
    assert quotas(distribute({ANY_AZ: 88}, projects(*IDLE), until)) == [36, 90, 10, 10, 10]
    assert quotas(distribute({ANY_AZ: 87}, projects(*IDLE), until)) == [20, 67, 0, 0, 0]


def test_overcommit_by_az() -> None:
    """Each AZ decides for itself, and all of them for what is in none."""
    rule = structs.replace(RULE, overcommit_until=0.9)
    found = distribute({"one": 100, "two": 100}, projects({"one": used(100)}), rule)
    assert found[1].quotas == {"one": 100}
    found = distribute({"one": 100, "two": 100}, projects({"one": used(100)}, {"two": used(89)}, {}), rule)
    assert [found[id_].quotas for id_ in (1, 2, 3)] == [{"one": 100}, {"two": 106}, {}]
    found = distribute({"one": 100, "two": 100}, projects({"one": used(89)}, {"two": used(89)}, {}), rule)
    assert [found[id_].quotas for id_ in (1, 2, 3)] == [{"one": 106}, {"two": 106}, {"any": 10}]
    without = projects({"one": used(80)}, {"two": used(1)})
    assert [each.quotas for each in distribute({"one": 100}, without, rule).values()] == [
        {"one": 96},
        {"two": 1, "any": 3},
    ]


def test_what_is_needed_in_no_az_counts_in_all_for_overcommit() -> None:
    rule = structs.replace(RULE, overcommit_until=0.9, project_base_quota=0)
    cloud = projects({ANY_AZ: Demand(committed=30)}, {"one": used(80)}, {"two": used(70)})
    found = distribute({"one": 100, "two": 100}, cloud, rule)
    assert found[3].quotas == {"two": 84}, "70 and 15 of 100 are needed"
    assert sum(quotas(found)) <= 30 + 80 + 84 + 6, "80 and 15 of 100 are too much"


def test_base_quota_is_at_most_the_whole_capacity() -> None:
    idle = projects({"one": used(0)}, {"two": used(0)})
    rule = structs.replace(RULE, overcommit=True)
    assert quotas(distribute({"one": 3, "two": 4}, idle, rule)) == [7, 7]
    assert quotas(distribute({}, idle, rule)) == [10, 10], "the capacity is not known"


def test_a_minimum_goes_where_capacity_is() -> None:
    def given(capacity: Mapping[str, int], demands: Mapping[str, Demand]) -> Mapping[str, int]:
        return distribute(capacity, projects(demands, minimum=60), RULE)[1].granted[Step.MINIMUM]

    both = {"one": used(0), "two": used(0)}
    assert given({"one": 100, "two": 100}, both) == {"one": 30, "two": 30}
    assert given({"one": 100}, both) == {"one": 60}
    assert given({"one": 100, "two": 0}, {"two": used(0, 0, 40)}) == {"one": 60}
    assert given({"one": 100, "two": 20}, both) == {"one": 38, "two": 22}  # 30 and 20, and 10 in proportion
    assert given({"one": 10, "two": 20}, both) == {"one": 20, "two": 40}
    assert given({ANY_AZ: 100}, both) == {"one": 30, "two": 30}
    assert given({}, both) == {"one": 30, "two": 30}
    assert given({"one": 100}, {ANY_AZ: used(0)}) == {"one": 60}


def test_usage_in_an_unknown_az() -> None:
    """It is needed in no particular AZ, and nothing grows from it."""
    demands = demand_by_az({"one": 10, "unknown": 5}, {"unknown": (3, 20), "one": (8, 12)}, {}, is_pooled=False)
    assert demands == {"one": Demand(10, 8, 12), ANY_AZ: Demand(5, 0, 5)}
    assert distribute({"one": 100}, projects(demands), RULE)[1].quotas == {"one": 12, "any": 5}
    pooled = demand_by_az({"one": 10, ANY_AZ: 1, "unknown": 5}, {}, {ANY_AZ: 18}, is_pooled=True)
    assert pooled[ANY_AZ] == Demand(6, 1, 6, committed=8), "18 cover all of the 16"


def test_fair_share() -> None:
    assert fair_share(10, [16, 20]) == [4, 6]
    assert fair_share(5, [1, 1, 1]) == [1, 1, 1]
    assert fair_share(2, [1, 1, 1]) == [1, 1, 0]
    assert fair_share(-3, [1, 1]) == [0, 0]
    assert fair_share(3, []) == []


# -- what holds for any cloud ------------------------------------------------------------------------------------------

AZS = ("any", "one", "two")
amounts = st.integers(0, 60) | st.sampled_from([10**6, 2**53 + 1, 2**62])


@st.composite
def demands(draw: st.DrawFn) -> Demand:
    low, now, high = sorted(draw(st.lists(amounts, min_size=3, max_size=3)))
    return Demand(now, low, high, draw(amounts))


@st.composite
def clouds(draw: st.DrawFn) -> list[ProjectDemand]:
    some = st.dictionaries(st.sampled_from(AZS), demands(), max_size=3)
    maximum = st.none() | amounts
    bounds = st.builds(ProjectBounds, minimum=st.just(0) | amounts, maximum=maximum, forbids_growth=st.booleans())
    ids = draw(st.lists(st.integers(1, 99), max_size=7, unique=True))
    return [ProjectDemand(id_, draw(some), draw(st.just(ProjectBounds()) | bounds)) for id_ in ids]


capacities = st.dictionaries(st.sampled_from(AZS), amounts)
rules = st.builds(
    AutogrowRule,
    growth_multiplier=st.floats(1, 5),
    growth_minimum=st.integers(0, 20),
    project_base_quota=st.integers(0, 50),
    overcommit=st.just(False),
)


def needed_by(project: ProjectDemand) -> int:
    return max(sum(demand.needed for demand in project.azs.values()), project.bounds.minimum)


@given(capacities, clouds(), rules, st.randoms())
def test_what_always_holds(
    capacity: dict[str, int], cloud: list[ProjectDemand], rule: AutogrowRule, dice: random.Random
) -> None:
    found = distribute(capacity, cloud, rule)
    for project in cloud:
        allocation = found[project.id]
        assert all(allocation.quotas.get(az, 0) >= demand.needed for az, demand in project.azs.items())
        assert all(amount > 0 for by_az in allocation.granted.values() for amount in by_az.values())
        assert all(amount > 0 for by_az in allocation.lacking.values() for amount in by_az.values())
        assert all(type(amount) is int for amount in allocation.quotas.values())
        assert allocation.quota >= project.bounds.minimum
        if not capacity.get(ANY_AZ) and any(capacity.values()):
            places = {ANY_AZ, *(az for az, amount in capacity.items() if amount)}
            assert allocation.granted.get(Step.MINIMUM, {}).keys() <= places
        if project.bounds.maximum is not None:
            assert allocation.quota <= max(project.bounds.maximum, needed_by(project))
        if project.bounds.forbids_growth:
            assert allocation.quota == needed_by(project)
    total, needed = sum(quotas(found)), sum(needed_by(project) for project in cloud)
    assert total <= max(sum(capacity.values()), needed)
    for az in set(capacity) | {"one", "two"}:
        if az != ANY_AZ and not any(Step.MINIMUM in allocation.granted for allocation in found.values()):
            in_az = sum(allocation.quotas.get(az, 0) for allocation in found.values())
            needed_there = sum(project.azs[az].needed for project in cloud if az in project.azs)
            assert in_az <= max(capacity.get(az, 0) + capacity.get(ANY_AZ, 0), needed_there)
    other_order = dice.sample(cloud, len(cloud))
    assert distribute(dict(reversed(capacity.items())), other_order, rule) == found


@given(capacities, clouds(), rules, st.sampled_from(AZS), st.integers(1, 50))
def test_more_capacity_gives_more_quota(
    capacity: dict[str, int], cloud: list[ProjectDemand], rule: AutogrowRule, az: str, more: int
) -> None:
    """All together. A single project may lose some units where shares are rounded (docs/adr/0029)."""
    larger = {**capacity, az: capacity.get(az, 0) + more}
    before, after = distribute(capacity, cloud, rule), distribute(larger, cloud, rule)
    assert sum(quotas(after)) >= sum(quotas(before))


@given(capacities, clouds(), rules)
def test_enough_capacity_gives_all(capacity: dict[str, int], cloud: list[ProjectDemand], rule: AutogrowRule) -> None:
    plenty = dict.fromkeys(AZS, 2**80)
    capacity = {**capacity, "one": capacity.get("one", 0) + 50}  # so that the base quota is no more than the whole
    found = distribute(plenty, cloud, rule)
    assert all(not allocation.lacking for allocation in found.values())
    assert quotas(found) == quotas(distribute(capacity, cloud, structs.replace(rule, overcommit=True)))


@given(st.integers(-5, 500), st.lists(st.integers(0, 100), max_size=9))
def test_a_fair_share_is_fair(total: int, wishes: list[int]) -> None:
    shares = fair_share(total, wishes)
    assert sum(shares) == max(0, min(total, sum(wishes)))
    assert all(0 <= share <= wish for share, wish in zip(shares, wishes, strict=True))
    wanted = sum(wishes) or 1
    exact = [min(wish, max(0, total) * wish / wanted) for wish in wishes]
    assert all(abs(share - ideal) < 1 for share, ideal in zip(shares, exact, strict=True))
