"""Follows the row locks that transactions take on PostgreSQL, and compares them with `limes.app.models.LOCK_ORDER`.

All engines of the tests' process are followed. A statement that locks only rows that the transaction has locked before
cannot wait; that is told by the numbers that it is given.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest

from limes.app.models import LOCK_ORDER
from limes.db.engine import Engine

RANKS = {model._meta.table_name: rank for rank, model in enumerate(LOCK_ORDER)}
_CHANGE = re.compile(r'\s*(?:UPDATE|DELETE FROM) "(\w+)"')
_UPSERT = re.compile(r'\s*INSERT INTO "(\w+)".* ON CONFLICT .*DO UPDATE', re.DOTALL)
_INSERT = re.compile(r'\s*INSERT INTO "(\w+)"')
_SELECT = re.compile(r'FROM "(\w+)".* FOR (?:(?:NO KEY )?UPDATE|KEY SHARE)(?! OF "?\w+"? SKIP| SKIP)', re.DOTALL)
"""Whoever skips locked rows does not wait."""


class _Transaction(threading.local):
    """What this thread's transaction has locked so far: by table, the numbers that the rows were asked for with."""

    def __init__(self) -> None:
        self.locked: dict[str, set[int]] = {}
        self.inserted: set[str] = set()
        """The tables that it has rows of its own in, which nobody else can have locked."""


@cache
def locked_table(statement: str) -> tuple[str, bool] | None:
    """Returns the table in which the statement may wait for rows, and whether it does nothing but lock them."""
    if match := _CHANGE.match(statement) or _UPSERT.match(statement):
        return match[1], False
    match = _SELECT.search(statement)
    return (match[1], True) if match else None


class LockTrace:
    """Follows all engines of this process. `mistakes` are the locks that were taken out of order."""

    def __init__(self) -> None:
        self.mistakes: list[str] = []
        self._transaction = _Transaction()

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Begins to follow."""
        atomic, execute = Engine.atomic, Engine._execute

        def traced_atomic(engine: Engine, work: Callable[[], Any]) -> Any:
            return atomic(engine, work if engine._in_transaction() else lambda: self._begin(work))

        def traced_execute(engine: Engine, text: str, params: Sequence[Any], take: Callable[[Any], Any]) -> Any:
            if engine.dialect == "postgresql" and engine._in_transaction():
                self.follow(text, params)
            return execute(engine, text, params, take)

        patch.setattr(Engine, "atomic", traced_atomic)
        patch.setattr(Engine, "_execute", traced_execute)

    def _begin(self, work: Callable[[], Any]) -> Any:
        self._transaction.locked, self._transaction.inserted = {}, set()
        return work()

    def follow(self, text: str, params: Sequence[Any]) -> None:
        """Notes the locks of a text, which may be several statements."""
        rest = list(params)
        for statement in text.split(";\n"):
            count = statement.count("%s")
            values, rest = rest[:count], rest[count:]
            found = locked_table(statement)
            if found is not None and found[0] in RANKS:
                self._note(*found, set(_numbers(values)), statement)
            elif inserted := _INSERT.match(statement):
                self._transaction.inserted.add(inserted[1])

    def _note(self, table: str, only_locks: bool, numbers: set[int], statement: str) -> None:
        locked = self._transaction.locked
        is_known = table in locked and (not only_locks or numbers <= locked[table])
        is_known = is_known or (not only_locks and table in self._transaction.inserted)
        later = [other for other in locked if RANKS[other] > RANKS[table]]
        if later and not is_known:
            self.mistakes.append(f"{table} after {', '.join(later)}: {statement[:200]}")
        locked.setdefault(table, set()).update(numbers)


def _numbers(values: Iterable[Any]) -> Iterator[int]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _numbers(value)
        elif isinstance(value, int):
            yield value
