"""What would raise a quota that grows by itself: whatever is said comes true."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limes.autogrow.advice import Action, Adviser, AutogrowAdvice, AutogrowBounds, BoundSource
from limes.autogrow.rules import Demand, ProjectBounds, ProjectDemand, distribute
from limes.catalog.catalog import ANY_AZ, AutogrowRule
from limes.kernel.units import Unit

RULE = AutogrowRule(growth_multiplier=1.5, project_base_quota=10)
PLENTY = {"az-one": 1000, "az-two": 1000}
FREE, NOBODYS = ProjectBounds(), AutogrowBounds()
LIMITED = AutogrowBounds(maximum_from=BoundSource.MAX_QUOTA)


def advise(
    azs: Mapping[str, Demand],
    capacity: Mapping[str, int] = PLENTY,
    bounds: ProjectBounds = FREE,
    found: AutogrowBounds = NOBODYS,
    committable: tuple[str, ...] = ("az-one",),
    rule: AutogrowRule = RULE,
    uncovered: int = 0,
) -> list[AutogrowAdvice]:
    project = ProjectDemand(1, azs, bounds)
    allocation = distribute(capacity, [project], rule)[1]
    return Adviser(project, allocation, found, rule, Unit.COUNT, committable, uncovered).advise()


def used(amount: int, smallest: int | None = None, committed: int = 0) -> Demand:
    return Demand(amount, amount if smallest is None else smallest, amount, committed)


@pytest.mark.parametrize(
    ("azs", "texts"),
    [
        # 20 x 1.5 = 30; 21 x 1.5 = 31
        ({"az-one": used(20)}, ["commit to 21 more in az-one: the quota becomes 31"]),
        ({"az-one": used(20, committed=20)}, ["commit to 1 more in az-one: the quota becomes 31"]),
        # 2 x 1.5 = 3 and 7 of the base quota; 7 x 1.5 = 10, 8 x 1.5 = 12
        ({"az-one": used(2)}, ["commit to 8 more in az-one: the quota becomes 12"]),
        (
            {"az-one": used(20, smallest=10)},
            [
                "keep using as much for 48 hours: the quota becomes 30",
                # what is used is covered already: 14 x 1.5 = 21
                "commit to 14 more in az-one: the quota becomes 21",
            ],
        ),
        # in another AZ: 1 + the least growth
        ({"az-two": used(20)}, ["commit to 1 more in az-one: the quota becomes 32"]),
    ],
)
def test_with_plenty_of_capacity(azs: Mapping[str, Demand], texts: list[str]) -> None:
    assert [advice.message for advice in advise(azs)] == texts


def test_commitments_for_all_azs_together() -> None:
    """5 of the 20 that are used are covered; only what exceeds usage counts in `any`."""
    [advice] = advise({"az-one": used(20), ANY_AZ: Demand()}, committable=(ANY_AZ,), uncovered=15)
    assert (advice.action, advice.availability_zone, advice.amount) == (Action.COMMIT, ANY_AZ, 16)
    assert advice.message == "commit to 16 more: the quota becomes 32"


def test_amounts_that_are_measured_are_rounded_up() -> None:
    """30 GiB are used, and half of that is given besides; who commits to 1 MiB more than is used commits to 31 GiB."""
    project = ProjectDemand(1, {"az-one": used(30 * 1024)})
    allocation = distribute({"az-one": 10**6}, [project], RULE)[1]
    [advice] = Adviser(project, allocation, NOBODYS, RULE, Unit.MIB, ("az-one",)).advise()
    assert (advice.amount, advice.quota) == (31 * 1024, 46.5 * 1024)
    assert advice.message == "commit to 31744 MiB more in az-one: the quota becomes 47616 MiB"


def test_without_capacity_only_what_is_needed_helps() -> None:
    commit, more = advise({"az-one": used(20)}, {"az-one": 22})
    assert (commit.amount, commit.quota) == (23, 23)
    assert (more.action, more.message) == (Action.ASK_OPERATOR, "more capacity: it was too little for 8 in az-one")


def test_against_the_own_limit() -> None:
    [advice] = advise({"az-one": used(20)}, bounds=ProjectBounds(maximum=25), found=LIMITED)
    assert (advice.action, advice.quota) == (Action.RAISE_MAX_QUOTA, 30)
    assert advice.message == "raise max_quota: without it, the quota becomes 30"


def test_where_growth_is_forbidden() -> None:
    allow, commit = advise({"az-one": used(20)}, bounds=ProjectBounds(forbids_growth=True))
    assert allow.message == "allow growth again: the quota becomes 30"
    assert commit.message == "commit to 21 more in az-one: the quota becomes 21"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (BoundSource.CONSTRAINT, "the operator's constraint allows no more"),
        (BoundSource.BACKEND, "the backend accepts no more"),
    ],
)
def test_against_what_only_operators_can_change(source: BoundSource, text: str) -> None:
    found = AutogrowBounds(maximum_from=source)
    [advice] = advise({"az-one": used(20)}, bounds=ProjectBounds(maximum=25), found=found)
    assert (advice.action, advice.message) == (Action.ASK_OPERATOR, text)


def test_an_override_is_the_operators() -> None:
    found = AutogrowBounds(minimum_from=BoundSource.OVERRIDE, maximum_from=BoundSource.OVERRIDE)
    [advice] = advise({"az-one": used(20)}, bounds=ProjectBounds(25, 25), found=found)
    assert advice.message == "the operator has set this quota, and can set another one"


DEMANDS = st.builds(
    lambda smallest, more, most, committed: Demand(smallest + more, smallest, smallest + more + most, committed),
    *(st.integers(0, 60) for _ in range(4)),
)


@given(
    azs=st.dictionaries(st.sampled_from(["az-one", "az-two"]), DEMANDS, min_size=1),
    multiplier=st.sampled_from([1, 1.2, 1.5, 3]),
    base=st.integers(0, 50),
    forbids=st.booleans(),
)
def test_each_commitment_that_is_advised_is_the_smallest_that_helps(
    azs: dict[str, Demand], multiplier: float, base: int, forbids: bool
) -> None:
    rule = AutogrowRule(growth_multiplier=multiplier, project_base_quota=base)
    bounds = ProjectBounds(forbids_growth=forbids)

    def quota(more: int) -> int:
        present = azs.get("az-one", Demand())
        raised = Demand(present.usage, present.smallest, present.largest, present.committed + more)
        project = ProjectDemand(1, {**azs, "az-one": raised}, bounds)
        return distribute({"az-one": 10**6, "az-two": 10**6}, [project], rule)[1].quota

    found = [advice for advice in advise(azs, {"az-one": 10**6, "az-two": 10**6}, bounds, rule=rule) if advice.amount]
    [advice] = [one for one in found if one.action is Action.COMMIT]
    assert advice.amount is not None
    assert re.match(f"commit to {advice.amount} more in az-one: ", advice.message)
    assert quota(advice.amount) == advice.quota
    assert advice.quota > quota(0) == quota(advice.amount - 1)
