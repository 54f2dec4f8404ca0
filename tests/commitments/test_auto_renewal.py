"""Commitments that renew themselves."""

from typing import Any

import pytest

from limes.commitments.settle import renew_and_settle, settle_commitments
from tests.api.world import World
from tests.commitments.commitments import NOW, PATHS, amounts, ask, commit, listed, offer, take

DAY = 86400
YEAR = 365 * DAY


def switch(world: World, id_: int, on: object, project: str = "berlin", token: str = "cloud-admin") -> Any:
    path = f"{PATHS[project]}/commitments/{id_}"
    return world.request("PUT", path, token, json={"commitment": {"auto_renew": on}})


def run_job(world: World) -> None:
    renew_and_settle(world.limes)


def renewing(world: World, project: str = "berlin") -> list[tuple[int, str, bool]]:
    """Amount, status, and whether it renews itself."""
    return [(each["amount"], each["status"], each.get("auto_renew", False)) for each in listed(world, project)]


@pytest.mark.sql
def test_it_is_renewed_28_days_before_its_end(cloud: World) -> None:
    made = commit(cloud, duration="1 year", auto_renew=True)
    assert made["auto_renew"] is True
    cloud.clock.advance(YEAR - 28 * DAY - 1)
    run_job(cloud)
    assert renewing(cloud) == [(10, "confirmed", True)]
    cloud.clock.advance(1)
    run_job(cloud)
    run_job(cloud)
    assert renewing(cloud) == [(10, "confirmed", False), (10, "planned", True)]
    renewal = listed(cloud)[1]
    assert (renewal["confirm_by"], renewal["expires_at"]) == (made["expires_at"], NOW + 2 * YEAR)
    cloud.clock.advance(28 * DAY)
    run_job(cloud)
    assert renewing(cloud) == [(10, "confirmed", True)]
    cloud.clock.advance(YEAR)
    run_job(cloud)
    assert renewing(cloud) == [(10, "confirmed", True)]


def test_a_short_one_is_renewed_after_half_of_its_time(cloud: World) -> None:
    commit(cloud, auto_renew=True)
    cloud.clock.advance(1799)
    run_job(cloud)
    assert amounts(cloud) == [(10, "confirmed")]
    cloud.clock.advance(1)
    run_job(cloud)
    assert amounts(cloud) == [(10, "confirmed"), (10, "planned")]


def test_it_is_switched_on_and_off(cloud: World) -> None:
    made = commit(cloud, duration="1 year")
    assert "auto_renew" not in made
    answer = switch(cloud, made["id"], True)
    assert (answer.status_code, answer.json["commitment"]) == (200, {**made, "auto_renew": True})
    assert switch(cloud, made["id"], True).status_code == 200
    assert switch(cloud, made["id"], False).json["commitment"] == made
    cloud.clock.advance(YEAR - DAY)
    run_job(cloud)
    assert amounts(cloud) == [(10, "confirmed")]
    events = [each["event"] for each in cloud.get("/v1/commitments")["events"]]
    assert events == ["created", "auto_renewal_changed", "auto_renewal_changed"]


def test_what_was_renewed_by_hand(cloud: World) -> None:
    made = commit(cloud, duration="1 year", auto_renew=True)
    cloud.clock.advance(YEAR - 80 * DAY)
    path = f"{PATHS['berlin']}/commitments/{made['id']}/renew"
    renewal = cloud.request("POST", path, json={}).json["commitment"]
    assert renewing(cloud) == [(10, "confirmed", False), (10, "planned", True)]
    cloud.clock.advance(60 * DAY)
    run_job(cloud)
    assert renewing(cloud) == [(10, "confirmed", False), (10, "planned", True)]
    text = f"commitment {made['id']} was already renewed, as commitment {renewal['id']}, which inherits auto_renew"
    for on in (True, False):
        answer = switch(cloud, made["id"], on)
        assert (answer.status_code, answer.text) == (409, f"{text}: change that one\n")
    assert switch(cloud, renewal["id"], False).status_code == 200
    assert renewing(cloud) == [(10, "confirmed", False), (10, "planned", False)]


def test_it_is_renewed_late_if_no_collector_ran(cloud: World) -> None:
    commit(cloud, duration="1 year", auto_renew=True)
    cloud.clock.advance(YEAR + DAY)
    settle_commitments(cloud.limes)
    assert renewing(cloud) == [(10, "confirmed", True)]
    assert listed(cloud)[0]["expires_at"] == NOW + 2 * YEAR


