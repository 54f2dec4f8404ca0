"""Merge, renew, change of duration, conversion and planning over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest

from limes.catalog.catalog import BehaviorRule
from limes.commitments.rules import CommitmentRules
from limes.commitments.settle import settle_commitments
from tests.api.world import World
from tests.commitments.commitments import (
    BEHAVIORS,
    CORES,
    NOW,
    amounts,
    ask,
    commit,
    cores_from,
    delete,
    events,
    listed,
    listed_with_deadlines,
    offer,
    post,
    take,
    wish,
    with_volumes,
)
from tests.support.rows import all_rows, changes

DAY = 86400
VOLUME = {"service_type": "volume", "resource_name": "capacity", "duration": "1 year"}
RULES = CommitmentRules(conversions=({("compute", "cores"): 4, ("volume", "capacity"): 6, ("compute", "gpus"): 1},))


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    return with_volumes(make(behaviors=BEHAVIORS, commitment_rules=RULES))


def renewable(world: World) -> list[int]:
    """The numbers of Berlin's commitments that are shown as renewable."""
    return [commitment["id"] for commitment in listed_with_deadlines(world) if "renewable_from" in commitment]


def refused(world: World, what: str, document: dict[Any, Any], status: int, text: str, project: str = "berlin") -> None:
    before = all_rows(world.engine)
    result = post(world, what, document, project)
    assert (result.status_code, result.text) == (status, text + "\n")
    assert changes(before, all_rows(world.engine)) == {}


def renewed_as(commitment: dict[str, Any], renewal: dict[str, Any]) -> str:
    return f"commitment {commitment['id']} was already renewed, as commitment {renewal['id']}"


@pytest.mark.sql
def test_merge(cloud: World) -> None:
    first, second = commit(cloud, amount=3), commit(cloud, amount=4, duration="1 year")
    result = post(cloud, "merge", {"commitment_ids": [first["id"], second["id"], first["id"]]})
    assert result.status_code == 202
    merged = result.json["commitment"]
    assert (merged["amount"], merged["duration"], merged["expires_at"]) == (7, "1 year", second["expires_at"])
    assert listed(cloud) == [merged]
    assert events(cloud)[-3:] == [("superseded", 3), ("superseded", 4), ("created", 7)]
    assert ask(cloud, "berlin", "can-confirm", amount=62).json["result"] is True
    assert ask(cloud, "berlin", "can-confirm", amount=63).json["result"] is False


def test_what_is_not_merged(cloud: World) -> None:
    first, second = commit(cloud, amount=3), commit(cloud, amount=4, availability_zone="az-two")
    other = commit(cloud, "dresden", amount=1)
    both = "all commitments must be for the same resource and availability zone to merge"
    refused(cloud, "merge", {"commitment_ids": [first["id"], second["id"]]}, 409, both)
    refused(cloud, "merge", {"commitment_ids": [first["id"], other["id"]]}, 404, "no such commitment")
    refused(cloud, "merge", {"commitment_ids": [first["id"], -1]}, 404, "no such commitment")
    few = "at least two different commitments are needed to merge"
    refused(cloud, "merge", {"commitment_ids": [first["id"]]}, 422, few)
    refused(cloud, "merge", {"commitment_ids": []}, 422, few)


def test_what_was_renewed_is_not_merged(cloud: World) -> None:
    """The merged one has one predecessor only: with it, it could be renewed again, or never."""
    first = commit(cloud, amount=3, duration="1 year")
    cloud.clock.advance(DAY)
    second = commit(cloud, amount=4, duration="1 year")
    cloud.clock.advance(300 * DAY)
    renewal = post(cloud, f"{first['id']}/renew", {}).json["commitment"]
    both = {"commitment_ids": [first["id"], second["id"]]}
    text = f"{renewed_as(first, renewal)}, so it cannot be merged"
    refused(cloud, "merge", both, 409, text)
    assert delete(cloud, renewal["id"]).status_code == 204
    assert post(cloud, "merge", both).json["commitment"]["amount"] == 7


