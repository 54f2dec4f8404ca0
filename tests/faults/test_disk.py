"""The disk below a SQLite file is full, as far as the processes can tell."""

import resource
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.house import FaultHouse, eventually
from tests.faults.load import Users
from tests.support.processes import children_of

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
FULL = (8192, resource.RLIM_INFINITY)
"""Nobody writes beyond this place in any file, so no transaction fits into the write-ahead log."""


def limit_files(house: FaultHouse, limit: tuple[int, int]) -> None:
    assert house.api is not None
    for process in (house.api, *house.collectors):
        for pid in (process.pid, *children_of(process.pid)):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limit)


def test_the_disk_is_full(
    make_house: Callable[..., FaultHouse], tmp_path: Path, rounds: int, report: Callable[..., None]
) -> None:
    house = make_house(f"sqlite:///{tmp_path / 'limes.db'}")
    house.start(collectors=1)
    house.set_up_quota()
    with Users(house).at_work() as users:
        for _ in range(rounds):
            time.sleep(0.5)
            failed = users.failed
            limit_files(house, FULL)
            eventually("requests fail", lambda failed=failed: users.failed > failed + 3)
            limit_files(house, UNLIMITED)
            accepted = users.accepted
            eventually("requests succeed", lambda accepted=accepted: users.accepted > accepted + 3)
    users.check_nothing_is_lost()
    house.check_recovery()
    assert house.rows("PRAGMA integrity_check") == [("ok",)]
    report(times_full=rounds, accepted=users.accepted, failed=users.failed)