@pytest.mark.sql
def test_the_late_one_waits_if_others_have_the_capacity(cloud: World) -> None:
    commit(cloud, duration="1 year", amount=60, auto_renew=True)
    other = ask(cloud, "dresden", "new", duration="1 year", amount=60, confirm_by=NOW + 20 * DAY)
    assert other.status_code == 201
    cloud.clock.advance(YEAR + 10)
    settle_commitments(cloud.limes)
    assert renewing(cloud) == [(60, "pending", True)]
    assert amounts(cloud, "dresden") == [(60, "confirmed")]


def test_nothing_follows_one_that_ended_too_long_ago(cloud: World) -> None:
    commit(cloud, auto_renew=True)
    cloud.clock.advance(3 * 3600)
    settle_commitments(cloud.limes)
    assert amounts(cloud) == []


def test_one_that_was_never_confirmed_is_not_renewed(cloud: World) -> None:
    commit(cloud, "dresden", duration="1 year", amount=60)
    waiting = commit(cloud, duration="1 year", amount=60, confirm_by=NOW + 10, auto_renew=True)
    cloud.clock.advance(waiting["expires_at"] - NOW - 20)
    run_job(cloud)
    cloud.clock.advance(40)
    run_job(cloud)
    assert [each for each in amounts(cloud) if each[1] == "planned"] == []


def test_what_keeps_it_from_being_renewed(cloud: World) -> None:
    """It is tried again with each run, and works as soon as it can."""
    made = commit(cloud, duration="1 year", auto_renew=True)
    offer(cloud, made["id"], 10)
    cloud.clock.advance(YEAR - DAY)
    run_job(cloud)
    text = f"commitment {made['id']} is marked for transfer; withdraw that first"
    assert listed(cloud)[0]["auto_renew_error"] == text
    assert cloud.get("/v1/expiring-commitments")["total"] == 1
    assert offer(cloud, made["id"], 10, status="").status_code == 202
    run_job(cloud)
    assert renewing(cloud) == [(10, "confirmed", False), (10, "planned", True)]
    assert "auto_renew_error" not in listed(cloud)[0]


def test_parts_go_on_renewing_themselves_but_not_in_another_project(cloud: World) -> None:
    made = commit(cloud, duration="1 year", auto_renew=True)
    part = offer(cloud, made["id"], 4).json["commitment"]
    assert renewing(cloud) == [(4, "confirmed", True), (6, "confirmed", True)]
    assert take(cloud, part["id"], part["transfer_token"]).status_code == 202
    assert renewing(cloud, "dresden") == [(4, "confirmed", False)]
    cloud.clock.advance(YEAR - DAY)
    run_job(cloud)
    assert renewing(cloud) == [(6, "confirmed", False), (6, "planned", True)]
    assert renewing(cloud, "dresden") == [(4, "confirmed", False)]


@pytest.mark.parametrize("body", [{}, {"commitment": {}}, {"commitment": {"auto_renew": "yes"}}])
def test_bad_bodies(cloud: World, body: dict[str, Any]) -> None:
    made = commit(cloud, duration="1 year")
    answer = cloud.request("PUT", f"{PATHS['berlin']}/commitments/{made['id']}", json=body)
    assert answer.status_code == 400
    assert "commitment" in answer.text


def test_who_may_not(cloud: World) -> None:
    made = commit(cloud, duration="1 year")
    assert switch(cloud, made["id"], True, "dresden").status_code == 404
    assert switch(cloud, 4711, True).status_code == 404
    for token in ("berlin-member", "france-admin"):
        assert switch(cloud, made["id"], True, token=token).status_code in (403, 404)
    assert renewing(cloud) == [(10, "confirmed", False)]


def test_what_renews_itself_does_not_expire_soon(cloud: World) -> None:
    made = commit(cloud, duration="1 year", auto_renew=True)
    cloud.clock.advance(YEAR - 60 * DAY)
    assert cloud.get("/v1/expiring-commitments?days=90")["total"] == 0
    (figures,) = cloud.get("/v1/commitment-summary?days=90&resource=cores")["commitment_summary"]
    assert figures["expiring"] == 0
    assert switch(cloud, made["id"], False).status_code == 200
    assert cloud.get("/v1/expiring-commitments?days=90")["total"] == 1
