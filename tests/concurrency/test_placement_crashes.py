"""Workers and the database are killed while sixteen clients write: what was acknowledged is there, and all of it."""

import contextlib
import itertools
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg2
import pytest
import requests

from limes.db.engine import Engine
from limes.kernel.errors import Unavailable
from limes.kernel.system import SystemClock
from limes.placement.index import ProviderIndex
from limes.placement.migrations import placement_migrations
from limes.placement.objects import resource_provider
from tests.concurrency.placement_fleet import CLIENTS, Fleet, at_once, running_fleet
from tests.placement.conformance.servers import empty_database
from tests.placement.world import claim, uuid_of
from tests.setup.needs import POSTGRESQL
from tests.support.levels import few_of
from tests.support.machine import require
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.processes import children_of, eventually

pytestmark = pytest.mark.postgresql
DISASTERS = pytest.mark.parametrize("disasters", few_of([2, 6], 1))
WRITES = 30
"""What has to be acknowledged before the next disaster."""
PLENTY = 10**8


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server of this test's own, which it may crash."""
    require(POSTGRESQL)
    with postgres_server() as server:
        yield server


def durable_database(server: PostgresServer) -> str:
    """The URL of a new database whose commits have left the process that may be killed."""
    name = server.create_database()
    server.execute(f"ALTER DATABASE {name} SET synchronous_commit = on")
    return server.url(name)


