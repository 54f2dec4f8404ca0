"""What happened to commitments, numbered in the order in which it was committed.

The number's row in `commitment_event_counter` stays locked until the transaction ends. So when a reader sees a number,
all smaller ones are there as well, and whoever asks for what comes after a number misses nothing and sees nothing
twice. Take numbers as the last deed of a transaction: until its end, no other change of a commitment gets one. The time
is read under the same lock, so that it does not run backwards from one number to the next.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from limes.db.engine import Engine, placeholders

_LIMIT = 500


class EventRow(NamedTuple):
    """A change. `document` is JSON."""

    event: str
    commitment_uuid: str
    project_uuid: str
    document: str


class NumberedEvent(NamedTuple):
    """A change with its number."""

    number: int
    at: float
    event: str
    document: str


def append(engine: Engine, events: Sequence[EventRow], clock: Callable[[], float]) -> None:
    """Numbers the events in this order. `clock` gives the present, in seconds since the epoch."""
    for start in range(0, len(events), _LIMIT):
        some = events[start : start + _LIMIT]
        row = engine.row(
            "UPDATE commitment_event_counter SET last = last + %s WHERE id = 1 RETURNING last", [len(some)]
        )
        assert row is not None
        first, at = int(row[0]) - len(some) + 1, clock()
        engine.execute(
            "INSERT INTO commitment_events (number, at, event, commitment_uuid, project_uuid, document) VALUES "
            + ", ".join(["(%s, %s, %s, %s, %s, %s)"] * len(some)),
            [value for index, event in enumerate(some) for value in (first + index, at, *event)],
        )


def after(engine: Engine, number: int, limit: int) -> list[NumberedEvent]:
    """At most `limit` events that come after this number."""
    rows = engine.rows(
        "SELECT number, at, event, document FROM commitment_events WHERE number > %s ORDER BY number LIMIT %s",
        [number, limit],
    )
    return [NumberedEvent._make(row) for row in rows]


def of_commitment(engine: Engine, uuid: str) -> list[NumberedEvent]:
    """The history of one commitment."""
    rows = engine.rows(
        "SELECT number, at, event, document FROM commitment_events WHERE commitment_uuid = %s ORDER BY number", [uuid]
    )
    return [NumberedEvent._make(row) for row in rows]


def latest_documents(engine: Engine, uuids: Collection[str]) -> dict[str, str]:
    """The document of each commitment's last event, by the commitment's UUID."""
    found: dict[str, str] = {}
    ordered = sorted(uuids)
    for start in range(0, len(ordered), _LIMIT):
        some = ordered[start : start + _LIMIT]
        rows = engine.rows(
            "SELECT commitment_uuid, document FROM commitment_events WHERE number IN (SELECT MAX(number)"
            f" FROM commitment_events WHERE commitment_uuid IN ({placeholders(len(some))}) GROUP BY commitment_uuid)",
            some,
        )
        found |= dict(rows)
    return found
