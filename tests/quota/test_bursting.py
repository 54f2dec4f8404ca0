"""Switching bursting on and off."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.catalog.catalog import BehaviorRule
from tests.api.world import BERLIN, DRESDEN, GERMANY, World
from tests.support.rows import all_rows, changes

BERLIN_PATH = f"/v1/domains/{GERMANY}/projects/{BERLIN}"
DRESDEN_PATH = f"/v1/domains/{GERMANY}/projects/{DRESDEN}"


def switch(
    world: World, path: str, enabled: bool, token: str = "cloud-admin", simulate: bool = False, **more: Any
) -> tuple[Any, dict[str, tuple[list[Any], list[Any]]]]:
    before = all_rows(world.engine)
    method, path = ("POST", f"{path}/simulate-put") if simulate else ("PUT", path)
    result = world.request(method, path, token, json={"project": {"bursting": {"enabled": enabled}, **more}})
    return result, changes(before, all_rows(world.engine))


@pytest.fixture
def bursting(make: Callable[..., World]) -> World:
    return make(burst_multiplier=0.2, behaviors=[BehaviorRule(resource="volume/.*", max_burst_multiplier=0)])


@pytest.mark.sql
def test_on_and_off(bursting: World) -> None:
    result, changed = switch(bursting, BERLIN_PATH, True, "berlin-admin")
    assert (result.status_code, result.text) == (202, "")
    assert changed["projects"][1][0][-1]
    assert len(changed["project_services"][1]) == 2, "the backends of both services have to be told"
    assert set(changed) == {"projects", "project_services", "quota_history"}
    assert bursting.pushed == [(1, ("compute", "volume"))]
    cores, _, _ = bursting.get(BERLIN_PATH)["project"]["services"][0]["resources"]
    assert (cores["quota"], cores["usable_quota"]) == (20, 24)
    capacity = bursting.get(BERLIN_PATH)["project"]["services"][1]["resources"][0]
    assert capacity["usable_quota"] == capacity["quota"] == 10, "this resource does not burst"
    result, changed = switch(bursting, BERLIN_PATH, False)
    assert (result.status_code, set(changed)) == (202, {"projects", "quota_history"}), (
        "the clock stands still, so the marks are the same"
    )


def test_the_same_value_changes_nothing(bursting: World) -> None:
    result, changed = switch(bursting, BERLIN_PATH, False)
    assert (result.status_code, changed, bursting.pushed) == (202, {}, [])


@pytest.mark.sql
def test_off_is_refused_while_something_is_bursted(bursting: World) -> None:
    assert switch(bursting, DRESDEN_PATH, True)[0].status_code == 202
    for simulate in (False, True):
        result, changed = switch(bursting, DRESDEN_PATH, False, simulate=simulate)
        assert (result.status_code, result.text) == (
            409,
            "cannot disable bursting because 1 resource is currently bursted: compute/cores\n",
        )
        assert changed == {}


def test_simulation(bursting: World) -> None:
    result, changed = switch(bursting, BERLIN_PATH, True, simulate=True)
    assert (result.status_code, result.json, changed) == (200, {"success": True}, {})


def test_not_together_with_quotas(bursting: World) -> None:
    services = [{"type": "compute", "resources": [{"name": "cores", "quota": 21}]}]
    result, changed = switch(bursting, BERLIN_PATH, True, services=services)
    assert (result.status_code, changed) == (400, {})
    assert result.text == "it is currently not allowed to set bursting.enabled and quotas in the same request\n"
    for nothing in ([], None):
        assert switch(bursting, BERLIN_PATH, True, services=nothing)[0].status_code == 202, "that is no quota"


def test_what_left_the_configuration_does_not_hold_it(bursting: World) -> None:
    assert switch(bursting, DRESDEN_PATH, True)[0].status_code == 202
    bursting.run("UPDATE resources SET name = 'gone' WHERE name = 'cores'")
    assert switch(bursting, DRESDEN_PATH, False)[0].status_code == 202


def test_not_without_bursting_in_the_cluster(world: World) -> None:
    result, changed = switch(world, BERLIN_PATH, True)
    assert (result.status_code, result.text, changed) == (400, "bursting is not available for this cluster\n", {})
