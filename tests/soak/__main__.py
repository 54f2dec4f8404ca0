"""`make soak`: half an hour of scrapes, quota, commitments, allocations and reports, with a kill every minute.

Prints what clients saw, memory, and the state of the tables. The last line is how many acknowledged changes were lost,
or sold twice. `--minutes` and `--every` (seconds between kills) make it shorter or longer; it ends when each thing was
killed once, at the earliest.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.backend import fake_backend
from tests.faults.house import DOMAIN, PROJECTS
from tests.faults.load import Users
from tests.setup.needs import POSTGRESQL
from tests.soak.buyers import Buyer, check_not_oversold
from tests.soak.cloud import CAPACITY, FAULTS, SoakCloud
from tests.soak.figures import Memory, print_tables, table_sizes
from tests.soak.schedulers import Scheduler, check_rows, make_providers
from tests.soak.tally import Tally
from tests.support.machine import must_stop
from tests.support.postgres_cluster import postgres_cluster

_REPORTS = (
    "/v1/clusters/current",
    "/v1/domains",
    f"/v1/domains/{DOMAIN}/projects",
    "/v1/inconsistencies",
    "/v1/commitments",
)


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--every", type=float, default=60, help="seconds between kills")
    options = parser.parse_args()
    if (code := must_stop(POSTGRESQL)) is not None:
        return code
    tally = Tally()
    threading.excepthook = lambda failure: tally.surprises.append(repr(failure.exc_value))
    with postgres_cluster() as cluster, fake_backend() as backend, tempfile.TemporaryDirectory() as folder:
        cloud = SoakCloud(Path(folder), cluster, backend, tally)
        try:
            cloud.start()
            soak(cloud, options.minutes * 60, options.every)
        finally:
            cloud.stop()
    for text in (*tally.surprises[:20], *tally.lost[:20]):
        print(text)
    print(f"answers that nobody should see: {len(tally.surprises)}")
    print(f"lost: {len(tally.lost)}")
    return 1 if tally.lost or tally.surprises else 0


def soak(cloud: SoakCloud, seconds: float, every: float) -> None:
    """Everybody works for at least so many seconds; then everything is compared with what they were told."""
    cloud.set_up_quota()
    make_providers(cloud)
    before = table_sizes(cloud)
    buyers = [Buyer(cloud, project) for project in PROJECTS[:4]]
    schedulers = [Scheduler(cloud) for _ in range(3)]
    users = Users(cloud)
    over = threading.Event()
    works: list[Callable[[threading.Event], None]] = [each.work for each in (*buyers, *schedulers)]
    threads = [threading.Thread(target=work, args=[over]) for work in works]
    threads.append(threading.Thread(target=_read_reports, args=[cloud, over]))
    memory = Memory(cloud)
    cloud.tally.samples.clear()
    cloud.tally.began = time.monotonic()
    with users.at_work(2):
        for thread in threads:
            thread.start()
        took = _kill_in_turn(cloud, memory, seconds, every)
        over.set()
        for thread in threads:
            thread.join(300)
            if thread.is_alive():
                cloud.tally.lost.append("a client that never ended")
    cloud.tally.print(took)
    print(f"killed: {', '.join(f'{name} {times} times' for name, times in cloud.kills.items())}")
    memory.print()
    print_tables(cloud, before)
    _compare(cloud, users, buyers, schedulers)


def _read_reports(cloud: SoakCloud, over: threading.Event) -> None:
    while not over.is_set():
        for path in _REPORTS:
            cloud.ask(f"GET {path.replace(DOMAIN, 'ID')}", "GET", path)
            over.wait(0.1)


def _kill_in_turn(cloud: SoakCloud, memory: Memory, seconds: float, every: float) -> float:
    """Until the time is over, and each thing was killed once. Nothing is killed shortly before the end, so that the last
    answers are ordinary ones. Returns how many seconds it took."""
    began, turn, last, rest = time.monotonic(), 0, 0.0, min(every, 10) / 2
    while (now := time.monotonic() - began) < max(seconds, last + rest) or turn < len(FAULTS):
        memory.sample(now)
        if now >= (turn + 1) * every and (turn < len(FAULTS) or now < seconds - rest):
            cloud.kill_something(turn)
            turn, last = turn + 1, time.monotonic() - began
        time.sleep(min(2.0, every / 4))
    return now


def _compare(cloud: SoakCloud, users: Users, buyers: list[Buyer], schedulers: list[Scheduler]) -> None:
    """What must be true in the end: each acknowledged change is there, and nothing is sold twice."""
    for check in (users.check_nothing_is_lost, cloud.check_recovery):
        try:
            check()
        except AssertionError as error:
            cloud.tally.lost.append(f"{check.__name__}: {error}")
    check_not_oversold(buyers)
    for scheduler in schedulers:
        scheduler.check()
    check_rows(cloud, schedulers)
    print(
        f"\nin the end: {sum(sum(each.held.values()) for each in buyers)} of {CAPACITY} cores are committed,", end=" "
    )
    print(f"{sum(len(each.held) for each in schedulers)} consumers have allocations, {users.accepted} quotas were set")


if __name__ == "__main__":
    sys.exit(main())
