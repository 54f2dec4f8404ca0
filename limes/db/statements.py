"""Statements with fewer round trips and less planning: writes in batches, and prepared reads."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from limes.db.compiled import Prepared
from limes.db.failures import Failure, classify
from limes.db.pool import COMMIT, PostgresqlPool

log = logging.getLogger(__name__)

_ENOUGH = 8
"""Refusals. A transaction is tried more often than that."""


class Batch(threading.local):
    """What each thread has noted to be written, in a block of `collect`. PostgreSQL gets it in one round trip: each of
    them costs more than the work of a small statement."""

    def __init__(self, write: Callable[[str, Sequence[Any]], object], *, joins: bool) -> None:
        """`write` runs a text with its values. `joins` says whether the text may be several statements."""
        self.is_open = False
        self._write = write
        self._joins = joins
        self._statements: list[tuple[str, Sequence[Any]]] = []
        self._noted_before = 0
        """How many of them do not belong to the present block."""

    def add(self, text: str, values: Sequence[Any]) -> None:
        self._statements.append((text, values))

    @contextlib.contextmanager
    def collect(self) -> Iterator[None]:
        """Within the block, `Engine.write` only notes what to write, and returns 0. It is written in this order, in one
        round trip with the next statement after it, or with the COMMIT. To be used inside `Engine.atomic`."""
        assert not self.is_open, "blocks are not nested"
        self.is_open, self._noted_before = True, len(self._statements)
        try:
            yield
        except BaseException:
            del self._statements[self._noted_before :]
            raise
        finally:
            self.is_open = False

    @contextlib.contextmanager
    def ended_by_commit(self) -> Iterator[None]:
        """Stands around a whole transaction: in its last round trip, what is still noted goes with the COMMIT."""
        try:
            yield
            if self._statements and self._joins:
                self._write(*self.after_notes(COMMIT, ()))
            self.flush()
        finally:
            self._statements = []

    def flush(self) -> None:
        """Writes what was noted."""
        if self._statements:
            self._write(*self.after_notes(*self._statements.pop()))

    def after_notes(self, text: str, values: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        """Returns a statement that comes after what was noted, with that before it; or else writes that now."""
        if not self._statements:
            return text, values
        statements, self._statements, self._noted_before = self._statements, [], 0
        if self._joins:
            statements.append((text, values))
            return ";\n".join(text for text, _ in statements), [value for _, values in statements for value in values]
        for each in statements:
            self._write(*each)
        return text, values


class PreparedStatements:
    """For statements that run often: PostgreSQL takes longer to plan a small one than to run it.

    A statement is prepared on each connection when it is first needed there, and none is where a pooler is known. One
    that is not known may give each transaction another connection: this has no such statement (SQLSTATE 26000), or
    another process has prepared it there. After a migration a plan may be stale (0A000). After such a refusal, the
    statement runs unprepared on this connection, its transaction from the beginning; and after some of them no
    statement is prepared any more. Safe to use from many threads: a connection belongs to one at a time."""

    def __init__(self, db: PostgresqlPool) -> None:
        self._db = db
        self._failures = 0

    def is_ready_for(self, prepared: Prepared) -> bool:
        """Prepares it on this thread's connection, unless that has been done. Returns False if it cannot be used."""
        connection = self._db.held
        if connection.prepared is None:
            connection.prepared = set()
        elif prepared.name in connection.prepared:
            return True
        if self._failures >= _ENOUGH or connection.refuses_prepared:
            return False
        self._db.execute_sql(prepared.text)
        connection = self._db.held  # it may be another one by now
        connection.prepared = {prepared.name, *(connection.prepared or ())}
        return True

    def note_refusal(self, error: BaseException) -> bool:
        """Returns whether the statement, or its transaction, has to run again. It is not prepared then."""
        cause = getattr(error, "orig", None) or error
        if classify(error) is not Failure.UNPREPARED:
            return False
        connection = self._db.held
        if connection.prepared is None:
            return True  # it stands in for another one, which was lost
        connection.prepared, connection.refuses_prepared = None, True
        self._failures += 1
        if self._failures == _ENOUGH:
            log.warning("prepared statements do not work here, so none are used any more: %s", str(cause).strip())
        return True


class Repeatable(threading.local):
    """A `with` block around a transaction that runs again if a prepared statement is refused: only there may one be
    used inside of a transaction."""

    is_inside = False
    """Whether this thread is in such a block."""

    def __enter__(self) -> None:
        self.is_inside = True

    def __exit__(self, *_: object) -> None:
        self.is_inside = False
