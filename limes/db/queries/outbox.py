"""Audit events that wait to be delivered, written in the transactions of the changes that they are about.

Each sink has rows of its own. Two changes of the same quota, or of the same commitment, are written under a lock that
both transactions hold until they commit; so in one stream the order of numbers is the order of events.
"""

from collections.abc import Sequence
from typing import NamedTuple

from limes.db.engine import Engine, placeholders

_CHUNK = 500


class OutboxEvent(NamedTuple):
    """An event that waits."""

    number: int
    stream: str
    event_id: str
    document: str
    tries: int


def append(engine: Engine, rows: Sequence[tuple[float, str, str, str, str]]) -> None:
    """Adds events, given as (time, sink, stream, event id, document)."""
    for start in range(0, len(rows), _CHUNK):
        some = rows[start : start + _CHUNK]
        engine.execute(
            "INSERT INTO audit_outbox (at, sink, stream, event_id, document, tries, next_try_at, error) VALUES "
            + ", ".join(["(%s, %s, %s, %s, %s, 0, %s, '')"] * len(some)),
            [value for row in some for value in (*row, row[0])],
        )


def due(engine: Engine, sink: str, now: float, never: float, limit: int) -> list[OutboxEvent]:
    """At most `limit` events for the sink, in order, without the streams in which one waits for its next try.

    A next try later than `never` is the work of a clock that was wrong.
    """
    waiting = "sink = %s AND delivered_at IS NULL"
    rows = engine.rows(
        f"SELECT number, stream, event_id, document, tries FROM audit_outbox WHERE {waiting}"
        f" AND stream NOT IN (SELECT stream FROM audit_outbox WHERE {waiting}"
        " AND next_try_at > %s AND next_try_at <= %s)"
        " ORDER BY number LIMIT %s",
        [sink, sink, now, never, limit],
    )
    return [OutboxEvent._make(row) for row in rows]


def mark_delivered(engine: Engine, numbers: Sequence[int], now: float) -> None:
    """Says that the sink has these events for sure."""
    if numbers:
        engine.execute(
            f"UPDATE audit_outbox SET delivered_at = %s, error = '' WHERE number IN ({placeholders(len(numbers))})",
            [now, *numbers],
        )


def retry_later(engine: Engine, number: int, next_try_at: float, error: str) -> None:
    """Says that the sink did not take the event, and when to try again."""
    engine.execute(
        "UPDATE audit_outbox SET tries = tries + 1, next_try_at = %s, error = %s WHERE number = %s",
        [next_try_at, error, number],
    )


def forget_delivered(engine: Engine, sink: str, before: float, limit: int) -> int:
    """Deletes events that were delivered before that time: at most `limit`. Answers how many."""
    rows = engine.rows(
        "SELECT number FROM audit_outbox WHERE sink = %s AND delivered_at < %s LIMIT %s", [sink, before, limit]
    )
    if rows:
        numbers = [row[0] for row in rows]
        engine.execute(f"DELETE FROM audit_outbox WHERE number IN ({placeholders(len(numbers))})", numbers)
    return len(rows)
