"""What the use cases of quota requests have in common: locking, closing and showing requests, telling people of them,
and their conversation.

Invariant: a request leaves the state `proposed` once, and `open` once. Who changes its state locks its row first, and
looks at the state under that lock; so of two decisions at once, one is made, and the other learns of it.

All functions are to be called inside a transaction, but for the last ones, which are use cases of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from limes.app.context import Limes
from limes.catalog.catalog import Catalog
from limes.db.engine import Engine
from limes.db.transactions import atomic, snapshot
from limes.kernel.errors import Conflict, Forbidden, NotFound
from limes.notifications import outbox, rules
from limes.projects.queries import ProjectRow, projects_by_id
from limes.projects.scope import Place, Target, find, find_domain, ids_of
from limes.quota import change_log, temporary
from limes.quota.change_log import scope_of
from limes.requests import lists, queries
from limes.requests.lists import Filters, RequestRow
from limes.requests.queries import AmountRow, EventRow, LockedRequest
from limes.requests.rules import EventKind, RequestStatus

_DECIDED = (EventKind.APPROVED, EventKind.PARTLY_APPROVED, EventKind.REJECTED, EventKind.EXPIRED)
_KINDS: Mapping[EventKind, str] = {
    **dict.fromkeys(_DECIDED, rules.REQUEST_DECIDED),
    EventKind.PASSED_ON: rules.REQUEST_PASSED_ON,
}
_BY_OTHERS = (EventKind.WITHDRAWN, EventKind.SUPERSEDED)
"""What a requester in a project is notified of if another user does it."""
"""Notifications about the steps of a request. That it is new or was confirmed is notified apart, as rules may approve
it at once."""
_REMEDIES = {
    rules.REQUEST_PROPOSED: "Confirm or reject it.",
    rules.REQUEST_CONFIRMED: "Nothing has to be done. It waits for a decision.",
    rules.REQUEST_OPENED: "Approve or reject it, or pass it on.",
    rules.REQUEST_DECIDED: "Nothing has to be done.",
    rules.REQUEST_PASSED_ON: (
        "Nothing has to be done. It is approved together with the request that it was passed on as."
    ),
}


def announce_new(limes: Limes, request_id: int, kind: str = rules.REQUEST_OPENED) -> None:
    """Notifies those who decide, or, of what was proposed, those who confirm."""
    _tell(limes, kind, [request_id], limes.now(), {})


def announce_confirmed(limes: Limes, request_id: int, comment: str) -> None:
    """Notifies who has proposed it."""
    who = {"id": limes.initiator.id, "name": limes.initiator.name}
    _tell(limes, rules.REQUEST_CONFIRMED, [request_id], limes.now(), {"comment": comment, "decided_by": who})


def _tell(
    limes: Limes, kind: str, ids: Sequence[int], at: float, details: Mapping[str, Any], except_of: str | None = None
) -> None:
    """Notifies of requests, without those of one user."""

    def documents() -> Iterator[tuple[str, dict[str, Any]]]:
        for stream, document in request_documents(limes, ids):
            if document["request"]["requester"]["id"] == except_of:
                continue
            document["request"] |= {name: value for name, value in details.items() if value is not None}
            yield stream, document

    outbox.announce(limes, kind, _REMEDIES[kind], at, documents())


def request_documents(limes: Limes, ids: Sequence[int]) -> list[tuple[str, dict[str, Any]]]:
    """Returns requests as notifications show them, each with its stream, in the order of their numbers."""
    amounts, catalog, rows = queries.amounts_of(limes.engine, ids), limes.catalog, lists.by_ids(limes.engine, ids)
    return [(row.project_uuid or row.domain_uuid, _document(catalog, row, amounts[row.id])) for row in rows]


def _document(catalog: Catalog, row: RequestRow, amounts: Sequence[AmountRow]) -> dict[str, Any]:
    resources = [
        {
            "service": amount.service_type,
            "resource": amount.resource_name,
            "unit": catalog.unit_of(amount.ref).value or None,
            "present": amount.present,
            "wanted": amount.wanted,
            "granted": amount.granted,
        }
        for amount in amounts
    ]
    project = {} if row.project_uuid is None else {"project": {"id": row.project_uuid, "name": row.project_name}}
    return {
        "level": "project" if project else "domain",
        "domain": {"id": row.domain_uuid, "name": row.domain_name},
        **project,
        "request": {
            "id": row.id,
            "status": row.status,
            "reason": row.reason,
            "requester": {"id": row.requester_id, "name": row.requester_name},
            "passed_on_from": row.passed_on_from,
            **{name: int(time) for name, time in (("from", row.starts_at), ("until", row.until)) if time is not None},
            "resources": resources,
        },
    }


_DAY = 86400.0


class HeldRequest(Struct, frozen=True):
    """A request whose state stays as it is until the transaction ends."""

    target: Target
    request: LockedRequest
    origin: LockedRequest | None
    """The project's request that it was passed on from, if that is open."""


