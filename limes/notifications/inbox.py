"""The inbox of a user: what others have decided on the user's own requests for quota, and said about them.

It is read from the conversations of the requests. Stored is only up to when the user has seen it.
"""

import enum
from typing import NamedTuple

from msgspec import Struct
from peewee import EXCLUDED, JOIN, fn

from limes.app.context import Limes
from limes.db import compiled, query, transactions
from limes.notifications.models import InboxSeen
from limes.projects.models import Domain, Project
from limes.requests.models import QuotaRequest, QuotaRequestEvent
from limes.requests.rules import EventKind


class InboxEvent(enum.StrEnum):
    """What a requester wants to know of."""

    CONFIRMED = EventKind.CONFIRMED
    APPROVED = EventKind.APPROVED
    PARTLY_APPROVED = EventKind.PARTLY_APPROVED
    REJECTED = EventKind.REJECTED
    EXPIRED = EventKind.EXPIRED
    PASSED_ON = EventKind.PASSED_ON
    RETURNED = EventKind.RETURNED
    WITHDRAWN = EventKind.WITHDRAWN
    SUPERSEDED = EventKind.SUPERSEDED
    COMMENT = EventKind.COMMENT


class InboxRow(NamedTuple):
    number: int
    at: float
    kind: str
    text: str
    author_id: str
    author_name: str
    request_id: int
    domain_uuid: str
    domain_name: str
    project_uuid: str | None
    """None: the request is about the domain's own quota."""
    project_name: str | None


class Inbox(Struct, frozen=True):
    seen_at: int | None
    """Up to the end of this second, the user has seen everything. None: nothing yet."""
    unread: int
    """How many there are that are newer, on all pages."""
    items: list[InboxRow]


@transactions.snapshot
def show_inbox(limes: Limes, user_id: str, before: int, limit: int) -> Inbox:
    """Returns at most `limit` items with a number below `before`, the newest first. Three queries, however many there
    are."""
    seen = _seen(limes.engine, user_id)
    seen_at = None if seen is None else int(seen)
    unread = _count_since(limes.engine, user_id, 0 if seen_at is None else seen_at + 1)
    return Inbox(seen_at, unread, _page(limes.engine, user_id, before, limit))


@transactions.atomic
def mark_seen(limes: Limes, user_id: str, seen_at: int) -> None:
    """The user has seen what came until then. What was seen stays seen, and what is yet to come is not."""
    _see(limes.engine, user_id, min(seen_at, int(limes.now())))


# -- SQL ---------------------------------------------------------------------------------------------------------------

_EVENT = QuotaRequestEvent


@query.first_value(float)
def _seen(user_id: str) -> query.Node:
    return InboxSeen.select(InboxSeen.seen_at).where(InboxSeen.user_id == user_id)


@query.writes
def _see(user_id: str, seen_at: float) -> query.Node:
    insert = InboxSeen.insert(user_id=user_id, seen_at=seen_at)
    is_later = EXCLUDED.seen_at > InboxSeen.seen_at
    return insert.on_conflict(conflict_target=[InboxSeen.user_id], preserve=[InboxSeen.seen_at], where=is_later)


def _of(found: compiled.Select, user_id: str) -> compiled.Select:
    """Restricts events of requests to those that the requester wants to know of: what others have done."""
    is_news = (_EVENT.kind.in_([kind.value for kind in InboxEvent]), _EVENT.author_id != user_id)
    return found.join(QuotaRequest).where(QuotaRequest.requester_id == user_id, *is_news)


@query.value(int)
def _count_since(user_id: str, since: float) -> query.Node:
    return _of(_EVENT.select(fn.COUNT(_EVENT.number)), user_id).where(_EVENT.at >= since)


@query.rows(InboxRow)
def _page(user_id: str, before: int, limit: int) -> query.Node:
    own = (_EVENT.number, _EVENT.at, _EVENT.kind, _EVENT.text, _EVENT.author_id, _EVENT.author_name, _EVENT.request)
    found = _EVENT.select(*own, Domain.uuid, Domain.name, Project.uuid, Project.name)
    found = _of(found, user_id).where(_EVENT.number < before)
    found = found.join_from(QuotaRequest, Domain)
    found = found.join_from(QuotaRequest, Project, JOIN.LEFT_OUTER, on=(QuotaRequest.project == Project.id))
    return found.order_by(_EVENT.number.desc()).limit(limit)