def test_renewal_begins_when_the_old_one_ends(cloud: World) -> None:
    old = commit(cloud, amount=60, duration="1 year")
    early = f"it is too early to renew commitment {old['id']}: possible from 2026-10-03T00:00:00+00:00"
    refused(cloud, f"{old['id']}/renew", {}, 409, early)
    cloud.clock.advance(300 * DAY)
    result = post(cloud, f"{old['id']}/renew", {})
    assert result.status_code == 202
    new = result.json["commitment"]
    assert (new["status"], new["amount"], new["confirm_by"]) == ("planned", 60, old["expires_at"])
    assert new["expires_at"] == old["expires_at"] + 365 * DAY
    refused(cloud, f"{old['id']}/renew", {}, 409, renewed_as(old, new))
    planned = f"commitment {new['id']} is planned; only confirmed ones can be renewed"
    refused(cloud, f"{new['id']}/renew", {}, 409, planned)
    cloud.clock.advance(65 * DAY)
    assert ask(cloud, "dresden", "new", amount=41).status_code == 409  # the renewed one comes first
    commit(cloud, "dresden", amount=40)
    assert amounts(cloud) == [(60, "confirmed")]


def test_a_renewal_that_was_converted_is_still_one(cloud: World) -> None:
    old = commit(cloud, amount=4, duration="1 year")
    cloud.clock.advance(300 * DAY)
    renewed = post(cloud, f"{old['id']}/renew", {}).json["commitment"]
    converted = post(cloud, f"{renewed['id']}/convert", wish(3, 2))
    assert converted.status_code == 202, converted.text
    refused(cloud, f"{old['id']}/renew", {}, 409, renewed_as(old, converted.json["commitment"]))
    for commitment in listed(cloud):
        if commitment["status"] == "planned":
            assert delete(cloud, commitment["id"]).status_code == 204
    assert post(cloud, f"{old['id']}/renew", {}).status_code == 202


def test_parts_of_what_was_renewed_are_not_renewed_again(cloud: World) -> None:
    old = commit(cloud, amount=60, duration="1 year")
    cloud.clock.advance(300 * DAY)
    renewed = post(cloud, f"{old['id']}/renew", {}).json["commitment"]
    part = offer(cloud, old["id"], 20).json["commitment"]
    (rest,) = (commitment for commitment in listed(cloud) if commitment["amount"] == 40)
    refused(cloud, f"{rest['id']}/renew", {}, 409, renewed_as(rest, renewed))
    assert renewable(cloud) == []
    assert take(cloud, part["id"], part["transfer_token"]).status_code == 202
    # whoever has got a part may go on with it
    again = post(cloud, f"{part['id']}/renew", {}, "dresden").json["commitment"]
    assert again["amount"] == 20
    refused(cloud, f"{part['id']}/renew", {}, 409, renewed_as(part, again), "dresden")
    cloud.clock.advance(365 * DAY)
    assert post(cloud, f"{renewed['id']}/renew", {}).status_code == 202  # a new year, a new renewal
    assert amounts(cloud) == [(60, "confirmed"), (60, "planned")]


@pytest.mark.sql
def test_a_renewal_is_known_for_as_long_as_what_was_renewed(cloud: World) -> None:
    old = commit(cloud, amount=60, duration="1 year")
    cloud.clock.advance(276 * DAY)
    renewed = post(cloud, f"{old['id']}/renew", {}).json["commitment"]
    offer(cloud, old["id"], 20)
    cloud.clock.advance(cloud.limes.settings.commitments.retention + DAY)
    settle_commitments(cloud.limes)
    (rest,) = (commitment for commitment in listed(cloud) if commitment["amount"] == 40)
    refused(cloud, f"{rest['id']}/renew", {}, 409, renewed_as(rest, renewed))
    cloud.clock.advance(2 * 366 * DAY)  # all of it has ended: the old one goes after what was made of it
    settle_commitments(cloud.limes)
    cloud.clock.advance(cloud.limes.settings.commitments.retention + DAY)
    settle_commitments(cloud.limes)
    assert cloud.engine.rows("SELECT id FROM project_commitments") == []


def test_each_part_is_renewed_by_itself(cloud: World) -> None:
    old = commit(cloud, amount=54, duration="1 year")
    converted = post(cloud, f"{old['id']}/convert", wish(18, 12)).json["commitment"]
    (rest,) = (commitment for commitment in listed(cloud) if commitment["amount"] == 36)
    cloud.clock.advance(300 * DAY)
    first = post(cloud, f"{converted['id']}/renew", {}).json["commitment"]
    assert renewable(cloud) == [rest["id"]]
    renewed = post(cloud, f"{rest['id']}/renew", {})
    assert (renewed.status_code, renewed.json["commitment"]["amount"]) == (202, 36)
    for part, renewal in ((converted, first), (rest, renewed.json["commitment"])):
        refused(cloud, f"{part['id']}/renew", {}, 409, renewed_as(part, renewal))


