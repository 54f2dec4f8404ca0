"""Preset sizes of quota: listed, set by one word, and asked for by one word."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.quota.rules import QuotaSet
from tests.api.world import World
from tests.autogrow.growing import make_growing
from tests.quota.quotas import put
from tests.requests.quota_requests import PATHS, quota, services, show

CORES, RAM, CAPACITY = ("compute", "cores"), ("compute", "ram"), ("volume", "capacity")
SETS = {
    "small": QuotaSet("small", "to try things out", {CORES: 10, CAPACITY: 20}),
    "medium": QuotaSet("medium", "", {CORES: 40, RAM: 1024, CAPACITY: 30}),
}


@pytest.fixture
def sized(make: Callable[..., World]) -> World:
    world = make(quota_sets=SETS)
    assert set_of(world, "germany", services=services(volume={"capacity": 100})).status_code == 202
    return world


def set_of(world: World, where: str, **scope: Any) -> Any:
    level = "project" if "/projects/" in PATHS[where] else "domain"
    return put(world, PATHS[where], {level: scope})[0]


def ask(world: World, where: str = "berlin", token: str = "berlin-admin", **wanted: Any) -> Any:
    document = {"quota_request": {"reason": "launch", **wanted}}
    return world.request("POST", f"{PATHS[where]}/quota-requests", token, json=document)


def wanted_of(result: Any) -> dict[str, tuple[int, int]]:
    assert result.status_code == 201, result.text
    return {
        row["resource"]: (row["present_quota"], row["wanted_quota"])
        for row in result.json["quota_request"]["resources"]
    }


def test_they_are_listed_with_the_resources(sized: World) -> None:
    sets = sized.get("/v1/resources")["quota_sets"]
    assert [(each["name"], each["description"]) for each in sets] == [("small", "to try things out"), ("medium", "")]
    assert sets[1]["services"] == [
        {
            "type": "compute",
            "resources": [{"name": "cores", "quota": 40}, {"name": "ram", "quota": 1024, "unit": "MiB"}],
        },
        {"type": "volume", "resources": [{"name": "capacity", "quota": 30, "unit": "GiB"}]},
    ]
    (small, medium) = sized.get("/v1/resources?service=volume")["quota_sets"]
    assert [service["type"] for service in (*small["services"], *medium["services"])] == ["volume", "volume"]


def test_there_may_be_none(world: World) -> None:
    assert world.get("/v1/resources")["quota_sets"] == []
    result = set_of(world, "berlin", quota_set="medium")
    assert (result.status_code, result.text) == (422, "there is no quota set 'medium': this cloud has none\n")


@pytest.mark.parametrize("where", ["berlin", "germany"])
def test_one_word_sets_them_all(sized: World, where: str) -> None:
    """It is the size and not a minimum: what is more than that is lowered."""
    sets = {"berlin": "small", "germany": "medium"}
    if where == "germany":
        assert set_of(sized, "berlin", services=services(compute={"cores": 5, "ram": 600})).status_code == 202
        assert set_of(sized, "dresden", services=services(compute={"cores": 31})).status_code == 202
    result = set_of(sized, where, quota_set=sets[where])
    assert result.status_code == 202, result.text
    for (_, resource), amount in SETS[sets[where]].quotas.items():
        assert quota(sized, where, resource) == amount


def test_what_is_named_besides_wins(sized: World) -> None:
    result = set_of(sized, "berlin", quota_set="small", services=services(compute={"cores": 12, "ram": 2048}))
    assert result.status_code == 202, result.text
    assert [quota(sized, "berlin", name) for name in ("cores", "ram", "capacity")] == [12, 2048, 20]


def test_what_does_not_fit_refuses_all_of_it(sized: World) -> None:
    result = set_of(sized, "berlin", quota_set="medium", services=services(compute={"cores": 200}))
    assert result.status_code == 409
    assert result.text.startswith("cannot change compute/cores quota: domain quota exceeded")
    assert quota(sized, "berlin") == 20


@pytest.mark.parametrize(("where", "level"), [("berlin", "project"), ("germany", "domain")])
def test_simulating(sized: World, where: str, level: str) -> None:
    path = f"{PATHS[where]}/simulate-put"
    document = {level: {"quota_set": "medium", "services": services(compute={"cores": 5000})}}
    answer = sized.request("POST", path, "germany-admin", json=document)
    assert next(each["resource_name"] for each in answer.json["unacceptable_resources"]) == "cores"
    unknown = sized.request("POST", path, json={level: {"quota_set": "XL"}})
    known = "there is no quota set 'XL': the quota sets of this cloud are small, medium\n"
    assert (unknown.status_code, unknown.text) == (422, known)


def test_not_together_with_bursting(make: Callable[..., World]) -> None:
    world = make(quota_sets=SETS, burst_multiplier=0.2)
    result = set_of(world, "berlin", quota_set="small", bursting={"enabled": True})
    assert (result.status_code, quota(world, "berlin")) == (400, 20)


def test_a_request_asks_for_what_is_missing(sized: World) -> None:
    """berlin has 1024 MiB of RAM already, and 10 GiB of capacity."""
    assert wanted_of(ask(sized, quota_set="medium")) == {"cores": (20, 40), "capacity": (10, 30)}
    again = ask(sized, quota_set="medium", services=services(compute={"cores": 50, "ram": 2048}))
    assert wanted_of(again) == {"cores": (20, 50), "ram": (1024, 2048), "capacity": (10, 30)}
    number = again.json["quota_request"]["id"]
    approved = sized.request("POST", f"{PATHS['berlin']}/quota-requests/{number}/approve", "germany-admin", json={})
    assert approved.status_code == 200, approved.text
    assert show(sized, "berlin", number)["status"] == "approved"
    assert [quota(sized, "berlin", name) for name in ("cores", "ram", "capacity")] == [50, 2048, 30]


def test_a_domain_asks_for_a_set(make: Callable[..., World]) -> None:
    sets = {"large": QuotaSet("large", "", {CORES: 500, RAM: 1})}
    assert wanted_of(ask(make(quota_sets=sets), "germany", "germany-admin", quota_set="large")) == {"cores": (100, 500)}


def test_requests_that_ask_for_nothing(make: Callable[..., World]) -> None:
    world = make(quota_sets={"tiny": QuotaSet("tiny", "", {CORES: 20})})
    result = ask(world, quota_set="tiny")
    assert (result.status_code, "nothing to ask for" in result.text) == (422, True)
    result = ask(world, quota_set="tiny", services=services(compute={"cores": 20}))
    assert (result.status_code, "lowering needs no request" in result.text) == (422, True)
    assert ask(world, quota_set="tinny").status_code == 422
    assert ask(world).status_code == 422
    assert ask(world, quota_set=5).status_code == 400


def test_quota_that_grows_by_itself(make: Callable[..., World]) -> None:
    """PUT refuses it as ever; a request asks for it as ever."""
    world = make_growing(make, quota_sets={"medium": QuotaSet("medium", "", {CORES: 40, RAM: 2048})})
    result = set_of(world, "berlin", quota_set="medium")
    assert result.status_code == 409
    assert "cannot change compute/cores quota: it follows usage" in result.text
    made = ask(world, quota_set="medium")
    assert made.status_code == 201, made.text
    assert {row["resource"]: row["what"] for row in made.json["quota_request"]["resources"]}["cores"] == "min_quota"