@pytest.fixture(scope="module")
def crashing_postgres() -> Iterator[PostgresServer]:
    """A server that the tests of this file may crash. Nobody but the fleet is connected to it afterwards."""
    require(POSTGRESQL)
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="module")
def fleet_that_recovers(crashing_postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with running_fleet(durable_database(crashing_postgres), tmp_path_factory.mktemp("fleet")) as fleet:
        yield fleet


@pytest.fixture
def fleet(fleet_that_recovers: Fleet) -> Fleet:
    fleet = fleet_that_recovers
    empty_database(fleet.database_url)
    for provider in ("a", "b"):
        fleet.provider(provider, VCPU=PLENTY, DISK_GB=PLENTY)
    return fleet


def master_of(fleet: Fleet) -> int:
    for one in children_of(os.getpid()):
        with contextlib.suppress(OSError):  # such as `ps` itself, which has ended
            if b"tests.placement.server" in Path(f"/proc/{one}/cmdline").read_bytes():
                return one
    raise AssertionError(f"no server found: {fleet.log.read_text()[-2000:]}")


def kill_a_worker(fleet: Fleet) -> None:
    workers = children_of(master_of(fleet))
    if workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(workers[0], signal.SIGKILL)


def backends(server: PostgresServer) -> list[int]:
    try:
        connection = psycopg2.connect(server.url("postgres"), connect_timeout=30)
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
        self.worked = 0
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
            self.worked += 1
        else:
            assert answer.status_code == 503, answer.text
            self.failed += 1


def run_with_disasters(writer: Writer, disaster: Callable[[], None], times: int) -> None:
    """Lets all clients write until the disaster has struck so often, each time after some writes, and some after it. One
    that hits no write proves nothing: it strikes until at least one was hit."""
    numbers = itertools.count()
    over = threading.Event()

    def destroy() -> None:
        try:
            for number in itertools.count():
                before = writer.worked
                eventually("some writes", lambda before=before: writer.worked >= before + WRITES)
                if number >= times and writer.failed:
                    break
                disaster()
        finally:
            over.set()

    def write_on(_: int) -> None:
        while not over.is_set():
            writer.write(next(numbers))

    with ThreadPoolExecutor(1) as pool:
        destroying = pool.submit(destroy)
        at_once(write_on, CLIENTS)
        destroying.result()


def wait_for(answers: Callable[[], bool]) -> None:
    """Until the database has recovered, and a worker has noticed."""

    def is_so() -> bool:
        with contextlib.suppress(requests.RequestException, Unavailable):
            return answers()
        return False

    eventually("recovery", is_so)


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


@pytest.mark.long
def test_workers_are_killed(fleet: Fleet) -> None:
    writer = Writer(fleet)
    run_with_disasters(writer, lambda: kill_a_worker(fleet), 6)
    check(fleet, writer)


@pytest.mark.long
def test_connections_to_the_database_are_ended(fleet: Fleet, crashing_postgres: PostgresServer) -> None:
    writer = Writer(fleet)
    run_with_disasters(writer, lambda: end_connections(crashing_postgres, signal.SIGTERM), 6)
    check(fleet, writer)


@DISASTERS
def test_the_database_crashes_and_recovers(fleet: Fleet, crashing_postgres: PostgresServer, disasters: int) -> None:
    writer = Writer(fleet)
    run_with_disasters(writer, lambda: end_connections(crashing_postgres, signal.SIGKILL), disasters)
    check(fleet, writer)


class CarefulWriter(Writer):
    """Remembers the generations that were acknowledged, and looks for each of its writes in candidates."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(fleet)
        self.generations: list[int] = []

    def write(self, number: int) -> None:
        """Changes inventory with the generation read just before; then fills a provider of its own, and looks."""
        try:
            self._change_inventory(number)
            self._fill(f"p{number}")
            self.worked += 1
        except (requests.RequestException, _Unanswered):
            self.failed += 1

    def _change_inventory(self, number: int) -> None:
        path = f"/resource_providers/{uuid_of('a')}/inventories/VCPU"
        before = self._ok("GET", f"/resource_providers/{uuid_of('a')}")["generation"]
        body = {"resource_provider_generation": before, "total": PLENTY + number}
        answer = self.fleet.call("PUT", path, body)
        if answer.status_code == 200:
            self.generations.append(answer.json()["resource_provider_generation"])
        else:
            assert answer.status_code in (409, 503), answer.text

    def _fill(self, name: str) -> None:
        uuid = uuid_of(name)
        self._ok("POST", "/resource_providers", {"name": name, "uuid": uuid})
        body = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 1}}}
        self._ok("PUT", f"/resource_providers/{uuid}/inventories", body)
        query = f"/allocation_candidates?resources=VCPU:1&in_tree={uuid}"
        assert len(self._ok("GET", query)["allocation_requests"]) == 1
        self._ok("PUT", f"/allocations/{uuid}", claim(None, **{name: {"VCPU": 1}}))
        for _ in range(2):
            assert self._ok("GET", query)["allocation_requests"] == []

    def _ok(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.fleet.call(method, path, body)
        if answer.status_code == 503:
            raise _Unanswered
        assert answer.ok, answer.text
        return answer.json() if answer.content else None


class _Unanswered(Exception):
    """The server could not answer at the moment."""


@DISASTERS
def test_generations_and_the_index_survive_killed_workers_and_a_crashed_database(
    fleet: Fleet, crashing_postgres: PostgresServer, disasters: int
) -> None:
    """No generation is given twice or goes back, and a write that was acknowledged is seen by the next read."""
    kinds = itertools.cycle([lambda: kill_a_worker(fleet), lambda: end_connections(crashing_postgres, signal.SIGKILL)])
    writer = CarefulWriter(fleet)
    run_with_disasters(writer, lambda: next(kinds)(), disasters)
    wait_for(lambda: fleet.engine.ping() is None)
    wait_for(lambda: fleet.call("GET", "/resource_providers").status_code == 200)
    assert writer.failed
    assert len(set(writer.generations)) == len(writer.generations)
    assert fleet.generation("a") >= max(writer.generations)
    fleet.check_invariants()


def test_numbers_that_are_given_out_again_after_a_crash(own_postgres: PostgresServer) -> None:
    """PostgreSQL forgets the numbers of transactions that failed shortly before it crashed, and gives them out again."""
    url = durable_database(own_postgres)
    own_postgres.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")  # what need not be on disk is not
    own_postgres.execute("SELECT pg_reload_conf()")
    engine = Engine(url, application_name="index")
    placement_migrations.upgrade(engine)
    index = ProviderIndex(engine, SystemClock())
    add_provider(url, "before")
    other = psycopg2.connect(url)
    forgotten = fail_transactions(other)
    assert len(index.current().trees) == 1  # has seen that all these transactions have ended
    os.kill(other.info.backend_pid, signal.SIGKILL)
    other.close()
    engine.close()
    wait_for(lambda: engine.ping() is None)
    assert add_provider(url, "after") <= forgotten, "no number was given out again: the test shows nothing"
    with contextlib.closing(psycopg2.connect(url)) as other:
        assert fail_transactions(other) > forgotten  # nobody can tell by the newest number that there was a crash
    assert len(index.current().trees) == 2
    engine.close()


def fail_transactions(connection: Any) -> int:
    """Rolls back some transactions, and answers the number of the last one."""
    with connection.cursor() as cursor:
        for _ in range(50):
            cursor.execute("SELECT pg_current_xact_id()::text::bigint")
            number: int = cursor.fetchall()[0][0]
            connection.rollback()
    return number


def add_provider(url: str, name: str) -> int:
    """Adds a provider, and answers the number of its transaction."""
    engine = Engine(url)
    try:
        with engine.connection():
            engine.atomic(lambda: resource_provider.insert(engine, uuid_of(name), name, None, 0.0))
            return engine.rows("SELECT MAX(changed) FROM placement_providers")[0][0]
    finally:
        engine.close()