_ONLY_OPEN = (RequestStatus.OPEN,)


def lock_request(
    limes: Limes, place: Place, request_id: int, states: Sequence[RequestStatus] = _ONLY_OPEN
) -> HeldRequest:
    """Returns the request of that place, locked. Raises `NotFound`, and `Conflict` in any other state; without states,
    each will do."""
    target = find(limes.engine, place)
    rows = queries.lock_family(limes.engine, request_id)
    request = rows.get(request_id)
    if request is None or (request.domain_id, request.project_id) != ids_of(target):
        raise no_such_request(request_id)
    status = request.status_at(limes.now())
    if states and status not in states:
        raise Conflict(f"quota request {request_id} is {status.replace('_', ' ')}, not {states[0]}")
    origin = rows.get(request.passed_on_from or 0)
    is_open = origin is not None and origin.status == RequestStatus.OPEN.value
    return HeldRequest(target, request, origin if is_open else None)


def no_such_request(request_id: int) -> NotFound:
    return NotFound(f"no such quota request: {request_id}")


def project_of(limes: Limes, request: LockedRequest) -> ProjectRow:
    assert request.project_id is not None  # or it were a domain's own
    return projects_by_id(limes.engine, [request.project_id])[request.project_id]


def admit(limes: Limes, domain_id: int, project_id: int | None) -> None:
    """Locks the domain, and the project that asks, against others who make requests of it. Raises `NotFound` if it is
    gone, and `Conflict` after very many requests: each notifies those who decide."""
    engine, section, since = limes.engine, limes.settings.quota_requests, limes.now() - _DAY
    queries.lock_requester(engine, domain_id, project_id)
    if project_id is None:
        level, made = "domain", queries.count_in_domain_since(engine, domain_id, since, only_own=True)
    else:
        level, made = "project", queries.count_of_project_since(engine, project_id, since)
    if made >= section.at_most_per_day:
        text = f"this {level} has made {section.at_most_per_day}"
    elif queries.count_in_domain_since(engine, domain_id, since) >= section.at_most_per_day_in_domain:
        text = f"this domain and its projects have made {section.at_most_per_day_in_domain}"
    else:
        return
    raise Conflict(
        f"{text} quota requests within 24 hours, which is as many as are allowed: wait, or ask for all resources in one"
        " request"
    )


def add_request(
    limes: Limes,
    target: Target,
    reason: str,
    amounts: Sequence[AmountRow],
    term: temporary.Term,
    origin: int | None = None,
    status: RequestStatus = RequestStatus.OPEN,
) -> int:
    """Stores a request, made for that of a project with the number `origin`, and returns its number."""
    author = (limes.initiator.id, limes.initiator.name)
    id_ = queries.insert(limes.engine, ids_of(target), reason, author, limes.now(), term, origin, status)
    queries.add_amounts(limes.engine, [row._replace(request_id=id_) for row in amounts])
    return id_


def record_step(
    limes: Limes, target: Target, ids: Sequence[int], kind: EventKind, text: str, **details: object
) -> None:
    """Adds to the conversations of requests, records it for the audit, and notifies those whom it concerns."""
    now, author = limes.now(), limes.initiator
    queries.add_events(limes.engine, [EventRow(id_, now, kind.value, text, author.id, author.name) for id_ in ids])
    for id_ in ids:
        change_log.record_quota_request(limes, scope_of(target), id_, kind.value, details)
    who = {"id": author.id, "name": author.name}
    said = {"comment": text, "decided_by": who, "passed_on_to": details.get("passed_on_to")}
    if kind in _KINDS:
        _tell(limes, _KINDS[kind], ids, now, said)
    elif kind in _BY_OTHERS and isinstance(target, ProjectRow):
        _tell(limes, rules.REQUEST_DECIDED, ids, now, said, except_of=author.id)


