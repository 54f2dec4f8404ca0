"""Mails: what waits to become part of one, what is being sent, and who does not want any."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from peewee import Select, fn

from limes.db.compiled import Compiled, any_of, compiled, compiled_insert, compiled_update, lock
from limes.db.engine import Engine
from limes.db.models import Domain, Job, Mail, MailItem, MailUnsubscribed, Project
from limes.db.rows import named

_CHUNK = 200


class NewItem(NamedTuple):
    """A notification for one recipient."""

    sink: str
    recipient: str
    kind: str
    language: str
    event_id: str
    document: str
    due_at: float


class WaitingItem(NamedTuple):
    """A notification that is not part of a mail yet."""

    number: int
    recipient: str
    kind: str
    language: str
    due_at: float


class MailRow(NamedTuple):
    """A mail that is to be sent."""

    id: str
    recipient: str
    kind: str
    language: str
    made_at: float
    tries: int


class Backlog(NamedTuple):
    """What waits at a sink."""

    sink: str
    mails: int
    since: float


# -- items -------------------------------------------------------------------------------------------------------------

_ADD = compiled_insert(
    MailItem, *(getattr(MailItem, name) for name in NewItem._fields), finish=lambda insert: insert.on_conflict_ignore()
)
_ADDRESS, _ADDRESS_OF_MAIL = fn.LOWER(MailItem.recipient), fn.LOWER(Mail.recipient)
"""However their case is written, these are one recipient."""
_WAITING = tuple(getattr(MailItem, name) for name in WaitingItem._fields)
_DUE_RECIPIENTS = compiled(
    lambda p: (
        MailItem.select(_ADDRESS)
        .where(
            MailItem.sink == p.sink,
            MailItem.mail_id.is_null(),
            (MailItem.due_at <= p.now) | (MailItem.due_at > p.never),
        )
        .group_by(_ADDRESS)
        .order_by(fn.MIN(MailItem.due_at))
        .limit(p.limit)
    )
)
_OF_RECIPIENTS = compiled(
    lambda p: (
        MailItem.select(*_WAITING)
        .where(MailItem.sink == p.sink, MailItem.mail_id.is_null(), any_of(_ADDRESS, p.recipients))
        .order_by(MailItem.number)
    )
)
_DEFER = compiled_update(MailItem.number, MailItem.due_at, lambda p: MailItem.mail_id.is_null())
_ASSIGN = compiled_update(MailItem.number, MailItem.mail_id, lambda p: MailItem.mail_id.is_null())
_DROP = compiled(lambda p: MailItem.delete().where(any_of(MailItem.number, p.numbers)))


def add_items(engine: Engine, items: Sequence[NewItem]) -> None:
    """Queues notifications. Those that are queued already stay as they are."""
    for start in range(0, len(items), _CHUNK):
        engine.write(_ADD, rows=items[start : start + _CHUNK])


def waiting_of_due_recipients(engine: Engine, sink: str, now: float, never: float, limit: int) -> list[WaitingItem]:
    """Returns all that waits for those recipients who have something due, in order; of at most `limit` of them.

    A time later than `never` was set by a wrong clock, and does not count.
    """
    recipients = engine.column(_DUE_RECIPIENTS, sink=sink, now=now, never=never, limit=limit)
    return engine.all(_OF_RECIPIENTS, WaitingItem, sink=sink, recipients=recipients) if recipients else []


def defer_items(engine: Engine, due_at: Mapping[int, float]) -> None:
    """Gives items another time at which they become part of a mail."""
    rows = list(due_at.items())
    for start in range(0, len(rows), _CHUNK):
        engine.write(_DEFER, rows=rows[start : start + _CHUNK])


def drop_items(engine: Engine, numbers: Sequence[int]) -> None:
    """Deletes items that nobody wants."""
    if numbers:
        engine.write(_DROP, numbers=numbers)


# -- mails -------------------------------------------------------------------------------------------------------------

_LEASE = compiled(lambda p: lock(Job.select(Job.next_run_at).where(Job.name == p.name)))
_MADE = (Mail.id, Mail.sink, Mail.recipient, Mail.kind, Mail.language, Mail.made_at, Mail.next_try_at)
_MAKE = compiled_insert(Mail, *_MADE)
_LAST_MADE = compiled(
    lambda p: (
        Mail.select(_ADDRESS_OF_MAIL, Mail.kind, fn.MAX(Mail.made_at))
        .where(Mail.sink == p.sink, any_of(_ADDRESS_OF_MAIL, p.recipients))
        .group_by(_ADDRESS_OF_MAIL, Mail.kind)
    )
)
_DUE = compiled(
    lambda p: (
        Mail.select(*(getattr(Mail, name) for name in MailRow._fields))
        .where(Mail.sink == p.sink, Mail.done_at.is_null(), (Mail.next_try_at <= p.now) | (Mail.next_try_at > p.never))
        .order_by(Mail.next_try_at, Mail.made_at, Mail.id)
        .limit(p.limit)
    )
)
_DOCUMENTS = compiled(
    lambda p: (
        MailItem.select(MailItem.mail_id, MailItem.document)
        .where(any_of(MailItem.mail_id, p.ids))
        .order_by(MailItem.number)
    )
)
_DONE = compiled(lambda p: Mail.update(done_at=p.at, error=p.error).where(Mail.id == p.id))
_LATER = compiled(
    lambda p: Mail.update(tries=Mail.tries + 1, next_try_at=p.next_try_at, error=p.error).where(Mail.id == p.id)
)
_OLD = compiled(lambda p: Mail.select(Mail.id).where(Mail.sink == p.sink, Mail.done_at < p.before).limit(p.limit))
_FORGET_ITEMS = compiled(lambda p: MailItem.delete().where(any_of(MailItem.mail_id, p.ids)))
_FORGET = compiled(lambda p: Mail.delete().where(any_of(Mail.id, p.ids)))
_BACKLOG = compiled(
    lambda p: (
        Mail.select(Mail.sink, fn.COUNT(Mail.id), fn.MIN(Mail.made_at))
        .where(Mail.done_at.is_null())
        .group_by(Mail.sink)
    )
)


def lock_lease(engine: Engine, job: str) -> float | None:
    """Locks the row of a job, and returns until when it is claimed."""
    return next(iter(engine.column(_LEASE, name=job)), None)


def make_mails(engine: Engine, sink: str, mails: Sequence[MailRow], items: Mapping[int, str]) -> None:
    """Makes mails of items, which are given as item number -> mail id."""
    rows = [(mail.id, sink, mail.recipient, mail.kind, mail.language, mail.made_at, mail.made_at) for mail in mails]
    for start in range(0, len(rows), _CHUNK):
        engine.write(_MAKE, rows=rows[start : start + _CHUNK])
    pairs = list(items.items())
    for start in range(0, len(pairs), _CHUNK):
        engine.write(_ASSIGN, rows=pairs[start : start + _CHUNK])


def last_made(engine: Engine, sink: str, recipients: Collection[str]) -> dict[tuple[str, str], float]:
    """Returns when the last mail was made, by kind and by recipient, all in lower case."""
    rows = engine.tuples(_LAST_MADE, sink=sink, recipients=recipients) if recipients else ()
    return {(recipient, kind): at for recipient, kind, at in rows}


def due_mails(engine: Engine, sink: str, now: float, never: float, limit: int) -> list[MailRow]:
    """Returns mails to send, those first that have waited longest."""
    return engine.all(_DUE, MailRow, sink=sink, now=now, never=never, limit=limit)


def documents_of(engine: Engine, ids: Collection[str]) -> dict[str, list[str]]:
    """Returns the notifications in mails, as JSON, by mail."""
    found: dict[str, list[str]] = {id_: [] for id_ in ids}
    for id_, document in engine.tuples(_DOCUMENTS, ids=ids) if ids else ():
        found[id_].append(document)
    return found


def mark_done(engine: Engine, id_: str, at: float, error: str = "") -> None:
    """Notes that a mail was sent, or dropped because of an error."""
    engine.write(_DONE, id=id_, at=at, error=error)


def try_later(engine: Engine, id_: str, next_try_at: float, error: str) -> None:
    """Notes that a mail could not be sent, and when to try again."""
    engine.write(_LATER, id=id_, next_try_at=next_try_at, error=error)


def forget_done(engine: Engine, sink: str, before: float, limit: int) -> None:
    """Deletes at most `limit` mails that were done before that time."""
    ids = engine.column(_OLD, sink=sink, before=before, limit=limit)
    if ids:
        engine.write(_FORGET_ITEMS, ids=ids)
        engine.write(_FORGET, ids=ids)


def backlogs(engine: Engine) -> list[Backlog]:
    """Returns what waits to be sent, by sink."""
    return list(named(Backlog, engine.tuples(_BACKLOG)))


# -- places and people -------------------------------------------------------------------------------------------------

_PROJECTS = compiled(lambda p: Project.select(Project.uuid, Project.name).where(any_of(Project.uuid, p.uuids)))
_DOMAINS = compiled(lambda p: Domain.select(Domain.uuid, Domain.name).where(any_of(Domain.uuid, p.uuids)))
_UNSUBSCRIBED = compiled(
    lambda p: MailUnsubscribed.select(MailUnsubscribed.recipient, MailUnsubscribed.kind).where(
        any_of(MailUnsubscribed.recipient, p.recipients)
    )
)
_ALL_UNSUBSCRIBED = compiled(
    lambda p: MailUnsubscribed.select(MailUnsubscribed.recipient, MailUnsubscribed.kind, MailUnsubscribed.at).order_by(
        MailUnsubscribed.recipient, MailUnsubscribed.kind
    )
)
_UNSUBSCRIBE = compiled_insert(
    MailUnsubscribed,
    MailUnsubscribed.recipient,
    MailUnsubscribed.kind,
    MailUnsubscribed.at,
    finish=lambda insert: insert.on_conflict_ignore(),
)
_SUBSCRIBE = compiled(
    lambda p: MailUnsubscribed.delete().where(
        MailUnsubscribed.recipient == p.recipient, MailUnsubscribed.kind == p.kind
    )
)


_LOCKS = 0x4D41494C
"""The first half of the keys of these locks, so that they are not those of others."""
_LOCK_RECIPIENT = compiled(lambda p: Select(columns=[fn.pg_advisory_xact_lock(_LOCKS, p.recipient).cast("text")]))
_SUBSCRIBE_KINDS = compiled(
    lambda p: MailUnsubscribed.delete().where(
        MailUnsubscribed.recipient == p.recipient, any_of(MailUnsubscribed.kind, p.kinds)
    )
)


def with_names(engine: Engine, documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Adds the names of projects and domains, which notifications about events of commitments do not have."""
    projects = _named(engine, _PROJECTS, [id_ for each in documents if (id_ := each.get("project", {}).get("id"))])
    domains = _named(engine, _DOMAINS, [id_ for each in documents if (id_ := each.get("domain", {}).get("id"))])
    for document in documents:
        for names, part in ((projects, document.get("project", {})), (domains, document.get("domain", {}))):
            if part.get("id") in names:
                part.setdefault("name", names[part["id"]])
    return list(documents)


