"""Reads from a real hot standby: which server answers, and that nobody misses what was written."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from limes.db import replicas
from limes.db.engine import Engine
from limes.db.replicas import PASSED_OVER, ReplicatedEngine
from limes.db.standbys import Standby
from tests.setup.needs import POSTGRESQL
from tests.support.machine import require
from tests.support.postgres_replica import Replicated, replicated_postgres

pytestmark = [pytest.mark.postgresql, pytest.mark.timeout(400)]
LONG = 300.0
"""Seconds of lag that no test reaches."""
_NAMES = ("primary", "standby")


@pytest.fixture(scope="module")
def servers() -> Iterator[Replicated]:
    require(POSTGRESQL)
    with replicated_postgres() as servers:
        servers.primary.execute("CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)")
        yield servers


@pytest.fixture
def pair(servers: Replicated) -> Replicated:
    """Both servers, in order and level."""
    if not servers.standby.is_running() or servers.standby.execute("SELECT pg_is_in_recovery()") == [(False,)]:
        servers.copy_anew()
    servers.resume()
    servers.primary.execute("TRUNCATE counters")
    servers.catch_up()
    return servers


@pytest.fixture(autouse=True)
def _tried_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A standby that has not answered is tried again after a tenth of a second."""
    monkeypatch.setattr(replicas, "_PAUSE", 0.1)


@pytest.fixture
def make_engine(pair: Replicated) -> Iterator[Callable[..., ReplicatedEngine]]:
    made: list[ReplicatedEngine] = []

    def make(max_lag: float = LONG) -> ReplicatedEngine:
        primary, replica = (Engine(pair.url(node), pool_size=12) for node in (pair.primary, pair.standby))
        made.append(ReplicatedEngine(primary, [Standby(replica, "standby")], max_lag=max_lag, label="test"))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def engine(make_engine: Callable[..., ReplicatedEngine]) -> ReplicatedEngine:
    """It has read from the standby already."""
    engine = make_engine()
    eventually(lambda: server_of(engine) == "standby")
    return engine


def server_of(engine: ReplicatedEngine, position: int = 0) -> str:
    """Which one answers a request."""
    with engine.reading(position):
        return str(_NAMES[engine.rows("SELECT pg_is_in_recovery()::int")[0][0]])


def write(engine: Engine, name: str, value: int) -> None:
    engine.execute(
        "INSERT INTO counters VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value", [name, value]
    )


def read(engine: Engine, name: str) -> int:
    rows = engine.rows("SELECT value FROM counters WHERE name = %s", [name])
    return int(rows[0][0]) if rows else 0


