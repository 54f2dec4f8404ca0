"""Audit events that wait for delivery, written in the transactions of the changes that they are about.

Each sink has rows of its own. Two changes of the same quota, or of the same commitment, are written under one lock,
which is held until the commit. So within a stream, numbers are in the order of events.
"""

from collections.abc import Sequence
from typing import NamedTuple

from limes.db import models
from limes.db.compiled import any_of, compiled, compiled_insert
from limes.db.engine import Engine

_CHUNK = 500


class OutboxEvent(NamedTuple):
    """An event that waits for delivery."""

    number: int
    stream: str
    event_id: str
    document: str
    tries: int


_Event = models.OutboxEvent
_APPEND = compiled_insert(
    _Event, _Event.at, _Event.sink, _Event.stream, _Event.event_id, _Event.document, _Event.tries, _Event.next_try_at,
    _Event.error,
)  # fmt: skip


def append(engine: Engine, events: Sequence[tuple[float, str, str, str, str]]) -> None:
    """Adds events, given as (time, sink, stream, event id, document)."""
    for start in range(0, len(events), _CHUNK):
        rows = [(*event, 0, event[0], "") for event in events[start : start + _CHUNK]]
        engine.write(_APPEND, rows=rows)


_BACKING_OFF = _Event.alias()
_DUE = compiled(
    lambda p: (
        _Event.select(_Event.number, _Event.stream, _Event.event_id, _Event.document, _Event.tries)
        .where(
            _Event.sink == p.sink,
            _Event.delivered_at.is_null(),
            _Event.stream.not_in(
                _BACKING_OFF.select(_BACKING_OFF.stream).where(
                    _BACKING_OFF.sink == p.sink,
                    _BACKING_OFF.delivered_at.is_null(),
                    _BACKING_OFF.next_try_at > p.now,
                    _BACKING_OFF.next_try_at <= p.never,
                )
            ),
        )
        .order_by(_Event.number)
        .limit(p.limit)
    )
)


def due(engine: Engine, sink: str, now: float, never: float, limit: int) -> list[OutboxEvent]:
    """Returns at most `limit` events for the sink, in order, but none of streams in which an event waits for its next
    try.

    A next try later than `never` was set by a wrong clock, and does not count.
    """
    return engine.all(_DUE, OutboxEvent, sink=sink, now=now, never=never, limit=limit)


_MARK_DELIVERED = compiled(
    lambda p: _Event.update(delivered_at=p.now, error="").where(any_of(_Event.number, p.numbers))
)


def mark_delivered(engine: Engine, numbers: Sequence[int], now: float) -> None:
    """Marks events that the sink is sure to have."""
    if numbers:
        engine.write(_MARK_DELIVERED, numbers=numbers, now=now)


_RETRY_LATER = compiled(
    lambda p: _Event.update(tries=_Event.tries + 1, next_try_at=p.next_try_at, error=p.error).where(
        _Event.number == p.number
    )
)


def retry_later(engine: Engine, number: int, next_try_at: float, error: str) -> None:
    """Notes that the sink refused the event, and when to try again."""
    engine.write(_RETRY_LATER, number=number, next_try_at=next_try_at, error=error)


_HOLD = compiled(lambda p: _Event.update(next_try_at=p.next_try_at).where(_Event.number == p.number))


def hold(engine: Engine, number: int, next_try_at: float) -> None:
    """Notes when to try the event."""
    engine.write(_HOLD, number=number, next_try_at=next_try_at)


_DOCUMENT = compiled(lambda p: _Event.select(_Event.document).where(_Event.event_id == p.id).limit(1))


def document_of(engine: Engine, event_id: str) -> str | None:
    """Returns an event by its id, for whichever sink it is."""
    return next(iter(engine.column(_DOCUMENT, id=event_id)), None)


class DeliveredEvent(NamedTuple):
    """An event that a sink has."""

    delivered_at: float
    stream: str
    document: str


_DELIVERED_WITHIN = compiled(
    lambda p: _Event.select(_Event.delivered_at, _Event.stream, _Event.document).where(
        _Event.sink == p.sink, _Event.delivered_at > p.since, _Event.delivered_at <= p.until
    )
)


def delivered(engine: Engine, sink: str, since: float, until: float) -> list[DeliveredEvent]:
    """Returns what was delivered after `since`, and not after `until`."""
    return engine.all(_DELIVERED_WITHIN, DeliveredEvent, sink=sink, since=since, until=until)


_DELIVERED = compiled(
    lambda p: _Event.select(_Event.number).where(_Event.sink == p.sink, _Event.delivered_at < p.before).limit(p.limit)
)
_DELETE = compiled(lambda p: _Event.delete().where(any_of(_Event.number, p.numbers)))


def forget_delivered(engine: Engine, sink: str, before: float, limit: int) -> int:
    """Deletes at most `limit` events that were delivered before that time. Returns how many."""
    numbers = engine.column(_DELIVERED, sink=sink, before=before, limit=limit)
    if numbers:
        engine.write(_DELETE, numbers=numbers)
    return len(numbers)
