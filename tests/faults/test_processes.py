"""Processes are killed in the middle of what they do."""

import contextlib
import os
import random
import signal
from collections.abc import Callable

from tests.faults.house import LEASE, FaultHouse, eventually, longer
from tests.faults.load import Users
from tests.support.processes import children_of


@longer
def test_many_collectors_do_each_task_once(house: FaultHouse, rounds: int, report: Callable[..., None]) -> None:
    """No fault at all: the measure for the others."""
    house.backend.delay = 0.02
    house.add_collector()
    before = len(house.backend.calls)
    eventually("all is scraped again and again", lambda: len(house.backend.calls) >= before + 60 * rounds)
    scrapes = len(house.backend.calls)
    assert house.backend.scraped_at_once() == []
    house.check_recovery()
    report(scrapes=scrapes, at_once=0)


def test_collectors_are_killed(house: FaultHouse, rounds: int, report: Callable[..., None]) -> None:
    house.backend.delay = 0.1
    with Users(house).at_work() as users:
        for _ in range(rounds):
            before = len(house.backend.calls), users.accepted
            eventually(
                "they work", lambda before=before: len(house.backend.calls) >= before[0] + random.randrange(5, 50)
            )
            eventually("so do users", lambda before=before: users.accepted > before[1] + 5)
            victim = house.collectors.pop(0)
            victim.signal(signal.SIGKILL)
            victim.stop()
            house.add_collector()
    users.check_nothing_is_lost()
    house.check_recovery()
    report(kills=rounds, accepted=users.accepted, failed=users.failed, calls=len(house.backend.calls))


@longer
def test_all_collectors_are_killed_and_their_tasks_taken_over(
    house: FaultHouse, rounds: int, report: Callable[..., None]
) -> None:
    taken = 0
    for _ in range(rounds):
        house.backend.hanging = {"compute", "volume"}
        claimed = "SELECT COUNT(*) FROM project_services WHERE scrape_claimed_until IS NOT NULL"
        eventually("a collector waits", lambda: house.backend.waiting)
        for victim in house.collectors:
            victim.signal(signal.SIGKILL)
            victim.stop()
        ((left_behind,),) = house.rows(claimed)
        assert left_behind > 0
        taken += left_behind
        house.collectors.clear()
        house.backend.hanging = set()
        house.add_collector()
        house.check_recovery()
    report(kills=2 * rounds, taken_over=taken, lease=LEASE)


@longer
def test_workers_of_the_api_are_killed(house: FaultHouse, rounds: int, report: Callable[..., None]) -> None:
    house.backend.delay = 0.05
    assert house.api is not None
    with Users(house).at_work(8) as users:
        for _ in range(rounds):
            before = users.accepted
            eventually("they work", lambda before=before: users.accepted >= before + random.randrange(5, 50))
            workers = children_of(house.api.pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(random.choice(workers), signal.SIGKILL)
        before = users.accepted
        eventually("it works again", lambda: users.accepted >= before + 20)
    users.check_nothing_is_lost()
    house.check_recovery()
    report(kills=rounds, accepted=users.accepted, failed=users.failed)
