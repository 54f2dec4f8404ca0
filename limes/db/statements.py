"""Statements with fewer round trips and less planning: writes in batches, and prepared reads."""

import contextlib
import hashlib
import logging
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import peewee

log = logging.getLogger(__name__)

_REFUSALS = frozenset({"26000", "42P05", "0A000"})
_ENOUGH = 20


class Batch(threading.local):
    """What each thread has noted to be written, in a block of `collect`. PostgreSQL gets it in one round trip: each of
    them costs more than the work of a small statement."""

    def __init__(self, write: Callable[[str, Sequence[Any]], object], *, joins: bool) -> None:
        """`write` runs a text with its values. `joins` says whether the text may be several statements."""
        self.is_open = False
        self._write = write
        self._joins = joins
        self._statements: list[tuple[str, Sequence[Any]]] = []

    def add(self, text: str, values: Sequence[Any]) -> None:
        self._statements.append((text, values))

    @contextlib.contextmanager
    def collect(self) -> Iterator[None]:
        """Within the block, `Engine.write` only notes what to write, and returns 0. It is written in this order before
        the next read, in one round trip with that, and at the end of the block. To be used inside a transaction."""
        assert not self.is_open, "blocks are not nested"
        self.is_open = True
        try:
            yield
            self.flush()
        finally:
            self.is_open, self._statements = False, []

    def flush(self) -> None:
        """Writes what was noted."""
        if self._statements:
            self._write(*self.after_notes(*self._statements.pop()))

    def after_notes(self, text: str, values: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        """Returns a statement that comes after what was noted, with that before it; or else writes that now."""
        if not self._statements:
            return text, values
        statements, self._statements = self._statements, []
        if self._joins:
            statements.append((text, values))
            return ";\n".join(text for text, _ in statements), [value for _, values in statements for value in values]
        for each in statements:
            self._write(*each)
        return text, values


class PreparedReads:
    """Prepared statements for frequent reads: PostgreSQL takes longer to plan a join of three tables than to run it.

    A statement is prepared on each connection when it is first needed there, and none is where a pooler is known. One
    that is not known may give each transaction another connection: this has no such statement (SQLSTATE 26000), or
    another process has prepared it there, so its name follows from its text. After a migration a plan may be stale
    (0A000). In all these cases the statement runs unprepared, and after some of them no statement is prepared any more.
    Safe to use from many threads: a connection belongs to one at a time."""

    def __init__(self, db: peewee.Database) -> None:
        self._db = db
        self._calls: dict[str, tuple[str, str]] = {}
        self._prepared: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
        self._failures = 0

    @property
    def usable(self) -> bool:
        """Whether prepared statements work with this server and any pooler in front of it."""
        return self._failures < _ENOUGH

    def fetch(self, sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Returns all rows of a SELECT that changes nothing, outside of a transaction. Parameters are written `%s`."""
        name, call = self._calls.get(sql) or self._call(sql, len(params))
        known = self._prepared.setdefault(self._db.connection(), set())
        if name not in known:
            numbers = [f"${number}" for number in range(1, len(params) + 1)]
            # SQL text: PREPARE and EXECUTE
            self._db.execute_sql(f"PREPARE {name} AS {sql % tuple(numbers)}".replace("%", "%%"))
            self._prepared.setdefault(self._db.connection(), set()).add(name)
        return list(self._db.execute_sql(call, params or None).fetchall())

    def _call(self, sql: str, count: int) -> tuple[str, str]:
        """Returns the statement's name on each connection, and how to run it with `count` parameters."""
        name = f"limes_{hashlib.blake2s(sql.encode(), digest_size=10).hexdigest()}"
        marks = f"({', '.join(['%s'] * count)})" if count else ""
        return self._calls.setdefault(sql, (name, f"EXECUTE {name}{marks}"))

    def is_refusal(self, error: BaseException) -> bool:
        """Returns whether to run the statement unprepared. Forgets what was prepared on this thread's connection."""
        cause = getattr(error, "orig", None) or error
        if getattr(cause, "pgcode", None) not in _REFUSALS:
            return False
        self._prepared.pop(self._db.connection(), None)
        self._failures += 1
        if not self.usable:
            log.warning("prepared statements do not work here, so none are used any more: %s", str(cause).strip())
        return True
