"""Which commitments are confirmed at once: the earliest date, what is left of the capacity, and who waits for it."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.catalog.catalog import BehaviorRule
from tests.api.world import World
from tests.commitments.commitments import BEHAVIORS, NOW, YEAR_2027, amounts, ask, commit, cores_from, listed
from tests.support.rows import all_rows, changes


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    return make(behaviors=BEHAVIORS)


def test_the_earliest_date(make: Callable[..., World]) -> None:
    world = make(behaviors=[cores_from(YEAR_2027)])
    text = "this commitment needs a `confirm_by` timestamp at or after 2027-01-01T00:00:00Z\n"
    for fields in ({}, {"confirm_by": YEAR_2027 - 1}):
        result = ask(world, "berlin", "new", **fields)
        assert (result.status_code, result.text) == (422, text)
    assert ask(world, "berlin", "can-confirm").json["result"] is False
    waiting = commit(world, confirm_by=YEAR_2027)
    world.clock.advance(YEAR_2027 - NOW - 1)
    assert ask(world, "berlin", "can-confirm").json["result"] is False
    assert ask(world, "berlin", "new").status_code == 422
    world.clock.advance(1)  # from that very second on
    assert ask(world, "berlin", "can-confirm").json["result"] is True
    assert commit(world)["status"] == "confirmed"
    assert listed(world)[0] == {**waiting, "status": "confirmed", "confirmed_at": YEAR_2027}


def test_can_confirm_says_what_new_does(cloud: World) -> None:
    """az-one has 100: dresden uses 31, so 69 are left for berlin, whose own usage of 2 is covered by a commitment."""
    before = all_rows(cloud.engine)
    assert ask(cloud, "berlin", "can-confirm", amount=69).json["result"] is True
    assert ask(cloud, "berlin", "can-confirm", amount=70).json["result"] is False
    assert ask(cloud, "dresden", "can-confirm", amount=98).json["result"] is True
    result = ask(cloud, "berlin", "can-confirm", amount=1, confirm_by=YEAR_2027)
    assert (result.status_code, result.text[:31]) == (422, "confirm_by must not be set here")
    assert changes(before, all_rows(cloud.engine)) == {}
    commit(cloud, amount=69)
    assert ask(cloud, "berlin", "can-confirm", amount=1).json["result"] is False
    assert ask(cloud, "dresden", "new", amount=32).status_code == 409
    commit(cloud, "dresden", amount=31)


def test_overcommit_counts(make: Callable[..., World]) -> None:
    world = make(behaviors=[*BEHAVIORS, BehaviorRule(resource="compute/cores", overcommit_factor=1.5)])
    assert ask(world, "berlin", "can-confirm", amount=119).json["result"] is True
    assert ask(world, "berlin", "can-confirm", amount=120).json["result"] is False


def test_a_resource_without_capacity_cannot_be_confirmed(cloud: World) -> None:
    fields = {"service_type": "volume", "resource_name": "capacity", "duration": "1 year", "amount": 1}
    assert ask(cloud, "berlin", "can-confirm", **fields).json["result"] is False
    assert ask(cloud, "berlin", "new", **fields).status_code == 409


@pytest.mark.sql
def test_what_has_expired_frees_its_capacity_at_once(cloud: World) -> None:
    commit(cloud, amount=69)
    cloud.clock.advance(3599)
    assert ask(cloud, "berlin", "can-confirm", amount=1).json["result"] is False
    cloud.clock.advance(1)
    assert ask(cloud, "berlin", "can-confirm", amount=69).json["result"] is True


@pytest.mark.sql
def test_those_that_wait_come_first(cloud: World) -> None:
    """A new commitment does not take what a pending one can have."""
    commit(cloud, amount=60)
    commit(cloud, "dresden", amount=60, confirm_by=NOW + 10)
    cloud.clock.advance(3600)
    assert ask(cloud, "berlin", "can-confirm", amount=60).json["result"] is False
    assert ask(cloud, "berlin", "new", amount=60).status_code == 409
    commit(cloud, amount=40)
    assert amounts(cloud, "dresden") == [(60, "confirmed")]
    confirmed = listed(cloud, "dresden")[0]
    assert (confirmed["confirmed_at"], confirmed["expires_at"]) == (NOW + 3600, NOW + 3610)  # the end does not move


def test_a_refusal_says_why_and_what_would_work(cloud: World) -> None:
    refused = "not enough capacity available for immediate confirmation"
    never = f"{refused}; 69 could be confirmed now; for all of it, capacity for 1 is missing in the foreseeable future"

    def verdict(amount: int) -> Any:
        return {**ask(cloud, "berlin", "can-confirm", amount=amount).json, "warnings": []}

    assert verdict(70) == {"result": False, "reason": never, "confirmable_now": 69, "warnings": []}
    assert ask(cloud, "berlin", "new", amount=70).text == f"{never}\n"
    taken = commit(cloud, "dresden", amount=41, duration="1 hour")  # 10 more than dresden uses
    later = (
        f"{refused}; 59 could be confirmed now; all of it from 2026-01-01T01:00:00Z on, as far as can be foreseen:"
        " ask for it with that time as confirm_by"
    )
    answer = verdict(65)
    assert (answer["reason"], answer["confirmable_now"], answer["confirmable_at"]) == (later, 59, taken["expires_at"])
    assert ask(cloud, "berlin", "new", amount=65).text == f"{later}\n"
    assert ask(cloud, "berlin", "new", amount=65, confirm_by=answer["confirmable_at"]).status_code == 201
    assert verdict(1) == {"result": True, "warnings": []}


def test_a_plan_for_later_names_nothing_that_is_not_in_its_way(cloud: World) -> None:
    commit(cloud, "dresden", amount=41, duration="1 hour")
    commit(cloud, amount=5, duration="1 hour")
    later = {"confirm_by": NOW + 86400}
    assert ask(cloud, "berlin", "plan", amount=50, **later).json["plan"]["blocked_by"] == []
    blockers = ask(cloud, "berlin", "plan", amount=65, **later).json["plan"]["blocked_by"]
    assert [each["amount"] for each in blockers] == [41, 5]
