"""Mails: what waits to become part of one, what is being sent, and who does not want any; what was notified; and which
projects have webhooks."""

from collections.abc import Collection, Mapping, Sequence
from operator import methodcaller
from typing import Any, Literal, NamedTuple
from zlib import crc32

from peewee import Select, fn

from limes.catalog.models import Job
from limes.db.compiled import any_of, lock
from limes.db.compiled_rows import CompiledForRows, compiled_update
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, distinct, first_value, mapping, rows, tuples, writes, writes_for
from limes.notifications import models, rules
from limes.notifications.models import Mail, MailItem, MailUnsubscribed, NotificationCursor, NotificationState
from limes.projects.models import Domain, Project

_CHUNK = 200


class NewItem(NamedTuple):
    sink: str
    recipient: str
    kind: str
    language: str
    event_id: str
    document: str
    due_at: float


class WaitingItem(NamedTuple):
    recipient: str
    kind: str
    language: str
    due_at: float


class MailRow(NamedTuple):
    id: str
    recipient: str
    kind: str
    language: str
    made_at: float
    tries: int


class Backlog(NamedTuple):
    sink: str
    mails: int
    since: float


# -- items -------------------------------------------------------------------------------------------------------------

_ADDRESS, _ADDRESS_OF_MAIL = fn.LOWER(MailItem.recipient), fn.LOWER(Mail.recipient)
"""However their case is written, these are one recipient."""
_WAITS = MailItem.mail_id.is_null()
_DEFER = compiled_update(MailItem.number, MailItem.due_at, condition=lambda p: _WAITS)
_ASSIGN = compiled_update(MailItem.number, MailItem.mail_id, condition=lambda p: _WAITS)

add_items = Insert(NewItem, MailItem, at_once=_CHUNK, finish=methodcaller("on_conflict_ignore"))
"""Queues notifications. Ones that are already queued stay as they are."""


@column(str)
def _due_recipients(sink: str, now: float, never: float, limit: int) -> Node:
    is_due = (MailItem.due_at <= now) | (MailItem.due_at > never)
    query = MailItem.select(_ADDRESS).where(MailItem.sink == sink, _WAITS, is_due)
    return query.group_by(_ADDRESS).order_by(fn.MIN(MailItem.due_at)).limit(limit)


@mapping(int, WaitingItem, skip_empty="recipients")
def _waiting(sink: str, recipients: Collection[str]) -> Node:
    query = MailItem.select(MailItem.number, *(getattr(MailItem, name) for name in WaitingItem._fields))
    return query.where(MailItem.sink == sink, _WAITS, any_of(_ADDRESS, recipients)).order_by(MailItem.number)


def waiting_of_due_recipients(
    engine: Engine, sink: str, now: float, never: float, limit: int
) -> dict[int, WaitingItem]:
    """All that waits for those recipients who have something due, by number and in order; of at most `limit` of them. A
    time later than `never` was set by a wrong clock, and does not count."""
    return _waiting(engine, sink, _due_recipients(engine, sink, now, never, limit))


def _update(engine: Engine, query: CompiledForRows, values: Mapping[int, Any]) -> None:
    pairs = list(values.items())
    for start in range(0, len(pairs), _CHUNK):
        engine.write(query, rows=pairs[start : start + _CHUNK])


def defer_items(engine: Engine, due_at: Mapping[int, float]) -> None:
    _update(engine, _DEFER, due_at)


@writes_for("numbers")
def drop_items(numbers: Sequence[int]) -> Node:
    return MailItem.delete().where(any_of(MailItem.number, numbers))


# -- mails -------------------------------------------------------------------------------------------------------------

_MADE = (Mail.id, Mail.sink, Mail.recipient, Mail.kind, Mail.language, Mail.made_at, Mail.next_try_at)
_add_mails = Insert(tuple[str, str, str, str, str, float, float], Mail, *_MADE, at_once=_CHUNK)


@first_value(float)
def lock_lease(job: str) -> Node:
    """Until when a job is claimed. Its row is locked."""
    return lock(Job.select(Job.next_run_at).where(Job.name == job))