def eventually(check: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 100
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def passed_over(reason: str) -> float:
    return float(PASSED_OVER.labels("test", "standby", reason)._value.get())


def test_only_reads_of_requests_go_to_the_standby(engine: ReplicatedEngine) -> None:
    assert engine.rows("SELECT pg_is_in_recovery()") == [(False,)]
    with engine.reading():
        assert engine.snapshot(lambda: engine.rows("SELECT pg_is_in_recovery()")) == [(True,)]
        assert engine.rows("SELECT pg_is_in_recovery()") == [(True,)]
        write(engine, "a", 1)
        assert engine.rows("SELECT pg_is_in_recovery()") == [(False,)]
        assert engine.has_written
    with engine.reading():
        assert engine.primary.rows("SELECT pg_is_in_recovery()") == [(False,)]
        assert engine.atomic(lambda: engine.rows("SELECT pg_is_in_recovery()")) == [(False,)]
        assert not list(engine.snapshot_stream(lambda: iter([])))
        assert engine.rows("SELECT pg_is_in_recovery()") == [(False,)]


def test_a_standby_is_read_without_a_further_question(engine: ReplicatedEngine, pair: Replicated) -> None:
    """What is known of it is enough, as long as nothing was written."""
    asked: list[str] = []
    for one in (engine.primary, engine._standbys[0].engine):
        run = one.db.execute_sql
        one.db.execute_sql = lambda sql, params=None, run=run: (asked.append(sql), run(sql, params))[1]
    for _ in range(5):
        with engine.reading():
            engine.rows("SELECT 1")
    assert asked == ["SELECT 1"] * 5


def test_whoever_has_written_sees_it(engine: ReplicatedEngine, pair: Replicated, make_engine: Any) -> None:
    other_worker = make_engine()
    eventually(lambda: server_of(other_worker) == "standby")
    pair.pause()
    write(engine, "a", 7)
    position = engine.take_position()
    assert position is not None
    with engine.reading():  # the same process, whoever asks
        assert read(engine, "a") == 7
    with other_worker.reading(position):  # the same client, at another process
        assert read(other_worker, "a") == 7
    with other_worker.reading():  # somebody else
        assert read(other_worker, "a") == 0
    pair.resume()
    eventually(lambda: server_of(engine) == server_of(other_worker, position) == "standby")
    with other_worker.reading(position):
        assert read(other_worker, "a") == 7


def test_nothing_older_than_the_bound_is_shown(make_engine: Callable[..., ReplicatedEngine], pair: Replicated) -> None:
    engine = make_engine(max_lag=1.0)
    eventually(lambda: server_of(engine) == "standby")
    pair.pause()
    write(engine, "a", 1)
    written_at = time.monotonic()
    while True:
        asked_at = time.monotonic()
        with engine.reading():
            value = read(engine, "a")
        assert value == 1 or asked_at - written_at <= 1.0
        if asked_at - written_at > 1.5:
            break
        time.sleep(0.01)
    assert passed_over("late") > 0
    pair.resume()
    eventually(lambda: server_of(engine) == "standby")


def test_an_idle_primary_makes_nobody_late(make_engine: Callable[..., ReplicatedEngine], pair: Replicated) -> None:
    engine = make_engine(max_lag=0.3)
    for _ in range(3):
        last = time.monotonic()
        eventually(lambda last=last: time.monotonic() - last > 0.4)
        eventually(lambda: server_of(engine) == "standby")


@pytest.mark.parametrize("waits", [True, False], ids=["in a query", "between queries"])
def test_a_query_that_replay_cancels_is_run_again(engine: ReplicatedEngine, pair: Replicated, waits: bool) -> None:
    pair.standby.configure("max_standby_streaming_delay", "0")
    write(engine, "a", 3)
    pair.catch_up()
    eventually(lambda: server_of(engine) == "standby")
    runs: list[bool] = []

    def work() -> int:
        value = read(engine, "a")
        ((on_standby,),) = engine.rows("SELECT pg_is_in_recovery()")
        runs.append(on_standby)
        if on_standby:
            pair.primary.execute("TRUNCATE counters")
            if waits:
                engine.rows("SELECT pg_sleep(25)")
            else:
                pair.catch_up()
        return value + read(engine, "a")

    with engine.reading():
        assert engine.snapshot(work) == 0
        assert engine.rows("SELECT pg_is_in_recovery()") == [(False,)]
    assert runs == [True, False]
    eventually(lambda: server_of(engine) == "standby")


def test_a_standby_that_stops_and_starts(make_engine: Callable[..., ReplicatedEngine], pair: Replicated) -> None:
    engine = make_engine(max_lag=5.0)
    eventually(lambda: server_of(engine) == "standby")
    with engine.reading():
        assert engine.rows("SELECT pg_is_in_recovery()") == [(True,)]
        pair.standby.crash()
        assert engine.rows("SELECT pg_is_in_recovery()") == [(False,)]  # the same request goes on
    assert server_of(engine) == "primary"
    pair.standby.start()
    eventually(lambda: server_of(engine) == "standby")


def test_a_standby_that_is_promoted(make_engine: Callable[..., ReplicatedEngine], pair: Replicated) -> None:
    """It may show what it has until it is asked again, and then it is no standby."""
    engine = make_engine(max_lag=0.5)
    eventually(lambda: server_of(engine) == "standby")
    pair.standby.promote()
    write(engine, "a", 5)
    engine.take_position()
    for _ in range(20):
        with engine.reading():
            assert read(engine, "a") == 5
    assert passed_over("no standby") > 0


@pytest.mark.long
def test_a_standby_has_to_follow_the_new_primary(engine: ReplicatedEngine, pair: Replicated) -> None:
    """A restart of the primary looks like a fail-over: a position of before proves nothing any more.

    It takes five seconds, the pause after which a standby connects again.
    """
    pair.primary.stop()
    pair.primary.start()
    write(engine, "a", 1)
    eventually(lambda: (write(engine, "a", 1), engine.take_position(), server_of(engine))[2] == "standby")


def test_own_writes_are_seen_whatever_happens(make_engine: Callable[..., ReplicatedEngine], pair: Replicated) -> None:
    """Clients move between two workers, while the standby stops to replay, or stops altogether."""
    workers = [make_engine(max_lag=1.0), make_engine(max_lag=1.0)]
    wrong: list[str] = []
    answered = [0] * 6
    over = threading.Event()

    def client(number: int) -> None:
        name, value = f"client{number}", 0
        while not over.is_set():
            value += 1
            write(workers[value % 2], name, value)
            position = workers[value % 2].take_position() or 0
            for worker in (workers[(value + 1) % 2], workers[value % 2]):
                with worker.reading(position):
                    found = [worker.snapshot(lambda w=worker: read(w, name)), read(worker, name)]
                if found != [value, value]:
                    wrong.append(f"{name}: {found} instead of {value}")
            answered[number] += 1

    threads = [threading.Thread(target=client, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    try:
        for trouble in (pair.pause, pair.resume, pair.standby.crash, pair.standby.start, pair.pause, pair.resume):
            trouble()
            before = list(answered)
            eventually(lambda before=before: wrong or all(now > old for now, old in zip(answered, before, strict=True)))
    finally:
        over.set()
        for thread in threads:
            thread.join(100)
    assert wrong == []
    assert min(answered) > 0
