"""Workers and the database are killed while sixteen clients write: what was acknowledged is there, and all of it."""

import contextlib
import itertools
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg2
import pytest
import requests

from limes.errors import Unavailable
from tests.concurrency.placement_fleet import CLIENTS, Fleet, at_once, running_fleet
from tests.placement.world import claim, uuid_of
from tests.support.postgres import PostgresServer, postgres_server

DISASTERS = 6
PLENTY = 10**8


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server of this test's own, which it may crash."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def fleet(own_postgres: PostgresServer, tmp_path: Path) -> Iterator[Fleet]:
    name = own_postgres.create_database()
    # a commit has to have left the process that may be killed
    own_postgres.execute(f"ALTER DATABASE {name} SET synchronous_commit = on")
    with running_fleet(own_postgres.url(name), tmp_path) as fleet:
        for provider in ("a", "b"):
            fleet.provider(provider, VCPU=PLENTY, DISK_GB=PLENTY)
        yield fleet


def children_of(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in found.stdout.split()]


def master_of(fleet: Fleet) -> int:
    for one in children_of(os.getpid()):
        command = Path(f"/proc/{one}/cmdline").read_bytes()
        if b"tests.placement.server" in command:
            return one
    raise AssertionError(f"no server found: {fleet.log.read_text()[-2000:]}")


def kill_a_worker(fleet: Fleet) -> None:
    workers = children_of(master_of(fleet))
    if workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(workers[0], signal.SIGKILL)


def backends(server: PostgresServer) -> list[int]:
    try:
        connection = psycopg2.connect(server.url("postgres"), connect_timeout=5)
        with contextlib.closing(connection), connection.cursor() as cursor:
            cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname LIKE 'test%'")
            return [row[0] for row in cursor.fetchall()]
    except psycopg2.Error:
        return []


def end_connections(server: PostgresServer, number: signal.Signals) -> None:
    """SIGTERM ends them; one SIGKILL makes the whole server recover from a crash."""
    for pid in backends(server)[: 1 if number == signal.SIGKILL else None]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Writer:
    """Writes one consumer a call, over two providers and two classes, and remembers what was acknowledged."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.acknowledged: set[str] = set()
        self.failed = 0

    def write(self, number: int) -> None:
        name = f"c{number}"
        body = claim(None, a={"VCPU": 1, "DISK_GB": 2}, b={"VCPU": 3, "DISK_GB": 4})
        try:
            answer = self.fleet.call("PUT", f"/allocations/{uuid_of(name)}", body)
        except requests.RequestException:
            self.failed += 1
            return
        if answer.status_code == 204:
            self.acknowledged.add(uuid_of(name))
        else:
            assert answer.status_code == 503, answer.text
            self.failed += 1


def run_with_disasters(fleet: Fleet, disaster: Callable[[], None], every: float) -> Writer:
    """Lets all clients write until the disaster has struck some times, `every` so many seconds."""
    writer = Writer(fleet)
    numbers = itertools.count()
    over = threading.Event()

    def destroy() -> None:
        for _ in range(DISASTERS):
            over.wait(every)
            disaster()
        over.set()

    def write_on(_: int) -> None:
        while not over.is_set():
            writer.write(next(numbers))

    thread = threading.Thread(target=destroy)
    thread.start()
    try:
        at_once(write_on, CLIENTS)
    finally:
        thread.join()
    return writer


def wait_for(answers: Callable[[], bool]) -> None:
    """Until the database has recovered, and a worker has noticed."""
    for _ in range(100):
        with contextlib.suppress(requests.RequestException, Unavailable):
            if answers():
                return
        time.sleep(0.2)
    raise AssertionError("no recovery within 20 seconds")


def check(fleet: Fleet, writer: Writer) -> None:
    fleet.engine.close()
    wait_for(lambda: fleet.engine.ping() is None)
    wait_for(lambda: fleet.call("GET", "/resource_providers").status_code == 200)
    with fleet.engine.connection():
        rows = fleet.engine.rows(
            "SELECT c.uuid, c.generation, COUNT(*), SUM(a.used) FROM placement_consumers c"
            " JOIN placement_allocations a ON a.consumer_id = c.id GROUP BY c.uuid, c.generation"
        )
    assert writer.acknowledged <= {row[0] for row in rows}
    assert {row[1:] for row in rows} <= {(1, 4, 10)}
    assert writer.acknowledged
    assert writer.failed
    fleet.check_invariants()
    usages = {name: fleet.usages(name) for name in ("a", "b")}
    assert usages == {
        "a": {"VCPU": len(rows), "DISK_GB": 2 * len(rows)},
        "b": {"VCPU": 3 * len(rows), "DISK_GB": 4 * len(rows)},
    }


def test_workers_are_killed(fleet: Fleet):
    writer = run_with_disasters(fleet, lambda: kill_a_worker(fleet), 0.4)
    check(fleet, writer)


def test_connections_to_the_database_are_ended(fleet: Fleet, own_postgres: PostgresServer):
    writer = run_with_disasters(fleet, lambda: end_connections(own_postgres, signal.SIGTERM), 0.2)
    check(fleet, writer)


def test_the_database_crashes_and_recovers(fleet: Fleet, own_postgres: PostgresServer):
    writer = run_with_disasters(fleet, lambda: end_connections(own_postgres, signal.SIGKILL), 1.0)
    check(fleet, writer)
