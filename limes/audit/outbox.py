"""Audit events that wait for delivery, written in the transactions of the changes that they are about.

Each sink has rows of its own. Two changes of the same quota, or of the same commitment, are written under one lock,
which is held until the commit. So within a stream, numbers are in the order of events.
"""

from collections.abc import Sequence
from typing import NamedTuple

from limes.audit.models import OutboxEvent
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, first_value, rows, tuples, writes, writes_for

_Event = OutboxEvent
_append = Insert(
    tuple[float, str, str, str, str, int, float, str],
    _Event,
    *(_Event.at, _Event.sink, _Event.stream, _Event.event_id, _Event.document),
    *(_Event.tries, _Event.next_try_at, _Event.error),
    at_once=500,
    prepare=True,
)


def append(engine: Engine, events: Sequence[tuple[float, str, str, str, str]]) -> None:
    """Adds events, given as (time, sink, stream, event id, document)."""
    _append(engine, [(*event, 0, event[0], "") for event in events])


@tuples(tuple[int, str, str, str, int])
def due(sink: str, now: float, never: float, limit: int) -> Node:
    """At most `limit` events for the sink in order, as (number, stream, event id, document, tries), but none of streams
    in which an event waits for its next try. A next try later than `never` was set by a wrong clock, and does not
    count."""
    waiting = _Event.alias()
    waits = (waiting.delivered_at.is_null(), waiting.next_try_at > now, waiting.next_try_at <= never)
    streams = waiting.select(waiting.stream).where(waiting.sink == sink, *waits)
    query = _Event.select(_Event.number, _Event.stream, _Event.event_id, _Event.document, _Event.tries)
    query = query.where(_Event.sink == sink, _Event.delivered_at.is_null(), _Event.stream.not_in(streams))
    return query.order_by(_Event.number).limit(limit)


@writes_for("numbers")
def mark_delivered(numbers: Sequence[int], now: float) -> Node:
    return _Event.update(delivered_at=now, error="").where(any_of(_Event.number, numbers))


@writes
def retry_later(number: int, next_try_at: float, error: str) -> Node:
    changes = _Event.update(tries=_Event.tries + 1, next_try_at=next_try_at, error=error)
    return changes.where(_Event.number == number)


@writes
def hold(number: int, next_try_at: float) -> Node:
    return _Event.update(next_try_at=next_try_at).where(_Event.number == number)


@first_value(str)
def document_of(event_id: str) -> Node:
    return _Event.select(_Event.document).where(_Event.event_id == event_id).limit(1)


class DeliveredEvent(NamedTuple):
    delivered_at: float
    stream: str
    document: str


@rows(DeliveredEvent)
def delivered(sink: str, since: float, until: float) -> Node:
    query = _Event.select(_Event.delivered_at, _Event.stream, _Event.document)
    return query.where(_Event.sink == sink, _Event.delivered_at > since, _Event.delivered_at <= until)


@column(int)
def _delivered_before(sink: str, before: float, limit: int) -> Node:
    return _Event.select(_Event.number).where(_Event.sink == sink, _Event.delivered_at < before).limit(limit)


@writes_for("numbers")
def _delete(numbers: Sequence[int]) -> Node:
    return _Event.delete().where(any_of(_Event.number, numbers))


def forget_delivered(engine: Engine, sink: str, before: float, limit: int) -> int:
    """Deletes at most `limit` events that were delivered before that time. Returns how many."""
    numbers = _delivered_before(engine, sink, before, limit)
    _delete(engine, numbers)
    return len(numbers)
