"""Connections that break while they rest in the pool: nobody notices, whatever comes first on them."""

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import peewee
import psycopg2
import pytest
from peewee import Table, fn

from limes.db import pool, watch
from limes.db.compiled import Compiled, any_of
from limes.db.engine import Engine
from limes.kernel.errors import Unavailable
from tests.bench.statements import statements_of
from tests.support.databases import UrlFactory
from tests.support.pgbouncer import needs_sessions
from tests.support.postgres import PostgresServer

ENDED = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
END = ENDED.replace("COUNT(*)", "pg_terminate_backend(pid)")


WORDS = Table("words", ["id", "word"])
ADD = Compiled(lambda p: WORDS.insert({WORDS.id: p.id, WORDS.word: p.word}), prepare=True)
ALL = Compiled(lambda p: WORDS.select(WORDS.id))
NUMBER = Compiled(lambda p: WORDS.select(fn.COUNT(WORDS.id) + 0).where(any_of(WORDS.id, p.ids)), prepare=True)
PREPARED = "SELECT COUNT(*) FROM pg_prepared_statements"


def end_all_connections(url: str) -> None:
    """Ends the connections of others, and waits until they are gone."""
    connection = psycopg2.connect(url)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(END)
        while True:
            cursor.execute(ENDED)
            row = cursor.fetchone()
            if row is None or row[0] == 0:
                break
            time.sleep(0.01)
    connection.close()


def backend(engine: Engine) -> int:
    return int(engine.rows("SELECT pg_backend_pid()")[0][0])


class Obstacle:
    """Holds up whoever calls it first, until the block ends; then that call fails."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._over = threading.Event()

    def __call__(self, *_: object) -> None:
        self.reached.set()
        assert self._over.wait(100)
        raise psycopg2.OperationalError("timeout expired")

    def __enter__(self) -> "Obstacle":
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()


def test_nobody_waits_for_who_connects(postgres_url_factory: UrlFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(postgres_url_factory(), pool_size=2)
    with ThreadPoolExecutor(1) as other:
        with Obstacle() as obstacle:
            with engine.connection():
                with monkeypatch.context() as patch:
                    patch.setattr(peewee.PostgresqlDatabase, "_connect", obstacle)
                    waiter = other.submit(engine.ping)
                    assert obstacle.reached.wait(100)
                assert engine.pool_use() == (2, 0)
            engine.ping()  # with the connection that was given back meanwhile
            assert engine.pool_use() == (1, 1)
        with pytest.raises(Unavailable, match="does not answer"):
            waiter.result(100)
    assert engine.pool_use() == (0, 1)
    engine.close()


def test_nobody_waits_for_who_asks_an_idle_connection(
    postgres_url_factory: UrlFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(postgres_url_factory(), pool_size=2)
    engine.ping()
    monkeypatch.setattr(pool, "TRUSTED_SECONDS", 0.0)
    with ThreadPoolExecutor(1) as other:
        with Obstacle() as obstacle:
            with monkeypatch.context() as patch:
                patch.setattr(pool.PostgresqlPool, "_is_closed", obstacle)
                waiter = other.submit(engine.ping)
                assert obstacle.reached.wait(100)
            engine.ping()
            assert engine.pool_use() == (1, 1)
        with pytest.raises(Unavailable, match="does not answer"):
            waiter.result(100)
    assert engine.pool_use() == (0, 1)
    engine.close()


def test_a_connection_is_used_again(postgres_url_factory: UrlFactory) -> None:
    engine = Engine(postgres_url_factory())
    with engine.connection():
        first = backend(engine)
    with engine.connection():
        assert backend(engine) == first
    engine.close()


def test_a_connection_that_lay_idle_is_asked_and_replaced(
    postgres_url_factory: UrlFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "TRUSTED_SECONDS", 0.0)
    monkeypatch.setattr(watch.WatchedConnection, "has_input", lambda conn: False)
    url = postgres_url_factory()
    engine = Engine(url)
    engine.execute("CREATE TABLE counters (value INTEGER)")
    end_all_connections(url)
    engine.execute("INSERT INTO counters VALUES (1)")
    engine.close()


@pytest.mark.parametrize("seen", [True, False], ids=["the goodbye has arrived", "the goodbye is on its way"])
def test_a_cut_connection_is_replaced(
    postgres_url_factory: UrlFactory, monkeypatch: pytest.MonkeyPatch, seen: bool
) -> None:
    url = postgres_url_factory()
    engine = Engine(url)
    engine.execute("CREATE TABLE counters (value INTEGER)")
    if not seen:
        monkeypatch.setattr(watch.WatchedConnection, "has_input", lambda conn: False)
    end_all_connections(url)
    assert engine.rows("SELECT 1") == [(1,)]
    end_all_connections(url)
    engine.atomic(lambda: engine.execute("INSERT INTO counters VALUES (1)"))
    end_all_connections(url)
    with engine.connection():
        assert engine.rows("SELECT value FROM counters") == [(1,)]
        assert engine.rows("SELECT value FROM counters") == [(1,)]
    engine.close()


@needs_sessions
def test_what_may_have_happened_is_not_done_again(
    postgres_url_factory: UrlFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_url_factory()
    engine = Engine(url)
    engine.execute("CREATE TABLE counters (value INTEGER)")
    monkeypatch.setattr(watch.WatchedConnection, "has_input", lambda conn: False)
    end_all_connections(url)
    with pytest.raises(Unavailable):
        engine.execute("INSERT INTO counters VALUES (1)")

    def work() -> None:
        engine.execute("INSERT INTO counters VALUES (2)")
        end_all_connections(url)
        engine.rows("SELECT 1")

    with pytest.raises(Unavailable):
        engine.atomic(work)
    assert engine.rows("SELECT * FROM counters") == []
    engine.close()


@needs_sessions
def test_a_transaction_that_has_not_begun_begins_elsewhere(
    postgres_url_factory: UrlFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Often enough for a pooler that forgets what is prepared: a connection that was cut is none."""
    url = postgres_url_factory()
    engine = Engine(url)
    engine.execute("CREATE TABLE words (id INTEGER, word TEXT)")
    monkeypatch.setattr(watch.WatchedConnection, "has_input", lambda conn: False)
    done = []

    def add(id_: int) -> None:
        engine.after_commit(lambda: done.append(id_))
        engine.write(ADD, id=id_, word="a")

    for id_ in range(20):
        engine.atomic(lambda id_=id_: add(id_))
        end_all_connections(url)
    assert engine.rows("SELECT id FROM words") == [(id_,) for id_ in done] == [(id_,) for id_ in range(20)]
    with engine.connection():
        engine.atomic(lambda: add(20))
        assert engine.rows(PREPARED) == [(1,)]
    engine.close()