def make_mails(engine: Engine, sink: str, mails: Sequence[MailRow], items: Mapping[int, str]) -> None:
    """Makes mails of items, which are given as item number -> mail id."""
    _add_mails(
        engine,
        [(mail.id, sink, mail.recipient, mail.kind, mail.language, mail.made_at, mail.made_at) for mail in mails],
    )
    _update(engine, _ASSIGN, items)


@mapping(tuple[str, str], float, skip_empty="recipients")
def last_made(sink: str, recipients: Collection[str]) -> Node:
    query = Mail.select(_ADDRESS_OF_MAIL, Mail.kind, fn.MAX(Mail.made_at))
    return query.where(Mail.sink == sink, any_of(_ADDRESS_OF_MAIL, recipients)).group_by(_ADDRESS_OF_MAIL, Mail.kind)


@rows(MailRow)
def due_mails(sink: str, now: float, never: float, limit: int) -> Node:
    """Mails to send, those first that have waited longest."""
    is_due = (Mail.next_try_at <= now) | (Mail.next_try_at > never)
    query = Mail.select(*(getattr(Mail, name) for name in MailRow._fields))
    query = query.where(Mail.sink == sink, Mail.done_at.is_null(), is_due)
    return query.order_by(Mail.next_try_at, Mail.made_at, Mail.id).limit(limit)


@tuples(tuple[str, str], skip_empty="ids")
def _documents(ids: Collection[str]) -> Node:
    query = MailItem.select(MailItem.mail_id, MailItem.document).where(any_of(MailItem.mail_id, ids))
    return query.order_by(MailItem.number)


