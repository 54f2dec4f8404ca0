"""Deleting commitments: those that are not confirmed, and mistakes, for a while."""

from collections.abc import Callable

import pytest

from limes.commitments.rules import CommitmentRules
from tests.api.world import World
from tests.commitments.commitments import BEHAVIORS, NOW, YEAR_2027, amounts, commit, delete, events, offer, post
from tests.support.rows import all_rows, changes


@pytest.fixture
def cloud(make: Callable[..., World]) -> World:
    return make(behaviors=BEHAVIORS)


def test_only_unconfirmed_ones_are_deleted(cloud: World) -> None:
    confirmed, planned = commit(cloud, amount=1), commit(cloud, amount=2, confirm_by=YEAR_2027)
    before = all_rows(cloud.engine)
    result = delete(cloud, confirmed["id"])
    assert (result.status_code, result.text) == (
        403,
        "only unconfirmed commitments can be deleted, and this one is confirmed\n",
    )
    assert changes(before, all_rows(cloud.engine)) == {}
    for project, number in (("dresden", planned["id"]), ("berlin", 4711), ("berlin", "x"), ("berlin", 10**30)):
        result = delete(cloud, number, project=project)
        assert (result.status_code, result.text) == (404, "no such commitment\n")
    result = delete(cloud, planned["id"])
    assert (result.status_code, result.text) == (204, "")
    tables = set(changes(before, all_rows(cloud.engine)))
    assert tables == {"project_commitments", "commitment_events", "commitment_event_counter"}
    assert amounts(cloud) == [(1, "confirmed")]
    assert events(cloud)[-1] == ("deleted", 2)


def test_a_mistake_is_taken_back(make: Callable[..., World]) -> None:
    world = make(behaviors=BEHAVIORS, commitment_rules=CommitmentRules(self_delete_grace=60))
    one, two = commit(world, amount=60), commit(world, amount=9)
    commit(world, "dresden", amount=61, confirm_by=NOW + 1)
    world.clock.advance(59)
    assert delete(world, one["id"], "berlin-member").status_code == 403
    assert delete(world, one["id"], "berlin-admin").status_code == 204
    assert amounts(world, "dresden") == [(61, "confirmed")]  # it has waited for just this
    world.clock.advance(1)
    assert delete(world, two["id"], "berlin-admin").status_code == 403
    planned = commit(world, amount=2, confirm_by=YEAR_2027)
    world.clock.advance(60)
    result = delete(world, planned["id"], "berlin-admin")
    assert (result.status_code, result.text) == (403, "commitments can only be taken back for 60 seconds\n")


def test_a_renewal_is_taken_back_but_not_what_was_made_of_others(make: Callable[..., World]) -> None:
    world = make(behaviors=BEHAVIORS, commitment_rules=CommitmentRules(self_delete_grace=60))
    old = commit(world, amount=10)
    world.clock.advance(60)
    renewed = post(world, f"{old['id']}/renew", token="berlin-admin").json["commitment"]
    world.clock.advance(59)
    assert delete(world, renewed["id"], "berlin-admin").status_code == 204
    part = offer(world, old["id"], 4).json["commitment"]
    assert delete(world, part["id"], "berlin-admin").status_code == 403
    assert amounts(world) == [(4, "confirmed"), (6, "confirmed")]
