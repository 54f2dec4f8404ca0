"""Transactions on both databases: all or nothing, run again after a collision, one state for a whole snapshot."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import peewee
import pytest

from limes.db.engine import Engine
from limes.errors import LimesError, Unavailable


@pytest.fixture(autouse=True)
def accounts(engine: Engine) -> None:
    """Three accounts with 100 each."""
    with engine.connection():
        engine.execute("CREATE TABLE accounts (id INTEGER PRIMARY KEY, amount BIGINT NOT NULL CHECK (amount >= 0))")
        engine.execute("INSERT INTO accounts (id, amount) VALUES (1, 100), (2, 100), (3, 100)")


def amounts(engine: Engine) -> list[int]:
    return [amount for (amount,) in engine.rows("SELECT amount FROM accounts ORDER BY id")]


def add(engine: Engine, account: int, amount: int) -> None:
    assert engine.execute("UPDATE accounts SET amount = amount + %s WHERE id = %s", [amount, account]) == 1


def in_threads(*works: Callable[[], object]) -> None:
    """Runs all at the same time, and raises what they raise."""
    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result(60)


def test_a_transaction_answers_what_the_work_answers(engine: Engine) -> None:
    def work() -> str:
        add(engine, 1, 5)
        return "done"

    assert engine.atomic(work) == "done"
    assert amounts(engine) == [105, 100, 100]


class Refused(Exception):
    pass


@pytest.mark.parametrize("error", [Refused, LimesError, KeyboardInterrupt])
def test_any_exception_leaves_nothing_behind(engine: Engine, error: type[BaseException]) -> None:
    tried = []

    def work() -> None:
        tried.append(1)
        add(engine, 1, 5)
        raise error

    with pytest.raises(error):
        engine.atomic(work)
    assert amounts(engine) == [100, 100, 100]
    assert tried == [1]


def test_a_violated_constraint_is_the_callers_to_handle(engine: Engine) -> None:
    tried = []

    def work() -> None:
        tried.append(1)
        add(engine, 1, 5)
        add(engine, 2, -101)

    with pytest.raises(peewee.IntegrityError):
        engine.atomic(work)
    assert (amounts(engine), tried) == ([100, 100, 100], [1])


def test_a_mistake_in_sql_is_not_called_unavailable(engine: Engine) -> None:
    for sql in ("SELEKT 1", "SELECT 1 FROM nowhere"):
        for run in (engine.atomic, engine.snapshot, lambda work: work()):
            with pytest.raises((peewee.ProgrammingError, peewee.OperationalError)):
                run(lambda sql=sql: engine.rows(sql))


def test_a_nested_transaction_joins_the_outer_one(engine: Engine) -> None:
    def inner() -> None:
        add(engine, 2, 5)

    def outer() -> None:
        add(engine, 1, 5)
        engine.atomic(inner)
        raise Refused

    with pytest.raises(Refused):
        engine.atomic(outer)
    assert amounts(engine) == [100, 100, 100]


def test_work_joins_inside_a_snapshot_too(engine: Engine) -> None:
    assert engine.snapshot(lambda: engine.atomic(lambda: amounts(engine))) == [100, 100, 100]


def test_a_snapshot_cannot_write(engine: Engine) -> None:
    for work in (lambda: add(engine, 1, 5), lambda: engine.atomic(lambda: add(engine, 1, 5))):
        with pytest.raises((peewee.OperationalError, peewee.InternalError)):
            engine.snapshot(work)
    assert amounts(engine) == [100, 100, 100]
    engine.atomic(lambda: add(engine, 1, 5))  # the same connection can write again
    assert amounts(engine) == [105, 100, 100]


def test_a_snapshot_sees_one_state_while_others_write(engine: Engine) -> None:
    """Sum 300 always: transfers run while the two halves of a report are read one after the other."""
    stop = threading.Event()

    def transfer() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            giver, taker = (1, 2) if number % 2 else (2, 1)
            engine.atomic(lambda: (add(engine, giver, -1), add(engine, taker, 1)))  # noqa: B023 - it runs at once

    def read() -> int:
        first = engine.rows("SELECT amount FROM accounts WHERE id = 1")[0][0]
        threading.Event().wait(0.002)
        return int(first) + sum(amount for (amount,) in engine.rows("SELECT amount FROM accounts WHERE id > 1"))

    def report() -> None:
        try:
            assert {engine.snapshot(read) for _ in range(100)} == {300}
        finally:
            stop.set()

    in_threads(transfer, report)


def test_concurrent_increments_are_all_counted(engine: Engine) -> None:
    def increment() -> None:
        for _ in range(20):

            def work() -> None:
                row = engine.row(f"SELECT amount FROM accounts WHERE id = 1{engine.for_update}")
                assert row is not None
                engine.execute("UPDATE accounts SET amount = %s WHERE id = 1", [row[0] + 1])

            engine.atomic(work)

    in_threads(*[increment] * 8)
    assert amounts(engine) == [260, 100, 100]


def test_actions_after_commit(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    happened: list[str] = []

    def work() -> None:
        engine.after_commit(lambda: happened.append(str(amounts(engine))))
        engine.after_commit(lambda: [][1])
        engine.after_commit(lambda: happened.append("second"))
        engine.atomic(lambda: add(engine, 1, 5))
        assert happened == []

    engine.atomic(work)
    assert happened == ["[105, 100, 100]", "second"]
    assert "an action after a commit has failed" in caplog.text


def test_no_action_after_a_rollback(engine: Engine) -> None:
    happened: list[str] = []

    def work() -> None:
        engine.after_commit(lambda: happened.append("wrongly"))
        raise Refused

    with pytest.raises(Refused):
        engine.atomic(work)
    engine.atomic(lambda: add(engine, 1, 5))
    assert happened == []


def test_single_statements_need_no_transaction(engine: Engine) -> None:
    add(engine, 1, 5)
    assert engine.row("SELECT amount FROM accounts WHERE id = %s", [1]) == (105,)
    assert engine.row("SELECT amount FROM accounts WHERE id = %s", [9]) is None
    assert engine.rows("SELECT id FROM accounts WHERE amount %% 2 = 1") == [(1,)]
    assert engine.db.is_closed()  # no connection stays with this thread


def test_large_results_can_be_streamed(engine: Engine) -> None:
    engine.atomic(lambda: [engine.execute("INSERT INTO accounts VALUES (%s, 1)", [n]) for n in range(10, 510)])

    def work() -> list[int]:
        rows = engine.stream("SELECT id FROM accounts WHERE id >= %s ORDER BY id", [10], chunk=50)
        return [number for (number,) in rows]

    assert engine.snapshot(work) == list(range(10, 510))


# -- collisions on PostgreSQL ------------------------------------------------------------------------------------------


on_postgresql = pytest.mark.parametrize(
    "databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)
"""For what SQLite cannot do: there, a writer is alone."""


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


@on_postgresql
def test_a_serialization_failure_is_run_again(engine: Engine) -> None:
    tries = []

    def work() -> None:
        tries.append(1)
        engine.rows("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1")
        row = engine.row("SELECT amount FROM accounts WHERE id = 1")
        if len(tries) == 1:
            in_threads(lambda: engine.atomic(lambda: add(engine, 1, 7)))
        engine.execute("UPDATE accounts SET amount = %s WHERE id = 1", [row[0] * 2 if row else 0])

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
def test_slow_statements_end(engine: Engine, database_url: str) -> None:
    impatient = Engine(database_url, statement_timeout=0.1)
    for run in (impatient.atomic, impatient.snapshot, lambda work: work()):
        with pytest.raises(Unavailable, match="took too long"):
            run(lambda: impatient.rows("SELECT pg_sleep(30)"))
    impatient.close()


@on_postgresql
def test_rows_are_skipped_that_others_have_locked(engine: Engine) -> None:
    sql = f"SELECT id FROM accounts ORDER BY id LIMIT 1{engine.skip_locked}"

    def work() -> None:
        assert engine.rows(sql) == [(1,)]
        in_threads(lambda: engine.atomic(lambda: claimed.extend(engine.rows(sql))))

    claimed: list[tuple[int]] = []
    engine.atomic(work)
    assert claimed == [(2,)]
