"""Transactions in each other's way: run again after a collision, and no waiting without end."""

import threading

import pytest

from limes.db import connections
from limes.db.compiled import Compiled, lock
from limes.db.engine import Engine
from limes.kernel.errors import Unavailable
from tests.db.accounts import ACCOUNTS, add, amounts, in_threads
from tests.support.pgbouncer import needs_sessions

pytestmark = pytest.mark.usefixtures("accounts")
LOCK = Compiled(lambda _: lock(ACCOUNTS.select(ACCOUNTS.amount).where(ACCOUNTS.id == 1)))

on_postgresql = pytest.mark.parametrize(
    "databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)
"""For what SQLite cannot do: there, a writer is alone."""


def test_concurrent_increments_are_all_counted(engine: Engine) -> None:
    def increment() -> None:
        for _ in range(20):

            def work() -> None:
                (amount,) = engine.column(LOCK)
                engine.execute("UPDATE accounts SET amount = %s WHERE id = 1", [amount + 1])

            engine.atomic(work)

    in_threads(*[increment] * 8)
    assert amounts(engine) == [260, 100, 100]


@on_postgresql
def test_a_deadlock_is_run_again(engine: Engine) -> None:
    meet = threading.Barrier(2)
    tries: list[int] = []

    def transfer(giver: int, taker: int) -> None:
        first = True

        def work() -> None:
            nonlocal first
            tries.append(giver)
            add(engine, giver, -10)
            if first:
                first = False
                meet.wait(30)  # now each has locked what the other one wants
            add(engine, taker, 10)

        engine.atomic(work)

    in_threads(lambda: transfer(1, 2), lambda: transfer(2, 1))
    assert amounts(engine) == [100, 100, 100]
    assert len(tries) >= 3  # one of them was the victim; on a slow machine the other one can become one, too


@needs_sessions
@on_postgresql
def test_a_serialization_failure_is_run_again(engine: Engine) -> None:
    tries = []

    def work() -> None:
        tries.append(1)
        engine.rows("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1")
        ((amount,),) = engine.rows("SELECT amount FROM accounts WHERE id = 1")
        if len(tries) == 1:
            in_threads(lambda: engine.atomic(lambda: add(engine, 1, 7)))
        engine.execute("UPDATE accounts SET amount = %s WHERE id = 1", [amount * 2])

    engine.atomic(work)
    assert amounts(engine) == [214, 100, 100]
    assert len(tries) == 2


@on_postgresql
def test_collisions_without_end_are_unavailable(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    tries = []

    def work() -> None:
        tries.append(1)
        add(engine, 2, 1)
        engine.execute("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$")

    with pytest.raises(Unavailable, match="too busy"):
        engine.atomic(work)
    assert len(tries) == 12
    assert amounts(engine) == [100, 100, 100]


@on_postgresql
def test_waiting_for_a_lock_ends(engine: Engine, database_url: str) -> None:
    impatient = Engine(database_url, lock_timeout=0.1)
    tries = []

    def wait() -> None:
        tries.append(1)
        add(impatient, 1, 1)

    def work() -> None:
        add(engine, 1, 5)
        with pytest.raises(Unavailable, match="too busy"):
            impatient.atomic(wait)

    engine.atomic(work)
    impatient.close()
    assert (amounts(engine), tries) == ([105, 100, 100], [1])


@on_postgresql
@pytest.mark.parametrize("seconds", [1.0, pytest.param(connections._RESTING, marks=pytest.mark.long)])
def test_a_transaction_that_rests_makes_nobody_fail(
    engine: Engine, database_url: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a host that is frozen."""
    monkeypatch.setattr(connections, "_RESTING", seconds)
    frozen, has_locked, is_over = Engine(database_url), threading.Event(), threading.Event()

    def rest() -> None:
        add(frozen, 1, 5)
        has_locked.set()
        assert is_over.wait(100)
        frozen.ping()

    def freeze() -> None:
        with pytest.raises(Unavailable):
            frozen.atomic(rest)

    thread = threading.Thread(target=freeze)
    thread.start()
    assert has_locked.wait(100)
    add(engine, 1, 1)
    is_over.set()
    thread.join(100)
    frozen.close()
    assert amounts(engine) == [101, 100, 100]


@on_postgresql
def test_slow_statements_end(engine: Engine, database_url: str) -> None:
    impatient = Engine(database_url, statement_timeout=0.1)
    for run in (impatient.atomic, impatient.snapshot, lambda work: work()):
        with pytest.raises(Unavailable, match="took too long"):
            run(lambda: impatient.rows("SELECT pg_sleep(30)"))
    impatient.close()


@on_postgresql
def test_rows_are_skipped_that_others_have_locked(engine: Engine) -> None:
    query = Compiled(lambda _: lock(ACCOUNTS.select(ACCOUNTS.id).order_by(ACCOUNTS.id).limit(1), skip_locked=True))

    def work() -> None:
        assert engine.column(query) == [1]
        in_threads(lambda: engine.atomic(lambda: claimed.extend(engine.column(query))))

    claimed: list[int] = []
    engine.atomic(work)
    assert claimed == [2]
