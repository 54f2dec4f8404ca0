"""Accounts to write to: what transactions are tried on."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from peewee import Table

from limes.db.engine import Engine

ACCOUNTS = Table("accounts", ["id", "amount"])


def amounts(engine: Engine) -> list[int]:
    """What they have, in order."""
    return [amount for (amount,) in engine.rows("SELECT amount FROM accounts ORDER BY id")]


def add(engine: Engine, account: int, amount: int) -> None:
    """Gives to one of them, or takes."""
    assert engine.execute("UPDATE accounts SET amount = amount + %s WHERE id = %s", [amount, account]) == 1


def in_threads(*works: Callable[[], object]) -> None:
    """Runs all at the same time, and raises what they raise."""
    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result(100)
