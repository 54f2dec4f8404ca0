"""Explanations of quota that grows by itself: what it is made of, what bounds it, and what would raise it."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from limes.catalog.catalog import DistributionRule
from limes.quota.constraints import Constraint, ConstraintSet, QuotaOverrides
from tests.api.world import World
from tests.autogrow.growing import RULE, make_growing
from tests.commitments.commitments import BEHAVIORS, commit
from tests.quota.quotas import DOMAIN, PROJECT
from tests.support.rows import all_rows, changes

CORES = ("compute", "cores")
DRESDEN_PATH = PROJECT.replace("berlin", "dresden")


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    """The small cloud, in which cores grow by themselves, and can be committed to in each AZ."""
    return make_growing(make, behaviors=BEHAVIORS)


def growth(world: World, path: str = PROJECT, name: str = "cores") -> Any:
    """How the explanation of a resource says that its quota grows. Nothing is written for it."""
    before = all_rows(world.engine)
    [found] = world.get(
        f"{path}/explain?service=compute&resource={name}", "berlin-reader" if path is PROJECT else "cloud-admin"
    )["explanations"]
    assert changes(before, all_rows(world.engine)) == {}
    return found["growth"]


def put(world: World, what: str, **bound: Any) -> None:
    document = {"project": {"services": [{"type": "compute", "resources": [{"name": "cores", **bound}]}]}}
    assert world.request("PUT", f"{PROJECT}/{what}", json=document).status_code == 202


def messages(growth: Any) -> list[str]:
    return [advice["message"] for advice in growth["raised_by"]]


def test_what_it_is_made_of(world: World) -> None:
    """2 and 3 are used; half of that more, and 1 at least; the base quota of 5 is less."""
    found = growth(world)
    assert found["computed_quota"] == 7
    assert found["steps"] == [
        {"step": "needed", "quota": 5, "per_az": {"az-one": 2, "az-two": 3}},
        {"step": "growth", "quota": 2, "per_az": {"az-one": 1, "az-two": 1}},
    ]
    assert found["demand"]["az-two"] == {"usage": 3, "smallest_usage": 3, "largest_usage": 3, "committed": 0}
    assert found["message"].startswith("5 for usage and commitments, 2 for growth (5 used)")
    assert not {"minimum", "maximum", "forbid_autogrowth"} & set(found)


def test_what_would_raise_it(world: World) -> None:
    """With 3 committed in az-one 4 are given there, with 4 committed in az-two 6 there."""
    assert growth(world)["raised_by"] == [
        {
            "action": "commit",
            "message": "commit to 3 more in az-one: the quota becomes 8",
            "availability_zone": "az-one",
            "amount": 3,
            "quota": 8,
        },
        {
            "action": "commit",
            "message": "commit to 4 more in az-two: the quota becomes 9",
            "availability_zone": "az-two",
            "amount": 4,
            "quota": 9,
        },
    ]


@pytest.mark.parametrize("which", [0, 1])
def test_what_is_advised_comes_true(world: World, which: int) -> None:
    advice = growth(world)["raised_by"][which]
    commit(world, availability_zone=advice["availability_zone"], amount=advice["amount"])
    assert growth(world)["computed_quota"] == advice["quota"]


def test_the_own_limit(world: World) -> None:
    put(world, "max-quota", max_quota=6)
    found = growth(world)
    assert found["maximum"] == {"quota": 6, "source": "max-quota"}
    assert (found["computed_quota"], found["steps"][1]["capped"]) == (6, 1)
    assert messages(found) == ["raise max_quota: without it, the quota becomes 7"]


def test_growth_that_is_forbidden(world: World) -> None:
    put(world, "forbid-autogrowth", forbid_autogrowth=True)
    found = growth(world)
    assert (found["forbid_autogrowth"], found["computed_quota"]) == (True, 5)
    assert messages(found)[0] == "allow growth again: the quota becomes 7"


def test_an_override(make: Callable[..., World]) -> None:
    world = make_growing(make, overrides=QuotaOverrides({("germany", "berlin"): {CORES: 17}}))
    found = growth(world)
    assert found["minimum"] == found["maximum"] == {"quota": 17, "source": "override"}
    assert found["computed_quota"] == 17
    assert messages(found) == ["the operator has set this quota, and can set another one"]


def test_an_override_of_0(make: Callable[..., World]) -> None:
    """What is used is granted even so. Nothing is the least that there is anyway, so it is no minimum."""
    found = growth(make_growing(make, overrides=QuotaOverrides({("germany", "berlin"): {CORES: 0}})))
    assert found["maximum"] == {"quota": 0, "source": "override"}
    assert "minimum" not in found
    assert found["computed_quota"] == 5
    assert messages(found) == ["the operator has set this quota, and can set another one"]


def test_a_constraint(make: Callable[..., World]) -> None:
    constraints = ConstraintSet(projects={"germany/berlin": {CORES: Constraint(maximum=6)}})
    found = growth(make_growing(make, constraints=constraints))
    assert found["maximum"] == {"quota": 6, "source": "constraint"}
    assert messages(found) == ["the operator's constraint allows no more"]


def test_too_little_capacity(world: World) -> None:
    """10 are in az-one, of which 33 are used."""
    world.run("UPDATE az_resources SET raw_capacity = 10")
    found = growth(world, DRESDEN_PATH)
    [step] = [step for step in found["steps"] if step["step"] == "growth"]
    assert (step["quota"], step["lacking"]) == (0, {"az-one": 15})
    assert messages(found)[-1] == "more capacity: it was too little for 15 in az-one"
    assert found["raised_by"][0]["amount"] == 32, "what is needed is granted even so"


def test_commitments_for_all_azs_together(make: Callable[..., World]) -> None:
    """512 MiB are used, of which nothing is covered: the first 512 of commitments raise nothing."""
    distributions = [DistributionRule(re.compile("compute/ram"), "autogrow", autogrow=RULE)]
    world = make(distributions=distributions, behaviors=BEHAVIORS)
    found = growth(world, name="ram")
    [advice] = [advice for advice in found["raised_by"] if advice["action"] == "commit"]
    commit(world, resource_name="ram", availability_zone="any", duration="1 year", amount=advice["amount"])
    assert growth(world, name="ram")["computed_quota"] == advice["quota"] > found["computed_quota"]


def test_only_who_asks_for_resources_is_told(world: World) -> None:
    """It takes a computation over all projects for each of them."""
    for query in ("", "?service=compute"):
        assert not any("growth" in each for each in world.get(f"{PROJECT}/explain{query}")["explanations"])
    [ram] = world.get(f"{PROJECT}/explain?resource=ram")["explanations"]
    [cores] = world.get(f"{DOMAIN}/explain?resource=cores")["explanations"]
    assert not {"growth"} & {*ram, *cores}