def _named(engine: Engine, query: Compiled, uuids: Sequence[str]) -> dict[str, str]:
    return dict(engine.tuples(query, uuids=uuids)) if uuids else {}


def unsubscribed(engine: Engine, recipients: Collection[str]) -> set[tuple[str, str]]:
    """Returns which of these recipients, given in lower case, do not want which kinds."""
    rows = engine.tuples(_UNSUBSCRIBED, recipients=recipients) if recipients else ()
    return {(recipient, kind) for recipient, kind in rows}


def all_unsubscribed(engine: Engine) -> list[tuple[str, str, float]]:
    """Returns everybody who has unsubscribed from a kind, and when."""
    return [(recipient, kind, at) for recipient, kind, at in engine.tuples(_ALL_UNSUBSCRIBED)]


def unsubscribe(engine: Engine, recipient: str, kind: str, at: float) -> None:
    """Notes that a recipient does not want a kind."""
    engine.write(_UNSUBSCRIBE, rows=[(recipient, kind, at)])


def subscribe(engine: Engine, recipient: str, kind: str) -> bool:
    """Undoes that. Returns whether there was anything to undo."""
    return engine.write(_SUBSCRIBE, recipient=recipient, kind=kind) > 0


def change_subscriptions(engine: Engine, recipient: str, wanted: Mapping[str, bool], at: float) -> None:
    """Notes which kinds a recipient, given in lower case, wants and does not want.

    Two changes of the same recipient wait for each other: they would take the locks on their rows in different orders.
    """
    if engine.dialect == "postgresql":
        engine.tuples(_LOCK_RECIPIENT, recipient=crc32(recipient.encode()) - 2**31)
    resumed = [kind for kind, is_wanted in wanted.items() if is_wanted]
    ended = [(recipient, kind, at) for kind, is_wanted in sorted(wanted.items()) if not is_wanted]
    if resumed:
        engine.write(_SUBSCRIBE_KINDS, recipient=recipient, kinds=resumed)
    if ended:
        engine.write(_UNSUBSCRIBE, rows=ended)
