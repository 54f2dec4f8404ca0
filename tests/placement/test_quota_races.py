"""The first limit of a project, set while somebody writes allocations who has found no limit yet."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from limes.db.engine import Engine
from limes.placement.objects import allocation_write, quota
from limes.placement.objects.allocation import Claim, Ownership
from tests.placement.world import World, uuid_of

Q = "/quotas/project"
PATIENCE = 100.0

pytestmark = pytest.mark.parametrize(  # on SQLite a writer is alone
    "databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


def wait_until_done_or_held_up(engine: Engine, request: Future[Any], held_up: int) -> None:
    """Until the request is through, or else as many as `held_up` wait for the table of limits."""
    sql = (
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'placement_project_quotas'::regclass"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    deadline = time.monotonic() + PATIENCE
    while not request.done() and engine.rows(sql) != [(held_up,)]:
        assert time.monotonic() < deadline, "neither done nor waiting"
        time.sleep(0.01)


def test_a_first_limit_counts_what_is_just_being_written(world: World) -> None:
    world.provider("a", VCPU=80)
    world.provider("b", VCPU=80)
    written, may_commit = threading.Event(), threading.Event()

    def slow_writer() -> None:
        owner = Ownership(uuid_of("c"), "project", "user", "INSTANCE")

        def work() -> None:
            allocation_write.replace(world.engine, [Claim(owner, None, {uuid_of("a"): {"VCPU": 5}})], 0.0)
            written.set()
            assert may_commit.wait(PATIENCE)

        world.engine.atomic(work)

    all_read = threading.Barrier(4)

    def read_limits() -> None:
        """What is prepared when it has to wait reads an older state than what is prepared just then."""
        world.engine.atomic(lambda: (quota.lock(world.engine, {"other"}), all_read.wait(PATIENCE)))

    with ThreadPoolExecutor(4) as pool:
        for reader in [pool.submit(read_limits) for _ in range(4)]:
            reader.result()
        slow = pool.submit(slow_writer)
        assert written.wait(PATIENCE)
        limiting = pool.submit(world.call, "PUT", Q, {"quotas": {"VCPU": {"limit": 6}}})
        wait_until_done_or_held_up(world.engine, limiting, 1)
        late = pool.submit(world.allocate, "d", None, b={"VCPU": 5})
        wait_until_done_or_held_up(world.engine, late, 2)
        may_commit.set()
        slow.result()
        assert limiting.result().status_code == 200, limiting.result().text
        assert late.result().status_code == 409, late.result().text
    assert world.ok("GET", Q) == {"quotas": {"VCPU": {"limit": 6, "used": 5}}}