def close_requests(
    limes: Limes, target: Target, ids: Sequence[int], status: RequestStatus, text: str, **details: object
) -> None:
    """Gives requests, which are locked, a final state."""
    if ids:
        queries.close(limes.engine, ids, status, limes.now())
        record_step(limes, target, ids, EventKind(status.value), text, **details)


def close_passed_on(limes: Limes, project: ProjectRow, ids: Sequence[int], text: str) -> None:
    """Closes what requests of a project, which are locked, were passed on as: there is nothing to wait for."""
    above = [row.id for row in queries.lock_passed_on(limes.engine, ids)]
    if above:
        domain = find_domain(limes.engine, project.domain_uuid)
        close_requests(limes, domain, above, RequestStatus.SUPERSEDED, text)


MOST_EVENTS = 200
"""How long a conversation can get by comments."""
_LATEST = 20
"""As much of a conversation as the answers to changes have."""


class RequestView(Struct, frozen=True):
    """A request with all that is to be shown of it."""

    row: RequestRow
    amounts: Sequence[AmountRow]
    passed_on_to: int | None
    """The number of the domain's request."""
    conversation: Sequence[EventRow] = ()
    first: int = 1
    """The number of its first entry here."""
    entries: int = 0
    """How many it has in all."""


@snapshot
def list_requests(
    limes: Limes, place: Place | None, filters: Filters, before: int, limit: int
) -> tuple[list[RequestView], int]:
    """Lists the requests of a project; those of a domain and of all its projects; or, without a place, all: a page, and
    how many there are. The newest are first; `before` is the number of a request. Raises `NotFound`."""
    if place is not None:
        target = find(limes.engine, place)
        is_project = isinstance(target, ProjectRow)
        filters = (
            structs.replace(filters, project_id=target.id)
            if is_project
            else structs.replace(filters, domain_id=target.id)
        )
    rows = lists.page(limes.engine, filters, before, limit)
    return _describe(limes.engine, rows), lists.count(limes.engine, filters)


@snapshot
def show_request(limes: Limes, place: Place, request_id: int, limit: int = _LATEST, before: int = 2**62) -> RequestView:
    """Returns a request of that project, or of that domain itself, with at most that many entries of its conversation
    before the one of a number, from 1. Raises `NotFound`."""
    engine = limes.engine
    find(engine, place)
    row = lists.one(engine, request_id)
    if row is None or Place(row.domain_uuid, row.project_uuid or "") != place:
        raise no_such_request(request_id)
    (described,) = _describe(engine, [row])
    entries = lists.count_events(engine, request_id)
    end = min(entries, before - 1)
    skipped = max(0, end - limit)
    some = lists.conversation(engine, request_id, skipped, end - skipped)
    return structs.replace(described, conversation=some, first=skipped + 1, entries=entries)


def _describe(engine: Engine, rows: Sequence[RequestRow]) -> list[RequestView]:
    ids = [row.id for row in rows]
    amounts, above = queries.amounts_of(engine, ids), lists.passed_on_as(engine, ids)
    return [RequestView(row, amounts[row.id], above.get(row.id)) for row in rows]


def refuse_others(limes: Limes, held: HeldRequest) -> None:
    """Raises `Forbidden` for a request that is not the caller's own."""
    if not limes.initiator.id or held.request.requester_id != limes.initiator.id:
        raise Forbidden("only admins of the project may do this to requests of others")


@atomic
def add_comment(limes: Limes, place: Place, request_id: int, text: str, *, only_own: bool = False) -> None:
    """Adds a comment, even to a request that is closed. Raises `NotFound`, `Forbidden` with `only_own`, and `Conflict`
    after very many."""
    locked = lock_request(limes, place, request_id, ())
    if only_own:
        refuse_others(limes, locked)
    if lists.count_events(limes.engine, request_id) >= MOST_EVENTS:
        problem = f"the conversation about quota request {request_id} has {MOST_EVENTS} entries already"
        raise Conflict(f"{problem}: no more comments are possible")
    record_step(limes, locked.target, [request_id], EventKind.COMMENT, text)
