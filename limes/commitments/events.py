"""What happened to commitments, numbered in the order in which it was committed.

The row in `commitment_event_counter` stays locked until the transaction ends. So a reader who sees a number sees all
smaller ones too, and a reader that asks for all after a number misses nothing and sees nothing twice. Append events
last in a transaction: until it ends, no other change of a commitment gets a number. The time is read under the same
lock, so that it never decreases from one number to the next.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import orjson
from peewee import fn

from limes.commitments.models import CommitmentEvent, CommitmentEventCounter
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, mapping, rows, value, writes

_LIMIT = 500
_FOR_EVER = 2.0**53


class EventRow(NamedTuple):
    """A change. `document` is JSON. Of a job, the initiator has a name only."""

    event: str
    commitment_uuid: str
    project_uuid: str
    document: str
    initiator_id: str
    initiator_name: str
    request_id: str
    domain_uuid: str


class NumberedEvent(NamedTuple):
    number: int
    at: float
    event: str
    document: str


@value(int)
def _take_numbers(count: int) -> Node:
    counter = CommitmentEventCounter
    return counter.update(last=counter.last + count).where(counter.id == 1).returning(counter.last)


_append = Insert(
    tuple[int, float, str, str, str, str, str, str, str, str],
    CommitmentEvent,
    *(CommitmentEvent.number, CommitmentEvent.at),
    *(getattr(CommitmentEvent, name) for name in EventRow._fields),
)


def append(engine: Engine, events: Sequence[EventRow], clock: Callable[[], float]) -> None:
    """Numbers the events in this order. `clock` gives the present, in seconds since the epoch."""
    for start in range(0, len(events), _LIMIT):
        some = events[start : start + _LIMIT]
        first, at = _take_numbers(engine, len(some)) - len(some) + 1, clock()
        _append(engine, [(first + index, at, *event) for index, event in enumerate(some)])


@rows(NumberedEvent)
def after(number: int, limit: int, since: float = 0.0, until: float = _FOR_EVER) -> Node:
    """At most `limit` events that come after this number, from the first of these times on and before the second."""
    row = CommitmentEvent
    query = row.select(row.number, row.at, row.event, row.document)
    return query.where(row.number > number, row.at >= since, row.at < until).order_by(row.number).limit(limit)


@value(int)
def last_number() -> Node:
    """The number of the last event; 0 if there is none."""
    return CommitmentEventCounter.select(fn.COALESCE(fn.MAX(CommitmentEventCounter.last), 0))


@mapping(str, int)
def count_between(after: int, until: int) -> Node:
    row = CommitmentEvent
    query = row.select(row.event, fn.COUNT(row.number)).where(row.number > after, row.number <= until)
    return query.group_by(row.event)


@mapping(str, str)
def latest_documents(uuids: Collection[str]) -> Node:
    row = CommitmentEvent
    numbers = row.select(fn.MAX(row.number)).where(any_of(row.commitment_uuid, uuids)).group_by(row.commitment_uuid)
    return row.select(row.commitment_uuid, row.document).where(row.number.in_(numbers))


@column(str, skip_empty="uuids")
def _superseded(uuids: Collection[str]) -> Node:
    row = CommitmentEvent
    return row.select(row.document).where(any_of(row.commitment_uuid, uuids), row.event == "superseded")


def replacing(engine: Engine, uuids: Collection[str]) -> set[str]:
    """Returns the UUIDs of the commitments that have ever taken the place of these, as far as these were superseded."""
    documents = _superseded(engine, uuids)
    return {uuid for document in documents for uuid in orjson.loads(document).get("related", ())}


def fill_domains(engine: Engine, limit: int) -> int:
    """Fills in the domain of at most `limit` events that processes of releases before 1.0 have written during the
    upgrade. Returns how many there were."""
    found = _events_without_domain(engine, limit)
    for number, document in found.items():
        _set_domain(engine, number, orjson.loads(document).get("domain_id", ""))
    return len(found)


@mapping(int, str)
def _events_without_domain(limit: int) -> Node:
    row = CommitmentEvent
    return row.select(row.number, row.document).where(row.domain_uuid == "").limit(limit)


@writes
def _set_domain(number: int, domain_uuid: str) -> Node:
    return CommitmentEvent.update(domain_uuid=domain_uuid).where(CommitmentEvent.number == number)
