"""The clock of a collector's machine jumps, forwards and backwards."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.house import FaultHouse, eventually, longer
from tests.faults.load import Users
from tests.setup.needs import FAKETIME
from tests.support.machine import require
from tests.support.postgres_cluster import PostgresCluster
from tests.support.processes import ServerProcess


def wait_for_lines(process: ServerProcess, text: str, count: int) -> None:
    eventually(f"{text} {count} times", lambda: process.log_text().count(text) >= count)


@longer
@pytest.mark.parametrize("jump", ["+3600", "-3600"])
def test_a_clock_jumps(
    make_house: Callable[..., FaultHouse],
    cluster: PostgresCluster,
    jump: str,
    rounds: int,
    report: Callable[..., None],
    tmp_path: Path,
) -> None:
    library, clock = require(FAKETIME), tmp_path / "clock"
    clock.write_text("+0")
    house = make_house(cluster.url("postgres"))
    house.start(collectors=1)
    moved = house.add_collector(
        LD_PRELOAD=str(library),
        FAKETIME_TIMESTAMP_FILE=str(clock),
        FAKETIME_NO_CACHE="1",
        FAKETIME_DONT_FAKE_MONOTONIC="1",
    )
    house.set_up_quota()
    with Users(house).at_work() as users:
        for number in range(1, rounds + 1):
            clock.write_text(jump)
            wait_for_lines(moved, "no task is started until", number)
            before = house.backend.count("GET", "compute")
            eventually("others go on", lambda before=before: house.backend.count("GET", "compute") >= before + 20)
            clock.write_text("+0")
            wait_for_lines(moved, "agree again", number)
            time.sleep(0.5)
    users.check_nothing_is_lost()
    assert users.failed == 0
    house.check_recovery()
    # and now it does the work alone
    house.collectors[0].stop()
    house.check_recovery()
    report(jumps=2 * rounds, seconds_of_jump=jump, accepted=users.accepted)
