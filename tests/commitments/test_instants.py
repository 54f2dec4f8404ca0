"""Commitments at the very second at which something begins or ends, before any job has looked; and after a change of the
configuration."""

from collections.abc import Callable

import pytest

from limes.commitments.settle import settle_commitments
from tests.api.world import World
from tests.commitments.commitments import (
    BEHAVIORS,
    NOW,
    PATHS,
    amounts,
    ask,
    commit,
    cores_from,
    listed,
    offer,
    post,
    take,
)
from tests.quota.quotas import request_quotas

HOUR, DAY = 3600, 86400


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    return make(behaviors=BEHAVIORS)


@pytest.mark.sql
def test_a_guarantee_holds_until_the_very_end(cloud: World) -> None:
    def lower(world: World) -> int:
        return int(request_quotas(world, PATHS["berlin"], {"cores": 9}).status_code)

    commit(cloud, amount=10)
    cloud.clock.advance(HOUR - 1)
    assert [lower(cloud), amounts(cloud)] == [409, [(10, "confirmed")]]
    cloud.clock.advance(1)
    assert [lower(cloud), amounts(cloud)] == [202, []]


@pytest.mark.sql
def test_an_offer_ends_with_the_commitment(cloud: World) -> None:
    made = commit(cloud, amount=10)
    token = offer(cloud, made["id"], 10, status="public").json["commitment"]["transfer_token"]
    header = {"Transfer-Token": token}
    cloud.clock.advance(HOUR - 1)
    assert [commitment["id"] for commitment in cloud.get("/v1/public-commitments")["commitments"]] == [made["id"]]
    assert cloud.request("GET", "/v1/commitments/by-token", headers=header).status_code == 200
    cloud.clock.advance(1)
    assert cloud.get("/v1/public-commitments")["commitments"] == []
    assert cloud.request("GET", "/v1/commitments/by-token", headers=header).status_code == 404
    assert take(cloud, made["id"], token).status_code == 404
    (ended,) = listed(cloud, query="?history")
    assert (ended["status"], "transfer_token" in ended, "transferable" in ended) == ("expired", False, False)


def test_a_duration_that_is_not_on_offer_any_more_is_not_renewed(cloud: World, make: Callable[..., World]) -> None:
    made = commit(cloud, amount=3, duration="1 year")
    later = make(fill=False, behaviors=[BEHAVIORS[0].model_copy(update={"commitment_durations": ("1 hour",)})])
    later.clock.advance(364 * DAY)
    result = post(later, f"{made['id']}/renew")
    text = 'unacceptable commitment duration for this resource, acceptable values: ["1 hour"]\n'
    assert (result.status_code, result.text) == (422, text)
    assert amounts(later) == [(3, "confirmed")]


def test_a_plan_for_all_azs_knows_commitments_of_each(cloud: World, make: Callable[..., World]) -> None:
    """201 cores in all, of which berlin uses 5 and dresden 31."""
    commit(cloud, amount=60)
    later = make(fill=False, behaviors=[BEHAVIORS[0].model_copy(update={"commitment_is_az_aware": False})])
    found = {}
    for amount in (110, 111, 170, 171):
        wanted = {"amount": amount, "duration": "1 year", "availability_zone": "any"}
        plan = ask(later, "berlin", "plan", **wanted).json["plan"]
        found[amount] = (plan.get("confirmable_at"), len(plan["blocked_by"]), plan.get("missing_capacity"))
    assert found == {110: (NOW, 0, None), 111: (NOW + HOUR, 1, None), 170: (NOW + HOUR, 1, None), 171: (None, 1, 1)}


def test_nothing_is_confirmed_before_an_earliest_date_that_was_set_later(
    cloud: World, make: Callable[..., World]
) -> None:
    commit(cloud, amount=10, confirm_by=NOW + 10, duration="1 year")
    later = make(fill=False, behaviors=[cores_from(NOW + 1000, "1 year")])
    for step, status in ((999, "pending"), (1, "confirmed")):
        later.clock.advance(step)
        settle_commitments(later.limes)
        assert amounts(later) == [(10, status)]
