"""What happened to commitments, numbered in the order in which it was committed.

The row in `commitment_event_counter` stays locked until the transaction ends. So a reader who sees a number sees all
smaller ones too, and whoever asks for what comes after a number misses nothing and sees nothing twice. Append events
last in a transaction: until it ends, no other change of a commitment gets a number. The time is read under the same
lock, so that it never decreases from one number to the next.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import orjson
from peewee import fn

from limes.db.compiled import any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import CommitmentEvent, CommitmentEventCounter

_LIMIT = 500
_FOR_EVER = 2.0**53


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


_TAKE_NUMBERS = compiled(
    lambda p: (
        CommitmentEventCounter.update(last=CommitmentEventCounter.last + p.count)
        .where(CommitmentEventCounter.id == 1)
        .returning(CommitmentEventCounter.last)
    )
)
_APPEND = compiled_insert(
    CommitmentEvent, CommitmentEvent.number, CommitmentEvent.at, CommitmentEvent.event, CommitmentEvent.commitment_uuid,
    CommitmentEvent.project_uuid, CommitmentEvent.document,
)  # fmt: skip


def append(engine: Engine, events: Sequence[EventRow], clock: Callable[[], float]) -> None:
    """Numbers the events in this order. `clock` gives the present, in seconds since the epoch."""
    for start in range(0, len(events), _LIMIT):
        some = events[start : start + _LIMIT]
        (last,) = engine.column(_TAKE_NUMBERS, count=len(some))
        first, at = last - len(some) + 1, clock()
        engine.write(_APPEND, rows=[(first + index, at, *event) for index, event in enumerate(some)])


_COLUMNS = (CommitmentEvent.number, CommitmentEvent.at, CommitmentEvent.event, CommitmentEvent.document)
_AFTER = compiled(
    lambda p: (
        CommitmentEvent.select(*_COLUMNS)
        .where(CommitmentEvent.number > p.number, CommitmentEvent.at >= p.since, CommitmentEvent.at < p.until)
        .order_by(CommitmentEvent.number)
        .limit(p.limit)
    )
)


def after(
    engine: Engine, number: int, limit: int, times: tuple[float, float] = (0.0, _FOR_EVER)
) -> list[NumberedEvent]:
    """Returns at most `limit` events that come after this number, from the first of these times on and before the
    second."""
    since, until = times
    return engine.all(_AFTER, NumberedEvent, number=number, limit=limit, since=since, until=until)


class EventCount(NamedTuple):
    """How many events of a kind there are."""

    event: str
    events: int


_LAST_NUMBER = compiled(lambda p: CommitmentEventCounter.select(CommitmentEventCounter.last))
_COUNT_BETWEEN = compiled(
    lambda p: (
        CommitmentEvent.select(CommitmentEvent.event, fn.COUNT(CommitmentEvent.number))
        .where(CommitmentEvent.number > p.after, CommitmentEvent.number <= p.until)
        .group_by(CommitmentEvent.event)
    )
)


def last_number(engine: Engine) -> int:
    """Returns the number of the last event; 0 if there is none."""
    return max(engine.column(_LAST_NUMBER), default=0)


def count_between(engine: Engine, after: int, until: int) -> list[EventCount]:
    """Counts the events that come after the first number, up to the second one."""
    return engine.all(_COUNT_BETWEEN, EventCount, after=after, until=until)


class _Document(NamedTuple):
    uuid: str
    document: str


_LATEST = compiled(
    lambda p: CommitmentEvent.select(CommitmentEvent.commitment_uuid, CommitmentEvent.document).where(
        CommitmentEvent.number.in_(
            CommitmentEvent.select(fn.MAX(CommitmentEvent.number))
            .where(any_of(CommitmentEvent.commitment_uuid, p.uuids))
            .group_by(CommitmentEvent.commitment_uuid)
        )
    )
)


def latest_documents(engine: Engine, uuids: Collection[str]) -> dict[str, str]:
    """Returns the document of each commitment's last event, by the commitment's UUID."""
    return {row.uuid: row.document for row in engine.all(_LATEST, _Document, uuids=sorted(uuids))}


_SUPERSEDED = compiled(
    lambda p: CommitmentEvent.select(CommitmentEvent.document).where(
        any_of(CommitmentEvent.commitment_uuid, p.uuids), CommitmentEvent.event == "superseded"
    )
)


def replacing(engine: Engine, uuids: Collection[str]) -> set[str]:
    """Returns the UUIDs of the commitments that have ever taken the place of these, as far as these were superseded."""
    documents = engine.column(_SUPERSEDED, uuids=sorted(uuids)) if uuids else ()
    return {uuid for document in documents for uuid in orjson.loads(document).get("related", ())}
