"""Domain quotas above the capacity are accepted where no strict limit holds, and said to be so. cores: capacity 201."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.catalog.catalog import BehaviorRule
from tests.api.world import FRANCE, GERMANY, World
from tests.commitments.commitments import BEHAVIORS, PATHS, commit
from tests.quota.quotas import DOMAIN, request_quotas
from tests.support.rows import all_rows, changes

TEXT = (
    "the quotas of all domains for compute/cores add up to {}, but the capacity is 201:"
    " not all of it can be used at the same time"
)


def both(world: World, **quotas: int) -> tuple[Any, Any]:
    """What simulate-put says, and then PUT."""
    simulated = request_quotas(world, f"{DOMAIN}/simulate-put", quotas, method="POST")
    assert simulated.status_code == 200
    result = request_quotas(world, DOMAIN, quotas)
    assert result.status_code == 202
    return simulated.json, result.text


@pytest.mark.sql
def test_what_is_given_beyond_the_capacity(world: World) -> None:
    """france has 50."""
    assert both(world, cores=151) == ({"success": True}, "")
    told = TEXT.format(202)
    assert both(world, cores=152) == (
        {"success": True, "warnings": [told]},
        f"quotas have been accepted, with a warning:\n{told}\n",
    )
    assert request_quotas(world, DOMAIN, {"cores": 152}).headers.get("content-type") is None  # as it was
    assert both(world, cores=151) == ({"success": True}, "")


def test_lowering_makes_nothing_worse(world: World) -> None:
    both(world, cores=1000)
    assert both(world, cores=999) == ({"success": True}, "")


def test_each_resource_for_itself_with_its_unit(world: World) -> None:
    """ram: capacity 8 GiB."""
    simulated, text = both(world, cores=300, ram=9000)
    assert simulated["warnings"] == [
        TEXT.format(350),
        "the quotas of all domains for compute/ram add up to 9000 MiB, but the capacity is 8192 MiB:"
        " not all of it can be used at the same time",
    ]
    assert text.splitlines()[1:] == simulated["warnings"]


def test_where_no_capacity_is_known_nothing_is_said(world: World) -> None:
    result = request_quotas(world, DOMAIN, {"capacity": 10**6}, service="volume")
    assert (result.status_code, result.text) == (202, "")


@pytest.mark.sql
def test_overcommitted_capacity_counts_as_it_is(make: Callable[..., World]) -> None:
    world = make(behaviors=[BehaviorRule(resource="compute/cores", overcommit_factor=2)])
    assert both(world, cores=352) == ({"success": True}, "")
    assert both(world, cores=353)[0]["warnings"][0].startswith(
        "the quotas of all domains for compute/cores add up to 403"
    )


def test_what_is_refused_carries_no_warning(world: World) -> None:
    before = all_rows(world.engine)
    quotas = {"cores": 1000, "ram": 1}
    assert request_quotas(world, DOMAIN, quotas).status_code == 409
    simulated = request_quotas(world, f"{DOMAIN}/simulate-put", quotas, method="POST")
    assert (simulated.status_code, set(simulated.json)) == (409, {"success", "unacceptable_resources"})
    assert changes(before, all_rows(world.engine)) == {}


@pytest.mark.parametrize("domain", [GERMANY, FRANCE])
def test_explanations(world: World, domain: str) -> None:
    def warnings() -> Any:
        [one] = world.get(f"/v1/domains/{domain}/explain?resource=cores")["explanations"]
        return one.get("warnings")

    assert warnings() is None
    both(world, cores=152)
    assert warnings() == [TEXT.format(202)]


def test_the_explanation_of_a_project_that_has_committed_beyond_its_quota(make: Callable[..., World]) -> None:
    world = make(behaviors=BEHAVIORS)

    def warnings() -> Any:
        [one] = world.get(f"{PATHS['berlin']}/explain?resource=cores")["explanations"]
        return one.get("warnings")

    commit(world, amount=20)
    assert warnings() is None
    commit(world, amount=1)
    assert warnings() == [
        "the project's commitments to compute/cores add up to 21, but its quota is 20:"
        " what is beyond it cannot be used before the quota is raised"
    ]