@needs_sessions
def test_what_may_be_committed_is_not_done_again(
    postgres_url_factory: UrlFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_url_factory()
    engine = Engine(url)
    engine.execute("CREATE TABLE words (id INTEGER, word TEXT)")

    def add(id_: int) -> None:
        with engine.batch.collect():
            engine.write(ADD, id=id_, word="a")

    engine.atomic(lambda: add(1))
    monkeypatch.setattr(watch.WatchedConnection, "has_input", lambda conn: False)
    end_all_connections(url)
    with pytest.raises(Unavailable):
        engine.atomic(lambda: add(2))
    engine.atomic(lambda: add(3))
    assert engine.rows("SELECT id FROM words") == [(1,), (3,)]
    engine.close()


def test_round_trips_of_transactions(postgres_url_factory: UrlFactory, postgres: PostgresServer) -> None:
    engine = Engine(postgres_url_factory())
    engine.execute("CREATE TABLE words (id INTEGER UNIQUE, word TEXT)")

    def add(*ids: int, are_noted: bool) -> None:
        with engine.batch.collect() if are_noted else contextlib.nullcontext():
            for id_ in ids:
                engine.write(ADD, id=id_, word="a")

    def add_twice() -> None:
        with pytest.raises(peewee.IntegrityError):
            engine.atomic(lambda: add(4, 4, are_noted=True))

    def stream() -> None:
        assert [*engine.snapshot_stream(lambda: engine.stream(ALL, tuple))] == [(1,), (2,), (3,)]

    engine.atomic(lambda: add(1, are_noted=False))
    for work, frame, work_count, fetches in (
        (lambda: engine.atomic(lambda: None), 0, 0, 0),
        (lambda: engine.snapshot(lambda: None), 0, 0, 0),
        (lambda: engine.snapshot(lambda: engine.rows("SELECT 1")), 1, 1, 0),
        (lambda: engine.atomic(lambda: add(2, 3, are_noted=True)), 0, 1, 0),
        (lambda: engine.atomic(lambda: engine.execute("UPDATE words SET word = 'b'")), 1, 1, 0),
        (add_twice, 0, 2, 0),  # ROLLBACK
        (stream, 1, 3, 2),  # the settings, DECLARE and CLOSE
    ):
        with engine.connection(), statements_of(postgres) as counted:
            work()
        assert (counted.frame, counted.work, counted.fetches) == (frame, work_count, fetches)
    assert engine.rows("SELECT id FROM words") == [(1,), (2,), (3,)]
    engine.close()


def test_an_error_that_is_ours_is_raised_as_it_is(postgres_url_factory: UrlFactory) -> None:
    engine = Engine(postgres_url_factory())
    engine.ping()
    with pytest.raises(peewee.ProgrammingError):
        engine.rows("SELECT nothing")
    assert engine.rows("SELECT 1") == [(1,)]
    engine.close()


def test_prepared_reads_answer_as_plain_ones(engine: Engine) -> None:
    engine.execute("CREATE TABLE words (id INTEGER, word TEXT)")
    engine.execute("INSERT INTO words VALUES (1, 'a'), (2, 'b')")
    words = Table("words", ["id", "word"])
    some = Compiled(
        lambda p: words.select(words.word).where((words.id == p.id) | (words.word == p.word)).order_by(words.id),
        prepare=True,
    )
    for _ in range(8):
        assert engine.column(some, id=1, word="b") == ["a", "b"]
        assert engine.atomic(lambda: engine.column(some, id=2, word="x")) == ["b"]
    like_a = Compiled(lambda p: words.select(fn.COUNT(words.id)).where(words.word ** "%a%"), prepare=True)
    assert engine.column(like_a) == [1]


def test_prepared_reads_survive_cuts_and_poolers_that_forget(postgres_url_factory: UrlFactory) -> None:
    url = postgres_url_factory()
    engine = Engine(url)
    next_number = Compiled(lambda p: peewee.Select(columns=[p.number.cast("INTEGER") + 1]), prepare=True)
    for _ in range(3):
        assert engine.column(next_number, number=1) == [2]
        end_all_connections(url)
    for _ in range(30):
        engine.execute("DEALLOCATE ALL")
        assert engine.column(next_number, number=2) == [3]
    with engine.connection():
        assert engine.rows("SELECT COUNT(*) FROM pg_prepared_statements") == [(0,)]
    engine.close()


def test_what_a_transaction_does_is_prepared(postgres_url_factory: UrlFactory) -> None:
    engine = Engine(postgres_url_factory())
    engine.execute("CREATE TABLE words (id INTEGER, word TEXT)")

    def add(id_: int) -> list[int]:
        assert engine.write(ADD, id=id_, word="100%") == 1
        with engine.batch.collect():
            engine.write(ADD, id=id_ + 100, word="a")
            return engine.column(NUMBER, ids=[id_, id_ + 100, -1])

    with engine.connection():
        for id_ in range(5):
            assert engine.atomic(lambda id_=id_: add(id_)) == [2]
        assert engine.rows(PREPARED) == [(2,)]
        assert engine.rows("SHOW plan_cache_mode") == [("force_generic_plan",)]
    assert engine.rows("SELECT COUNT(*) FROM words WHERE word = '100%%'") == [(5,)]
    engine.close()


def test_a_transaction_whose_statement_is_refused_runs_again(
    postgres_url_factory: UrlFactory, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgres_url_factory()
    engine = Engine(url)
    engine.execute("CREATE TABLE words (id INTEGER, word TEXT)")
    runs = 0

    def add(id_: int) -> None:
        nonlocal runs
        runs += 1
        engine.write(ADD, id=id_, word="first")
        engine.write(ADD, id=id_, word="second")

    for id_ in range(20):
        engine.atomic(lambda id_=id_: add(id_))
        engine.execute("DEALLOCATE ALL")  # as if a pooler had given us another connection
        engine.atomic(lambda id_=id_: add(id_))
        engine.close()  # a new connection prepares again, until there were too many refusals
    assert engine.rows("SELECT COUNT(*), COUNT(DISTINCT id) FROM words") == [(80, 20)], "each ran once"
    assert runs == 40 + 8
    assert "prepared statements do not work here" in caplog.text
    engine.close()


def test_a_snapshot_whose_statement_is_refused_runs_again(postgres_url_factory: UrlFactory) -> None:
    engine, runs = Engine(postgres_url_factory()), []
    engine.execute("CREATE TABLE words (id INTEGER, word TEXT)")
    for _ in range(20):
        assert engine.snapshot(lambda: (runs.append(1), engine.column(NUMBER, ids=[1]))) == (None, [0])
        engine.execute("DEALLOCATE ALL")  # as if a pooler had given us another connection
        assert engine.snapshot(lambda: (runs.append(1), engine.column(NUMBER, ids=[2]))) == (None, [0])
        engine.close()  # a new connection prepares again, until there were too many refusals
    assert len(runs) == 40 + 8
    with pytest.raises(Unavailable):  # refused in the same way, prepared or not, but not for ever
        engine.snapshot(lambda: engine.rows("SELECT COUNT(*) FROM words FOR UPDATE"))
    engine.close()
