"""Quota for a time under many hands: it ends once, never below usage, and nothing is oversold."""

import random
import threading
from collections import Counter
from functools import partial
from typing import Any

import pytest

from limes.db.engine import Engine
from tests.api.world import World, make_world
from tests.concurrency.test_quota import at_once, quotas
from tests.notifications.test_notifications import told
from tests.quota.quotas import request_quotas
from tests.quota.temporary import DAY, START, later, set_quota, temporary, use
from tests.requests.quota_requests import PATHS, quota
from tests.support.databases import LOCK_WAITS, ON_POSTGRESQL
from tests.support.processes import eventually


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, notify_sinks=("log",))


def history(world: World, where: str) -> list[tuple[Any, ...]]:
    """Changes, the oldest first."""
    rows = world.get(f"{PATHS[where]}/history?limit=1000")["history"]
    return [(row["old"], row["new"]) for row in reversed(rows)]


def pass_time(world: World, days: float) -> None:
    world.clock.advance(START + days * DAY - world.clock.now().timestamp())


def waits_for_a_lock(world: World) -> bool:
    with world.engine.connection():
        return bool(world.engine.rows(LOCK_WAITS))


def test_many_collectors_end_it_once(world: World) -> None:
    for round_ in range(5):
        day = 10 * round_ + 1
        set_quota(world, "germany", 150, until=day)
        set_quota(world, "berlin", 60, until=day)
        set_quota(world, "dresden", 50, until=day)
        pass_time(world, day)
        at_once(*[world.settle_temporary] * 8)
        assert [quota(world, where) for where in ("germany", "berlin", "dresden")] == [100, 20, 31]
    assert history(world, "berlin") == 5 * [(20, 60), (60, 20)]
    assert history(world, "germany") == 5 * [(100, 150), (150, 100)]
    ends = Counter((each.get("project") or each["domain"])["name"] for each in told(world))
    assert ends == {"germany": 5, "berlin": 5}, "Dresden still uses 1 more than it had before"


def test_a_put_while_it_ends(world: World) -> None:
    """Whichever comes first: what somebody sets stays, and nothing ends later."""
    for round_ in range(10):
        day = 10 * round_ + 1
        set_quota(world, "berlin", 20)
        set_quota(world, "berlin", 50, until=day)
        pass_time(world, day)
        statuses: list[int] = []
        at_once(
            world.settle_temporary,
            lambda into=statuses: into.append(request_quotas(world, PATHS["berlin"], {"cores": 40}).status_code),
            world.settle_temporary,
        )
        assert statuses == [202]
        assert (quota(world, "berlin"), temporary(world, "berlin")) == (40, None)
        later(world, day + 1)
        assert quota(world, "berlin") == 40


def test_another_end_while_it_ends(world: World) -> None:
    """It was ended, and begins anew; or the other end came first."""
    for round_ in range(10):
        day = 10 * round_ + 1
        set_quota(world, "berlin", 50, until=day)
        pass_time(world, day)
        at_once(world.settle_temporary, lambda day=day: set_quota(world, "berlin", 50, until=day + 5))
        found = temporary(world, "berlin")
        assert (quota(world, "berlin"), found["quota_before"], found["until"]) == (50, 20, day + 5)
        later(world, day + 5)
        assert (quota(world, "berlin"), temporary(world, "berlin")) == (20, None)


@ON_POSTGRESQL  # on SQLite a writer is alone
def test_usage_rises_while_it_ends(world: World) -> None:
    """A scrape has written more usage and not committed it yet: the end waits for it."""
    set_quota(world, "berlin", 50, until=1)
    pass_time(world, 1)
    is_written, may_commit = threading.Event(), threading.Event()

    def scrape() -> None:
        world.engine.execute(
            "UPDATE project_resources SET usage = 44 WHERE project_id = 1"
            " AND resource_id = (SELECT id FROM resources WHERE name = 'cores')"
        )
        is_written.set()
        assert may_commit.wait(200)

    def end() -> None:
        assert is_written.wait(200)
        world.settle_temporary()

    def commit() -> None:
        assert is_written.wait(200)
        eventually("the end waits for the scrape", lambda: waits_for_a_lock(world))
        may_commit.set()

    at_once(lambda: world.engine.atomic(scrape), end, commit)
    assert (quota(world, "berlin"), temporary(world, "berlin")["over_by"]) == (44, 24)


def test_storm(world: World) -> None:
    """Temporary quotas come, are changed and end, while others take quota: never is more given than there is."""
    statuses: list[int] = []
    passed = threading.Lock()

    def client(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(10):
            with passed:
                world.clock.advance(3600)
                days = (world.clock.now().timestamp() - START) / DAY
            where = dice.choice(["germany", "berlin", "dresden"])
            number = dice.randint(90, 150) if where == "germany" else dice.randint(31, 70)
            term: dict[str, Any] = {"until": days + dice.random() * 0.5 + 0.1} if dice.random() < 0.7 else {}
            if term and dice.random() < 0.3:
                term["start"] = days + 0.05
            if not term and dice.random() < 0.5:
                term["keep_until"] = True
            statuses.append(set_quota(world, where, number, **term).status_code)
            use(world, 1, dice.randint(5, 31))

    def watch() -> None:
        domain, projects = world.engine.snapshot(lambda: quotas(world))
        assert projects["cores"] <= domain["cores"]

    collect = world.settle_temporary
    at_once(*[partial(client, seed) for seed in range(8)], meanwhile=[collect, collect, watch])
    assert set(statuses) <= {202, 409, 422}
    assert statuses.count(202) > 10
    use(world, 1, 5)
    use(world, 2, 5)
    days = (world.clock.now().timestamp() - START) / DAY
    for hours in range(1, 60):
        later(world, days + hours / 24)
    assert [temporary(world, where) for where in ("berlin", "dresden")] == [None, None]
    domain, projects = quotas(world)
    assert projects["cores"] <= domain["cores"]
    # where projects were given some of it for good, the domain keeps that much
    rest = temporary(world, "germany")
    assert rest is None or (rest["state"] == "over" and projects["cores"] == domain["cores"])
