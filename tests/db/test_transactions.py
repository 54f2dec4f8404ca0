"""Transactions on both databases: all or nothing, one state for a whole snapshot, what happens after the commit."""

import sqlite3
import threading
from typing import NamedTuple

import peewee
import pytest

from limes.db.engine import Engine
from limes.db.transactions import atomic, snapshot
from limes.kernel.errors import LimesError
from tests.db.accounts import ACCOUNTS, add, amounts, in_threads

pytestmark = pytest.mark.usefixtures("accounts")


class _Account(NamedTuple):
    id: int


def test_a_transaction_answers_what_the_work_answers(engine: Engine) -> None:
    def work() -> str:
        add(engine, 1, 5)
        return "done"

    assert engine.atomic(work) == "done"
    assert amounts(engine) == [105, 100, 100]


def test_a_decorated_method_is_a_transaction_of_its_engine(engine: Engine) -> None:
    tried: list[int] = []
    collision = sqlite3.OperationalError("database table is locked")
    collision.sqlite_errorname = "SQLITE_LOCKED"

    class UseCase:
        def __init__(self) -> None:
            self.engine = engine

        @atomic
        def raise_all(self, amount: int, *, last: int) -> str:
            tried.append(amount)
            for account in range(1, last + 1):
                add(engine, account, amount)
                if account == 2 and len(tried) == 1:
                    raise collision
            return "done"

        @snapshot
        def lowest(self) -> int:
            return min(amounts(engine))

    use_case = UseCase()
    assert use_case.raise_all(5, last=3) == "done"
    assert tried == [5, 5], "after a collision, all of it runs again"
    assert use_case.lowest() == 105
    assert amounts(engine) == [105, 105, 105]


def test_a_decorated_function_takes_the_engine_first(engine: Engine) -> None:
    @snapshot
    def write(database: Engine) -> None:
        add(database, 1, 5)

    with pytest.raises(peewee.DatabaseError):
        write(engine)
    atomic(add)(engine, 1, 5)
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
    assert engine.rows("SELECT amount FROM accounts WHERE id = %s", [1]) == [(105,)]
    assert engine.rows("SELECT amount FROM accounts WHERE id = %s", [9]) == []
    assert engine.rows("SELECT id FROM accounts WHERE amount %% 2 = 1") == [(1,)]
    assert engine.db.is_closed()  # no connection stays with this thread


def test_large_results_can_be_streamed(engine: Engine) -> None:
    engine.atomic(lambda: [engine.execute("INSERT INTO accounts VALUES (%s, 1)", [n]) for n in range(10, 2510)])

    def work() -> list[int]:
        query = ACCOUNTS.select(ACCOUNTS.id).where(ACCOUNTS.id >= 10).order_by(ACCOUNTS.id)
        return [row.id for row in engine.stream(query, _Account)]

    assert engine.snapshot(work) == list(range(10, 2510))