def test_a_longer_duration(cloud: World) -> None:
    made = commit(cloud, amount=3)
    cloud.clock.advance(1800)
    result = post(cloud, f"{made['id']}/update-duration", {"duration": "1 year"})
    assert result.status_code == 200
    assert result.json["commitment"] == {**made, "duration": "1 year", "expires_at": NOW + 365 * DAY}
    assert events(cloud)[-1] == ("duration_changed", 3)
    earlier = 'a duration of "1 hour" would end the commitment earlier; it may only end later'
    refused(cloud, f"{made['id']}/update-duration", {"duration": "60 minutes"}, 422, earlier)
    unknown = 'unacceptable commitment duration for this resource, acceptable values: ["1 hour","1 year"]'
    refused(cloud, f"{made['id']}/update-duration", {"duration": "7 years"}, 422, unknown)
    refused(cloud, "4711/update-duration", {"duration": "1 year"}, 404, "no such commitment")


def test_what_was_renewed_is_not_prolonged(cloud: World) -> None:
    """Both would hold in the second year. The renewal can last longer instead."""
    old = commit(cloud, duration="1 year", service_type="compute", resource_name="ram", availability_zone="any")
    cloud.clock.advance(300 * DAY)
    new = post(cloud, f"{old['id']}/renew", {}).json["commitment"]
    text = f"{renewed_as(old, new)}: change the duration of that one"
    refused(cloud, f"{old['id']}/update-duration", {"duration": "2 years"}, 409, text)
    unchanged = post(cloud, f"{old['id']}/update-duration", {"duration": "1 year"})
    assert (unchanged.status_code, unchanged.json["commitment"]["expires_at"]) == (200, old["expires_at"])
    longer = post(cloud, f"{new['id']}/update-duration", {"duration": "2 years"})
    assert (longer.status_code, longer.json["commitment"]["expires_at"]) == (200, NOW + 3 * 365 * DAY + DAY)
    assert delete(cloud, new["id"]).status_code == 204
    assert post(cloud, f"{old['id']}/update-duration", {"duration": "2 years"}).status_code == 200


