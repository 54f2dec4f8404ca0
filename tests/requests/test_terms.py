"""Requests for quota for a time, and requests that expire."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from limes.requests.rules import AutoApprovalRule
from tests.api.world import World
from tests.autogrow.growing import make_growing
from tests.quota.quotas import request_quotas
from tests.quota.temporary import DAY, START, later, set_quota, temporary, use
from tests.requests.quota_requests import PATHS, act, asked, kinds, quota, services, show, status
from tests.support.rows import all_rows, changes


def ask(world: World, where: str, cores: int, token: str = "berlin-admin", **days: float) -> Any:
    """Asks for cores. `until` and `start` are in days from the start."""
    term = {{"start": "from"}.get(name, name): START + int(value * DAY) for name, value in days.items()}
    request = {"services": services(compute={"cores": cores}), "reason": "sale", **term}
    return world.request("POST", f"{PATHS[where]}/quota-requests", token, json={"quota_request": request})


def asked_for(world: World, where: str, cores: int, token: str = "berlin-admin", **days: float) -> int:
    result = ask(world, where, cores, token, **days)
    assert result.status_code == 201, result.text
    return int(result.json["quota_request"]["id"])


@pytest.mark.sql
def test_an_approval_gives_quota_for_a_time(world: World) -> None:
    id_ = asked_for(world, "berlin", 50, until=5)
    found = show(world, "berlin", id_)
    assert (found["until"], "from" in found) == (START + 5 * DAY, False)
    later(world, 1)
    assert act(world, "berlin", id_, "approve", "germany-admin").status_code == 200
    assert temporary(world, "berlin") == {"state": "active", "quota": 50, "quota_before": 20, "from": 1, "until": 5}
    later(world, 5)
    assert (quota(world, "berlin"), temporary(world, "berlin")) == (20, None)
    assert status(world, "berlin", id_) == "approved"
    (first,) = (row for row in world.get(f"{PATHS['berlin']}/history")["history"] if row["old"] == 20)
    assert first["detail"] == f"quota request {id_}; until 2026-01-06 00:00 UTC, then 20"


def test_an_approval_in_part(world: World) -> None:
    id_ = asked_for(world, "berlin", 50, until=5)
    act(world, "berlin", id_, "approve", "germany-admin", services=services(compute={"cores": 30}))
    assert temporary(world, "berlin")["quota"] == 30
    later(world, 5)
    assert quota(world, "berlin") == 20


def test_an_approval_of_a_plan(world: World) -> None:
    id_ = asked_for(world, "berlin", 50, start=3, until=5)
    assert act(world, "berlin", id_, "approve", "germany-admin").status_code == 200
    assert (quota(world, "berlin"), temporary(world, "berlin")["state"]) == (20, "planned")
    later(world, 3)
    assert quota(world, "berlin") == 50
    later(world, 5)
    assert quota(world, "berlin") == 20


def test_a_plan_whose_beginning_has_passed_begins_at_once(world: World) -> None:
    id_ = asked_for(world, "berlin", 50, start=1, until=5)
    later(world, 2)
    assert act(world, "berlin", id_, "approve", "germany-admin").status_code == 200
    assert temporary(world, "berlin") == {"state": "active", "quota": 50, "quota_before": 20, "from": 2, "until": 5}


def test_more_for_good_beside_more_for_a_time(world: World) -> None:
    """A request is about the quota after the temporary one."""
    set_quota(world, "berlin", 50, until=5)
    id_ = asked_for(world, "berlin", 30)
    assert show(world, "berlin", id_)["resources"][0]["present_quota"] == 20
    assert act(world, "berlin", id_, "approve", "germany-admin").status_code == 200
    assert (quota(world, "berlin"), temporary(world, "berlin")["quota_before"]) == (50, 30)
    later(world, 5)
    assert quota(world, "berlin") == 30


def test_another_end(world: World) -> None:
    set_quota(world, "berlin", 50, until=5)
    id_ = asked_for(world, "berlin", 50, until=9)
    assert act(world, "berlin", id_, "approve", "germany-admin").status_code == 200
    assert temporary(world, "berlin")["until"] == 9
    refused = asked_for(world, "berlin", 40, until=12)
    answer = act(world, "berlin", refused, "approve", "germany-admin")
    assert answer.status_code == 409
    assert "there is a temporary quota of 50 until 2026-01-10 00:00 UTC" in answer.text


def test_of_a_domain(world: World) -> None:
    id_ = asked_for(world, "germany", 150, "germany-admin", until=5)
    assert act(world, "germany", id_, "approve", "cloud-admin").status_code == 200
    later(world, 5)
    assert quota(world, "germany") == 100


def test_what_is_passed_on_ends_on_both_levels(world: World) -> None:
    below = asked_for(world, "berlin", 90, start=2, until=5)
    above = act(world, "berlin", below, "pass-on", "germany-admin").json["quota_request"]
    assert (above["until"], "from" in above) == (START + 5 * DAY, False)
    assert act(world, "germany", above["id"], "approve", "cloud-admin").status_code == 200
    assert (quota(world, "germany"), status(world, "berlin", below)) == (120, "approved")
    assert temporary(world, "berlin")["state"] == "planned"
    later(world, 2)
    assert quota(world, "berlin") == 90
    use(world, 1, 25)
    later(world, 5)
    assert (quota(world, "berlin"), quota(world, "germany")) == (25, 100)


def test_rules_approve_for_a_time(make: Callable[..., World]) -> None:
    world = make(auto_approval=[AutoApprovalRule(name="small", resource=re.compile(".*"), up_to_percent=200)])
    asked_for(world, "berlin", 40, until=5)
    assert temporary(world, "berlin")["quota"] == 40
    later(world, 5)
    assert quota(world, "berlin") == 20


def test_terms_that_make_no_sense(world: World) -> None:
    """They are judged as those of PUT."""
    before = all_rows(world.engine)
    result = ask(world, "berlin", 50, until=2, start=3)
    assert (result.status_code, "until has to be after from" in result.text) == (422, True)
    assert changes(before, all_rows(world.engine)) == {}


def test_bounds_of_growth_are_not_for_a_time(make: Callable[..., World]) -> None:
    world = make_growing(make)
    bound = {"services": [{"type": "compute", "resources": [{"name": "cores", "max_quota": 10}]}]}
    world.request("PUT", f"{PATHS['berlin']}/max-quota", json={"project": bound})
    result = ask(world, "berlin", 50, until=5)
    assert result.status_code == 422
    assert "so it cannot be granted for a time; ask for it without until" in result.text
    assert ask(world, "berlin", 50).status_code == 201


# -- expiry ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_stored", [True, False])
def test_its_time_has_passed(world: World, is_stored: bool) -> None:
    """Nobody can decide on it, even before the job has looked."""
    id_ = asked_for(world, "berlin", 50, until=5)
    later(world, 5)
    if is_stored:
        assert world.expire() == 1
        assert status(world, "berlin", id_) == "expired"
        assert kinds(world, "berlin", id_) == ["opened", "expired"]
        last = show(world, "berlin", id_)["conversation"][-1]
        assert last["text"] == "it was for the time until 2026-01-06 00:00 UTC"
        assert last["author"] == {"type": "job", "name": "expire-requests"}
    for verb, document in (("approve", {}), ("reject", {"reason": "no"}), ("withdraw", {})):
        result = act(world, "berlin", id_, verb, "cloud-admin", **document)
        assert (result.status_code, result.text) == (409, f"quota request {id_} is expired, not open\n")
    assert act(world, "berlin", id_, "comments", "cloud-admin", comment="late").status_code == 201
    assert quota(world, "berlin") == 20


@pytest.mark.sql
def test_nobody_has_decided(world: World) -> None:
    old = asked(world, "berlin", compute={"cores": 50})
    later(world, 60)
    young = asked(world, "dresden", "dresden-admin", compute={"cores": 50})
    assert world.expire() == 0
    later(world, 90)
    assert world.expire() == 1
    assert world.expire() == 0
    assert (status(world, "berlin", old), status(world, "dresden", young)) == ("expired", "open")
    assert show(world, "berlin", old)["conversation"][-1]["text"] == "no decision was made in time"
    assert [each["id"] for each in world.get("/v1/quota-requests?status=expired")["quota_requests"]] == [old]


@pytest.mark.sql
def test_what_was_passed_on_goes_with_it(world: World) -> None:
    below = asked_for(world, "berlin", 90, until=5)
    above = act(world, "berlin", below, "pass-on", "germany-admin").json["quota_request"]["id"]
    later(world, 5)
    assert world.expire() == 1
    assert (status(world, "berlin", below), status(world, "germany", above)) == ("expired", "superseded")


def test_a_request_of_the_domain_expires_alone(world: World) -> None:
    """The project's stays open, and its conversation says what has happened."""
    below = asked(world, "berlin", compute={"cores": 90})
    later(world, 1)
    above = act(world, "berlin", below, "pass-on", "germany-admin").json["quota_request"]["id"]
    world.run("UPDATE quota_requests SET created_at = 1 WHERE id = %s", [above])
    assert world.expire() == 1
    assert (status(world, "berlin", below), status(world, "germany", above)) == ("open", "expired")
    assert (
        show(world, "berlin", below)["conversation"][-1]["text"]
        == f"quota request {above} has expired: no decision was made in time"
    )
    assert act(world, "berlin", below, "pass-on", "germany-admin").status_code == 201


def test_a_new_request_after_one_that_expired(world: World) -> None:
    asked_for(world, "berlin", 50, until=5)
    later(world, 5)
    world.expire()
    request_quotas(world, PATHS["berlin"], {"cores": 20})
    assert ask(world, "berlin", 50, until=9).status_code == 201
