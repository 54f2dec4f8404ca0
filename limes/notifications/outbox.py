"""Notifications on their way: into the outbox, in the transaction in which something happens, and to a webhook.

So each is notified once, and none is lost if a process dies. What a webhook gets about one domain is bounded: beyond so
many notifications a minute, one POST carries all that wait. What was sent within the last minute is read from the
outbox, so the bound holds whichever collector has its turn, and after one was killed. A domain beyond its bound holds
up only itself, and what its own people write cannot make the receiver refuse what is about others.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

import orjson
from msgspec import Struct

from limes.app.context import Limes
from limes.audit import outbox
from limes.audit.sinks import Delivery, OutgoingEvent, Sink
from limes.db.engine import Engine
from limes.notifications import queries
from limes.notifications.rules import PREFIX, PROJECTS, REQUEST_DECIDED, SEVERAL


def announce(
    limes: Limes, kind: str, remedy: str, at: float, documents: Iterable[tuple[str, Mapping[str, Any]]]
) -> None:
    """Queues the documents for each sink, each in its stream. If no sink wants the kind, they are not even made."""
    section = limes.settings.notifications
    if section.has_receivers and kind not in section.except_kinds:
        queue_notifications(
            limes, at, ((stream, message(limes, kind, remedy, at, document)) for stream, document in documents)
        )


def message(
    limes: Limes, kind: str, remedy: str, at: float, document: Mapping[str, Any], severity: str | None = None
) -> dict[str, Any]:
    weight = {"severity": severity} if severity else {}
    return {"id": limes.ids.uuid(), "kind": str(kind), **weight, "at": int(at), "remedy": remedy, **document}


def queue_notifications(
    limes: Limes, at: float, messages: Iterable[tuple[str, Mapping[str, Any]]], sinks: Sequence[str] | None = None
) -> int:
    """Writes messages for each sink and for the webhooks of their projects, or only for these sinks. Each is in its
    stream. Returns how many messages there were."""
    messages, section = list(messages), limes.settings.notifications
    texts = [(stream, message["id"], orjson.dumps(message).decode()) for stream, message in messages]
    of_all = section.sinks if sinks is None else sinks
    rows = [(at, PREFIX + sink, *text) for text in texts for sink in of_all]
    if sinks is None and section.project_webhooks.allowed_hosts:
        projects = [message.get("project", {}).get("id", "") for _, message in messages]
        hooked = queries.with_webhook(limes.engine, sorted({*projects} - {""}))
        rows += [
            (at, PREFIX + PROJECTS, project, *text[1:])
            for project, text in zip(projects, texts, strict=True)
            if project in hooked
        ]
    outbox.append(limes.engine, rows)
    return len(texts)


# -- the bound of a webhook --------------------------------------------------------------------------------------------

_WINDOW = 60.0
_PAUSE = 10.0
"""Seconds between two POSTs about a domain that is beyond its bound."""
_SIZE = 500_000
"""Bytes of notifications in one POST; a single one may have more."""


class _Notification(NamedTuple):
    event: OutgoingEvent
    document: Mapping[str, Any]


class BoundPosts(Struct, frozen=True):
    """Sends notifications singly while there are at most this many a minute about a domain and all its projects; or
    about a project, if each has a receiver of its own."""

    limes: Limes
    sink: Sink
    closed_requests: Callable[[Engine, Sequence[int]], Collection[int]]
    """Which requests of these ids were withdrawn or replaced."""
    by_project: bool = False

    @property
    def name(self) -> str:
        return self.sink.name

    def try_out(self) -> str | None:
        return self.sink.try_out()

    def deliver(self, events: Sequence[OutgoingEvent]) -> Delivery:
        now = self.limes.now()
        found = [_Notification(event, orjson.loads(event.document)) for event in events]
        vain = self._in_vain(found)
        waiting: dict[str, list[_Notification]] = {}
        for each in found:
            if each.event.number not in vain:
                waiting.setdefault(self._bound(each.document, each.event.stream), []).append(each)
        sent = self._sent(now)
        posts: dict[int, Sequence[_Notification]] = {}
        later: dict[int, float] = {}
        for domain, notifications in waiting.items():
            groups, time = self._plan(notifications, sent.get(domain, []), now)
            posts |= {group[0].event.number: group for group in groups}
            taken = {each.event.number for group in groups for each in group}
            later |= {each.event.number: time for each in notifications if each.event.number not in taken}
        delivery = self.sink.deliver([_post(posts[number]) for number in sorted(posts)])
        delivered = [each.event.number for number in delivery.delivered for each in posts[number]]
        refused = {each.event.number: why for number, why in delivery.refused.items() for each in posts[number]}
        return Delivery([*vain, *delivered], refused, delivery.error, later)

    def _plan(
        self, waiting: Sequence[_Notification], sent: Sequence[float], now: float
    ) -> tuple[list[Sequence[_Notification]], float]:
        if len(sent) + len(waiting) <= self.limes.settings.notifications.webhook.at_most_per_minute:
            return [[each] for each in waiting], now
        if sent and max(sent) + _PAUSE > now:
            return [], max(sent) + _PAUSE
        return [_together(waiting)], now + _PAUSE

    def _sent(self, now: float) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for row in outbox.delivered(self.limes.engine, self.name, now - _WINDOW, now):
            found.setdefault(self._bound(orjson.loads(row.document), row.stream), []).append(row.delivered_at)
        return found

    def _bound(self, document: Mapping[str, Any], stream: str) -> str:
        """Returns the project, which is the stream; or the UUID of the domain. What is about none has the service."""
        return stream if self.by_project else str(document.get("domain", {}).get("id", stream))

    def _in_vain(self, notifications: Sequence[_Notification]) -> set[int]:
        """Returns the numbers of those about requests that have been withdrawn or replaced in the meantime."""
        about = [
            each for each in notifications if "request" in each.document and each.document["kind"] != REQUEST_DECIDED
        ]
        requests = {each.event.number: each.document["request"]["id"] for each in about}
        closed = self.closed_requests(self.limes.engine, sorted({*requests.values()}))
        return {number for number, id_ in requests.items() if id_ in closed}


def _together(waiting: Sequence[_Notification]) -> Sequence[_Notification]:
    """Returns what goes into one POST. What was refused before goes alone: the receiver may not take all of them."""
    size = 0
    for number, each in enumerate(waiting):
        size += len(each.event.document.encode())
        if number and (each.event.tries or size > _SIZE):
            return waiting[:number]
        if each.event.tries:
            return waiting[:1]
    return waiting


def _post(group: Sequence[_Notification]) -> OutgoingEvent:
    first = group[0].event
    if len(group) == 1:
        return first
    documents = [each.document for each in group]
    id_ = str(uuid5(NAMESPACE_URL, " ".join(each.event.id for each in group)))  # the same if all of it is repeated
    head = {"id": id_, "kind": SEVERAL, "at": max(each["at"] for each in documents)}
    place = {"domain": documents[0]["domain"]} if "domain" in documents[0] else {}
    text = orjson.dumps({**head, **place, "count": len(documents), "notifications": documents}).decode()
    return OutgoingEvent(first.number, first.stream, id_, text)