@pytest.mark.sql
def test_renewals_count_months_from_the_first_begin(make: Callable[..., World]) -> None:
    """Not from the end of February."""
    behaviors = [BehaviorRule(resource="compute/cores", commitment_durations=("1 month",))]
    world = make(behaviors=behaviors, commitment_rules=RULES)
    world.clock.advance(30 * DAY)
    made, ends = commit(world, duration="1 month", availability_zone="any", amount=1, auto_renew=True), []
    for _ in range(4):
        ends.append((made["expires_at"] - NOW) // DAY)
        world.clock.advance(made["expires_at"] - world.clock.now().timestamp())
        settle_commitments(world.limes)
        (made,) = listed(world)
    assert ends == [58, 89, 119, 150]  # 28 February, 31 March, 30 April, 31 May


@pytest.mark.sql
def test_conversion(cloud: World) -> None:
    """Two cores are worth 8/6 of a volume's unit: 3 cores become 2."""
    rates = cloud.get("/v1/commitment-conversion/compute/cores", "berlin-member")
    assert rates == {"conversions": [wish(3, 2)["commitment"]]}
    made = commit(cloud, amount=10, duration="1 year")
    result = post(cloud, f"{made['id']}/convert", wish(6, 4))
    assert result.status_code == 202
    shown = result.json["commitment"]
    assert (shown["resource_name"], shown["amount"], shown["unit"]) == ("capacity", 4, "GiB")
    assert (shown["status"], shown["expires_at"]) == ("confirmed", made["expires_at"])
    assert [(each["resource_name"], each["amount"]) for each in listed(cloud)] == [("capacity", 4), ("cores", 4)]
    assert ask(cloud, "berlin", "can-confirm", amount=65).json["result"] is True
    assert ask(cloud, "berlin", "can-confirm", amount=66).json["result"] is False
    # 3 are in use in `any`
    assert ask(cloud, "berlin", "can-confirm", **{**VOLUME, "amount": 13}).json["result"] is True
    assert ask(cloud, "berlin", "can-confirm", **{**VOLUME, "amount": 14}).json["result"] is False


def test_a_conversion_frees_capacity_for_those_that_wait(cloud: World) -> None:
    old = commit(cloud, amount=54, duration="1 year")
    commit(cloud, "dresden", amount=67, duration="1 year", confirm_by=NOW + 1)
    cloud.clock.advance(1)
    part = post(cloud, f"{old['id']}/convert", wish(18, 12)).json["commitment"]
    assert (part["amount"], part["status"]) == (12, "confirmed")
    assert amounts(cloud, "dresden") == [(67, "pending")]  # 36 + 67 are more than the 100 that there are
    (rest,) = (commitment for commitment in listed(cloud) if commitment["amount"] == 36)
    assert post(cloud, f"{rest['id']}/convert", wish(3, 2)).status_code == 202
    assert amounts(cloud, "dresden") == [(67, "confirmed")]
    assert events(cloud)[-1] == ("confirmed", 67)


def test_a_conversion_begins_now(cloud: World, make: Callable[..., World]) -> None:
    """So it is the present that has to be after the earliest date of the target, not the begin of what is converted."""
    made = commit(cloud, amount=6, duration="1 year")
    rule = BehaviorRule(resource="volume/capacity", commitment_min_confirm_date=float(NOW + 1000))
    later = make(fill=False, behaviors=[*BEHAVIORS, rule], commitment_rules=RULES)
    later.clock.advance(999)
    too_early = "this commitment needs a `confirm_by` timestamp at or after 2026-01-01T00:16:40Z"
    refused(later, f"{made['id']}/convert", wish(6, 4), 422, too_early)
    later.clock.advance(1)
    assert post(later, f"{made['id']}/convert", wish(6, 4)).status_code == 202


def test_what_is_not_converted(cloud: World) -> None:
    made, short = commit(cloud, amount=60, duration="1 year"), commit(cloud, amount=3)
    path = f"{made['id']}/convert"
    refused(cloud, path, wish(4, 2), 422, "the amount to convert must be a multiple of 3")
    refused(cloud, path, wish(6, 5), 422, "target_amount must be 4 for a source_amount of 6")
    refused(cloud, path, wish(63, 42), 422, "the amount to convert must be between 1 and 60")
    refused(cloud, path, wish(0, 0), 422, "amount of committed resource must be greater than zero")
    nothing = "commitments of compute/cores cannot be converted to compute/ram"
    refused(cloud, path, wish(6, 4, "ram", "compute"), 422, nothing)
    refused(cloud, path, wish(6, 4, "moon"), 422, "no such resource")
    disabled = "commitments are not enabled for this resource"
    refused(cloud, path, wish(1, 4, "gpus", "compute"), 422, disabled)
    no_room = "not enough capacity available to confirm the converted commitment"
    refused(cloud, path, wish(33, 22), 409, no_room)
    duration = 'unacceptable commitment duration for this resource, acceptable values: ["1 year"]'
    refused(cloud, f"{short['id']}/convert", wish(3, 2), 422, duration)


def test_plan(cloud: World) -> None:
    def plan(**fields: int) -> Any:
        return post(cloud, "plan", {"commitment": {**CORES, **fields}}).json["plan"]

    assert plan(amount=69) == {"confirmable_now": 69, "confirmable_at": NOW, "blocked_by": []}
    assert plan(amount=70) == {"confirmable_now": 69, "missing_capacity": 1, "blocked_by": []}
    commit(cloud, "dresden", amount=80)
    commit(cloud, "dresden", amount=10, duration="1 year")
    blocked = [{"availability_zone": "az-one", "amount": 80, "expires_at": NOW + 3600}]
    assert plan(amount=50) == {"confirmable_now": 10, "confirmable_at": NOW + 3600, "blocked_by": blocked}
    assert plan(amount=50, confirm_by=NOW + 9000)["confirmable_at"] == NOW + 9000
    commit(cloud, "dresden", amount=50, confirm_by=NOW + 3600)  # it waits already, so it comes first
    later = plan(amount=60)
    assert (later["confirmable_at"], len(later["blocked_by"])) == (NOW + 7200, 2)
    assert later["blocked_by"][1] == {"availability_zone": "az-one", "amount": 50, "expires_at": NOW + 7200}
    assert post(cloud, "plan", {"commitment": {**CORES, "amount": 0}}).status_code == 422


def test_plan_knows_the_earliest_date(make: Callable[..., World]) -> None:
    world = make(behaviors=[cores_from(NOW + DAY)])
    assert post(world, "plan", {"commitment": CORES}).json["plan"]["confirmable_at"] == NOW + DAY