def documents_of(engine: Engine, ids: Collection[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {id_: [] for id_ in ids}
    for id_, document in _documents(engine, ids):
        found[id_].append(document)
    return found


@writes
def mark_done(id_: str, at: float, error: str = "") -> Node:
    return Mail.update(done_at=at, error=error).where(Mail.id == id_)


@writes
def try_later(id_: str, next_try_at: float, error: str) -> Node:
    return Mail.update(tries=Mail.tries + 1, next_try_at=next_try_at, error=error).where(Mail.id == id_)


@column(str)
def _done(sink: str, before: float, limit: int) -> Node:
    return Mail.select(Mail.id).where(Mail.sink == sink, Mail.done_at < before).limit(limit)


@writes_for("ids")
def _forget(of_items: bool, ids: Collection[str]) -> Node:
    model, id_ = (MailItem, MailItem.mail_id) if of_items else (Mail, Mail.id)
    return model.delete().where(any_of(id_, ids))


def forget_done(engine: Engine, sink: str, before: float, limit: int) -> None:
    ids = _done(engine, sink, before, limit)
    _forget(engine, True, ids)
    _forget(engine, False, ids)


@rows(Backlog)
def backlogs() -> Node:
    query = Mail.select(Mail.sink, fn.COUNT(Mail.id), fn.MIN(Mail.made_at)).where(Mail.done_at.is_null())
    return query.group_by(Mail.sink)


# -- places ------------------------------------------------------------------------------------------------------------


@mapping(str, str, skip_empty="uuids")
def _names(of: Literal["project", "domain"], uuids: Collection[str]) -> Node:
    model: Any = Project if of == "project" else Domain
    found: Node = model.select(model.uuid, model.name).where(any_of(model.uuid, uuids))
    return found


def with_names(engine: Engine, documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Adds the names of projects and domains, which notifications about events of commitments do not have."""
    levels: tuple[Literal["project", "domain"], ...] = ("project", "domain")
    for level in levels:
        places = [place for document in documents if (place := document.get(level, {})).get("id")]
        names = _names(engine, level, [place["id"] for place in places])
        for place in places:
            if place["id"] in names:
                place.setdefault("name", names[place["id"]])
    return list(documents)


# -- people ------------------------------------------------------------------------------------------------------------

_REFUSED = MailUnsubscribed
_refuse = Insert(
    tuple[str, str, float], _REFUSED, _REFUSED.recipient, _REFUSED.kind, _REFUSED.at,
    finish=methodcaller("on_conflict_ignore"),
)  # fmt: skip
_LOCKS = 0x4D41494C
"""The first half of the keys of these locks, so that they are not those of others."""


@tuples(tuple[str, str], skip_empty="recipients")
def unsubscribed(recipients: Collection[str]) -> Node:
    """Which of these recipients, given in lower case, do not want which kinds."""
    return _REFUSED.select(_REFUSED.recipient, _REFUSED.kind).where(any_of(_REFUSED.recipient, recipients))


@tuples(tuple[str, str, float])
def all_unsubscribed() -> Node:
    query = _REFUSED.select(_REFUSED.recipient, _REFUSED.kind, _REFUSED.at)
    return query.order_by(_REFUSED.recipient, _REFUSED.kind)


def unsubscribe(engine: Engine, recipient: str, kind: str, at: float) -> None:
    _refuse(engine, [(recipient, kind, at)])


@writes
def subscribe(recipient: str, kind: str) -> Node:
    return _REFUSED.delete().where(_REFUSED.recipient == recipient, _REFUSED.kind == kind)


@column(str)
def _lock_recipient(number: int) -> Node:
    return Select(columns=[fn.pg_advisory_xact_lock(_LOCKS, number).cast("text")])


@writes_for("kinds")
def _accept(recipient: str, kinds: Collection[str]) -> Node:
    return _REFUSED.delete().where(_REFUSED.recipient == recipient, any_of(_REFUSED.kind, kinds))


def change_subscriptions(engine: Engine, recipient: str, wanted: Mapping[str, bool], at: float) -> None:
    """Notes which kinds a recipient, given in lower case, wants and does not want. Two changes of the same recipient
    wait for each other: they would take the locks on their rows in different orders."""
    if engine.dialect == "postgresql":
        _lock_recipient(engine, crc32(recipient.encode()) - 2**31)
    _accept(engine, recipient, [kind for kind, is_wanted in wanted.items() if is_wanted])
    _refuse(engine, [(recipient, kind, at) for kind, is_wanted in sorted(wanted.items()) if not is_wanted])


# -- what was notified, and up to where the events of commitments were looked at ---------------------------------------


@first_value(int)
def lock_cursor() -> Node:
    """The number of the last event that was looked at, or None. Locked against others who decide what to tell."""
    return lock(NotificationCursor.select(NotificationCursor.last).where(NotificationCursor.id == 1))


@writes
def move_cursor(last: int) -> Node:
    return NotificationCursor.update(last=last).where(NotificationCursor.id == 1)


_STATE = (NotificationState.kind, NotificationState.subject, NotificationState.level)
_insert = Insert(tuple[str, str, int], NotificationState, *_STATE, at_once=200)


@mapping(tuple[str, str], int)
def states() -> Node:
    """The level of everything that was notified and has not ended, by kind and subject."""
    return NotificationState.select(*_STATE)


@writes
def _delete(kind: str, subjects: Collection[str]) -> Node:
    return NotificationState.delete().where(NotificationState.kind == kind, any_of(NotificationState.subject, subjects))


def change_states(engine: Engine, ended: Collection[rules.Key], told: Mapping[rules.Key, int]) -> None:
    """Forgets what has ended, and remembers what is notified now."""
    subjects: dict[str, list[str]] = {}
    for kind, subject in [*ended, *told]:
        subjects.setdefault(kind, []).append(subject)
    for kind, some in subjects.items():
        _delete(engine, kind, some)
    _insert(engine, [(*key, level) for key, level in told.items()])


@writes
def forget_threshold(user_id: str, project_uuid: str) -> Node:
    project = Project.select(Project.id).where(Project.uuid == project_uuid)
    own = models.OwnThreshold
    return own.delete().where(own.user_id == user_id, own.project.in_(project))


@distinct(str, skip_empty="uuids")
def with_webhook(uuids: Collection[str]) -> Node:
    """Those of these projects that have a webhook of their own."""
    hook = models.ProjectWebhook
    return hook.select(Project.uuid).join(Project).where(any_of(Project.uuid, uuids))
