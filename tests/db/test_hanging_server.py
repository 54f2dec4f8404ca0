"""A PostgreSQL that takes connections and statements, and answers nothing: all of its processes are stopped."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from limes.db import watch
from limes.db.engine import Engine
from limes.db.replicas import ReplicatedEngine
from limes.db.standbys import Standby
from limes.db.watch import WITH_STANDBY, Patience, unlimited
from limes.kernel.errors import Unavailable
from tests.setup.needs import POSTGRESQL
from tests.support.machine import require
from tests.support.postgres_replica import Replicated, replicated_postgres
from tests.support.processes import eventually

pytestmark = [pytest.mark.postgresql, pytest.mark.timeout(400)]
ON_STANDBY = "SELECT pg_is_in_recovery()"
LONG = 60.0
"""Seconds that nobody may wait for a server that hangs. Without a limit on our side, it is without end."""
QUICK = Patience(silence=0.3, question=1.0)


@pytest.fixture(scope="module")
def servers() -> Iterator[Replicated]:
    require(POSTGRESQL)
    with replicated_postgres() as servers:
        yield servers


@pytest.fixture
def pair(servers: Replicated) -> Iterator[Replicated]:
    yield servers
    servers.standby.go_on()
    servers.primary.go_on()


@pytest.fixture
def make_engine(pair: Replicated) -> Iterator[Callable[..., Engine]]:
    made: list[Engine] = []

    def make(node: Any = pair.primary, **options: Any) -> Engine:
        made.append(Engine(f"{pair.url(node)}?connect_timeout=2", **options))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


def at_once(number: int, work: Callable[[], Any]) -> list[Future[Any]]:
    pool = ThreadPoolExecutor(number)
    futures = [pool.submit(work) for _ in range(number)]
    pool.shutdown(wait=False)
    return futures


def test_the_primary_answers_for_a_standby_that_hangs(make_engine: Callable[..., Engine], pair: Replicated) -> None:
    """Takes some seconds, since time limits have to pass."""
    primary, standby = make_engine(), make_engine(pair.standby, patience=WITH_STANDBY)
    engine = ReplicatedEngine(primary, [Standby(standby, "standby")], max_lag=300, label="hang")

    def read() -> Any:
        with engine.reading():
            return engine.rows(ON_STANDBY)

    move = "SELECT pg_logical_emit_message(true, 'limes', '')"  # which it has to do once, so that it is read
    eventually("the standby is read", lambda: pair.primary.execute(move) and read() == [(True,)])
    waiting = threading.Barrier(4)

    def report() -> Any:
        """A long statement that has begun before."""
        with engine.reading():
            engine.rows("SELECT 1")
            waiting.wait(LONG)
            return engine.rows(
                f"SELECT pg_is_in_recovery() FROM (SELECT pg_sleep(CASE WHEN ({ON_STANDBY}) THEN 1e6 ELSE 0 END)) s"
            )

    reports = at_once(3, report)
    waiting.wait(LONG)
    pair.standby.hang()
    answers = [future.result(LONG) for future in (*reports, *at_once(8, read))]
    assert answers == [[(False,)]] * 11
    assert standby.db.watch.hangs
    assert all(future.result(LONG) == [(False,)] for future in at_once(8, read)), "it is left alone"
    pair.standby.go_on()
    eventually("the standby is read again", lambda: read() == [(True,)])


def test_nobody_waits_for_a_primary_that_hangs(make_engine: Callable[..., Engine], pair: Replicated) -> None:
    engine = make_engine(patience=QUICK, statement_timeout=3600)
    engine.execute("CREATE TABLE IF NOT EXISTS waits (id INTEGER)")
    pids = [engine.rows("SELECT pg_backend_pid()")]
    pair.primary.hang()
    works: list[Callable[[], Any]] = [
        engine.ping,
        lambda: engine.atomic(lambda: engine.execute("INSERT INTO waits VALUES (1)")),
        lambda: engine.snapshot(engine.ping),
    ]
    for future in [one for work in works for one in at_once(3, work)]:
        with pytest.raises(Unavailable, match="does not answer"):
            future.result(LONG)
    assert engine.db.watch.hangs
    assert engine.pool_use()[0] == 0
    for _ in range(200):  # more than there would be time for, if each took as long as it takes to connect
        with pytest.raises(Unavailable, match="does not answer"):
            engine.ping()
    pair.primary.go_on()
    eventually("it is used again", lambda: _answers(engine))
    assert engine.rows("SELECT pg_backend_pid()") != pids[0]


def test_new_connections_to_a_primary_that_hangs(make_engine: Callable[..., Engine], pair: Replicated) -> None:
    """None is open, so that there is nothing to notice but that nobody gets in."""
    engine = make_engine(patience=QUICK)
    pair.primary.hang()
    with pytest.raises(Unavailable, match="does not answer"):
        engine.ping()
    assert engine.db.watch.hangs
    pair.primary.go_on()
    eventually("it is used", lambda: _answers(engine))


def test_a_long_statement_is_left_alone(
    make_engine: Callable[..., Engine], pair: Replicated, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[watch.Answer] = []
    ask = watch.ask
    monkeypatch.setattr(watch, "ask", lambda *arguments: answers.append(ask(*arguments)))
    engine = make_engine(patience=Patience(silence=0.05, question=LONG), statement_timeout=3600)
    (report,) = at_once(1, lambda: engine.rows("SELECT pg_sleep(3600)"))
    eventually("the server is asked twice", lambda: len(answers) >= 2)
    assert set(answers) == {watch.Answer.GIVEN}
    assert not report.done()
    assert not engine.db.watch.hangs
    pair.primary.execute(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(3600)%'"
    )
    with pytest.raises(Unavailable, match="took too long"):  # and not that its connection is lost
        report.result(LONG)


def test_what_the_server_cannot_end_ends_here(make_engine: Callable[..., Engine], pair: Replicated) -> None:
    """Such as a commit that waits for a standby, which has no limit of time in PostgreSQL."""
    engine = make_engine()
    engine.db.watch._limit = 0.5

    def wait() -> None:
        engine.execute("SET LOCAL statement_timeout = 0")
        engine.rows("SELECT pg_sleep(1)")

    def wait_without_limit() -> None:
        with unlimited(engine.db.connection()):
            wait()

    engine.atomic(wait_without_limit)
    with pytest.raises(Unavailable, match="does not answer"):
        engine.atomic(wait)
    assert not engine.db.watch.hangs


def test_the_other_server_is_used_while_the_first_hangs(make_engine: Callable[..., Engine], pair: Replicated) -> None:
    """As after a fail-over: the first one is not asked before the other any more."""
    ports = f"{pair.standby.port},127.0.0.1:{pair.primary.port}"
    engine = Engine(f"postgresql://postgres@127.0.0.1:{ports}/postgres?connect_timeout=1000", patience=QUICK)
    engine.ping()
    pair.standby.hang()
    engine.close()
    engine.db.watch.give_up()
    eventually("there is a connection", lambda: _answers(engine))
    assert engine.db.watch.order["port"] == f"{pair.primary.port},{pair.standby.port}"
    engine.close()


def test_the_watch_ends_with_the_last_connection(make_engine: Callable[..., Engine]) -> None:
    engine = make_engine(patience=QUICK)
    engine.ping()
    thread = engine.db.watch._thread
    assert thread is not None
    assert thread.is_alive()
    engine.close()
    eventually("it has ended", lambda: not thread.is_alive())


def _answers(engine: Engine) -> bool:
    try:
        engine.ping()
    except Unavailable:
        return False
    return True
