"""Many clients commit at once: capacity is never oversold, one key makes one commitment, and no event is missed."""

import functools
import random
from typing import Any

import pytest

from limes.commitments.settle import settle_commitments
from limes.db.engine import Engine
from tests.api.world import World, make_world
from tests.commitments.commitments import BEHAVIORS, ask, commit, listed, offer, take
from tests.concurrency.test_quota import CLIENTS, at_once

CLAIMED = """
    SELECT SUM(CASE WHEN COALESCE(c.amount, 0) > COALESCE(u.usage, 0) THEN c.amount ELSE u.usage END) FROM projects p
      LEFT JOIN (SELECT project_id, SUM(amount) AS amount FROM project_commitments
                  WHERE status = 'confirmed' AND az = 'az-one' GROUP BY project_id) c ON c.project_id = p.id
      LEFT JOIN (SELECT az.project_id, SUM(az.usage) AS usage FROM project_az_resources az
                   JOIN resources r ON r.id = az.resource_id WHERE r.name = 'cores' AND az.az = 'az-one'
                  GROUP BY az.project_id) u ON u.project_id = p.id
"""
CAPACITY = 100


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, behaviors=BEHAVIORS)


def claimed(world: World) -> Any:
    with world.engine.connection():
        return world.engine.rows(CLAIMED)[0][0] or 0


def test_two_that_fit_only_alone(world: World) -> None:
    """69 cores are left for both projects together. The original confirmed both."""
    for round_ in range(8):
        statuses: list[int] = []
        at_once(
            lambda found=statuses: found.append(ask(world, "berlin", "new", amount=40).status_code),
            lambda found=statuses: found.append(ask(world, "dresden", "new", amount=65).status_code),
        )
        assert sorted(statuses) == [201, 409], round_
        assert claimed(world) <= CAPACITY
        world.clock.advance(3600)


def test_storm(world: World) -> None:
    """16 clients commit, split, transfer and merge; a watcher never sees more claimed than there is."""
    statuses: list[int] = []

    def client(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(8):
            project, other = dice.sample(["berlin", "dresden"], 2)
            deed = dice.random()
            if deed < 0.5:
                statuses.append(ask(world, project, "new", amount=dice.randint(1, 12)).status_code)
            elif deed < 0.6:
                fields = {"amount": dice.randint(1, 12), "confirm_by": int(world.clock.now().timestamp())}
                statuses.append(ask(world, project, "new", **fields).status_code)
            elif deed < 0.7:
                settle_commitments(world.limes)
            else:
                own = [one for one in listed(world, project) if one["status"] == "confirmed"]
                if own:
                    chosen = dice.choice(own)
                    offered = offer(world, chosen["id"], dice.randint(1, chosen["amount"]), project)
                    statuses.append(offered.status_code)
                    if offered.status_code == 202:
                        shown = offered.json["commitment"]
                        statuses.append(take(world, shown["id"], shown["transfer_token"], other).status_code)

    def watch() -> None:
        assert world.engine.snapshot(lambda: claimed(world)) <= CAPACITY

    at_once(*[functools.partial(client, seed) for seed in range(CLIENTS)], meanwhile=[watch])
    assert set(statuses) <= {201, 202, 404, 409}
    assert statuses.count(201) >= 5
    made = world.get("/v1/commitments?limit=10000")["events"]
    assert [one["number"] for one in made] == list(range(1, len(made) + 1))
    alive = sum(one["amount"] for project in ("berlin", "dresden") for one in listed(world, project))
    created = sum(one["commitment"]["amount"] for one in made if one["event"] == "created")
    superseded = sum(one["commitment"]["amount"] for one in made if one["event"] == "superseded")
    assert created - superseded == alive


def test_one_key_makes_one_commitment(world: World) -> None:
    found: list[tuple[int, int]] = []

    def client() -> None:
        result = ask(world, "berlin", "new", amount=1, headers={"Idempotency-Key": "the-order"})
        found.append((result.status_code, result.json["commitment"]["id"]))

    at_once(*[client] * CLIENTS)
    assert len(set(found)) == 1
    assert found[0][0] == 201
    assert len(listed(world)) == 1


def test_whoever_follows_the_events_misses_none(world: World) -> None:
    """Commits come in another order than they began, and the reader reads all the time."""
    seen: list[int] = []
    since = 0

    def read() -> None:
        nonlocal since
        found = world.get(f"/v1/commitments?since={since}")
        seen.extend(one["commitment"]["id"] for one in found["events"])
        since = found["next"]

    def client(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(5):
            if dice.random() < 0.5:
                commit(world, amount=1, confirm_by=1800000000)
            else:
                ram = {"resource_name": "ram", "availability_zone": "any", "duration": "1 year"}
                commit(world, "dresden", amount=1, confirm_by=1800000000, **ram)

    at_once(*[functools.partial(client, seed) for seed in range(CLIENTS)], meanwhile=[read])
    with world.engine.connection():
        stored = [row[0] for row in world.engine.rows("SELECT id FROM project_commitments ORDER BY id")]
    assert sorted(seen) == stored
    assert len(stored) == 5 * CLIENTS
