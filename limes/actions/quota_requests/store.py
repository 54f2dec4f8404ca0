"""What the use cases of quota requests have in common: locking and closing requests, and their conversation.

Invariant: a request leaves the state `open` once. Who changes its state locks its row first, and looks at the state
under that lock; so of two decisions at once, one is made, and the other learns of it.

All functions are to be called inside a transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.actions import change_log
from limes.actions.change_log import scope_of
from limes.actions.context import Limes
from limes.actions.lookup import Place, Target, find, find_domain, ids_of
from limes.actions.quota_requests.announce import announce_step
from limes.core.quota_requests import EventKind, RequestStatus
from limes.core.temporary_quota import Term
from limes.db.queries import quota_requests as queries
from limes.db.queries.projects import ProjectRow, projects_by_id
from limes.db.queries.quota_requests import AmountRow, EventRow, LockedRequest
from limes.errors import Conflict, NotFound

_DAY = 86400.0


@dataclass(frozen=True, slots=True)
class Locked:
    """A request whose state nobody else changes until the transaction ends."""

    target: Target
    request: LockedRequest
    origin: LockedRequest | None
    """The project's request that it was passed on from, if that is open."""


def lock_request(limes: Limes, place: Place, request_id: int, *, must_be_open: bool = True) -> Locked:
    """Returns the request of that place, locked. Raises `NotFound`, and `Conflict` if it is not open any more."""
    target = find(limes.engine, place)
    rows = queries.lock_family(limes.engine, request_id)
    request = rows.get(request_id)
    if request is None or not _is_of(target, request):
        raise no_such_request(request_id)
    status = request.status_at(limes.now())
    if must_be_open and status != RequestStatus.OPEN.value:
        raise Conflict(f"quota request {request_id} is {status.replace('_', ' ')}, not open")
    origin = rows.get(request.passed_on_from or 0)
    is_open = origin is not None and origin.status == RequestStatus.OPEN.value
    return Locked(target, request, origin if is_open else None)


def _is_of(target: Target, request: LockedRequest) -> bool:
    if isinstance(target, ProjectRow):
        return request.project_id == target.id
    return request.project_id is None and request.domain_id == target.id


def no_such_request(request_id: int) -> NotFound:
    """Returns the error for a request that does not exist there."""
    return NotFound(f"no such quota request: {request_id}")


def project_of(limes: Limes, request: LockedRequest) -> ProjectRow:
    """Returns the project of a request that is not a domain's own."""
    assert request.project_id is not None
    return projects_by_id(limes.engine, [request.project_id])[request.project_id]


def admit(limes: Limes, domain_id: int, project_id: int | None) -> None:
    """Locks the domain, and the project that asks, against others who make requests of it.

    Raises `NotFound` if it is gone, and `Conflict` after very many requests: each is told to those who decide.
    """
    engine, section, since = limes.engine, limes.settings.quota_requests, limes.now() - _DAY
    queries.lock_requester(engine, domain_id, project_id)
    if project_id is None:
        level, made = "domain", queries.count_in_domain_since(engine, domain_id, since, only_own=True)
    else:
        level, made = "project", queries.count_of_project_since(engine, project_id, since)
    if made >= section.at_most_per_day:
        raise _too_many(f"this {level} has made {section.at_most_per_day}")
    if queries.count_in_domain_since(engine, domain_id, since) >= section.at_most_per_day_in_domain:
        raise _too_many(f"this domain and its projects have made {section.at_most_per_day_in_domain}")


def _too_many(made: str) -> Conflict:
    return Conflict(
        f"{made} quota requests within 24 hours, which is as many as are allowed: wait, or ask for all resources in one"
        " request"
    )


def store(
    limes: Limes, target: Target, reason: str, amounts: Sequence[AmountRow], term: Term, origin: int | None = None
) -> int:
    """Stores an open request, made for that of a project with the number `origin`, and returns its number."""
    author = (limes.initiator.id, limes.initiator.name)
    id_ = queries.insert(limes.engine, ids_of(target), reason, author, limes.now(), term, origin)
    queries.add_amounts(limes.engine, [row._replace(request_id=id_) for row in amounts])
    return id_


def record_step(
    limes: Limes, target: Target, ids: Sequence[int], kind: EventKind, text: str, **details: object
) -> None:
    """Adds to the conversations of requests, and tells the audit and those whom it concerns."""
    now, author = limes.now(), limes.initiator
    queries.add_events(limes.engine, [EventRow(id_, now, kind.value, text, author.id, author.name) for id_ in ids])
    for id_ in ids:
        change_log.record_quota_request(limes, scope_of(target), id_, kind.value, details)
    announce_step(limes, kind, ids, now, text, details.get("passed_on_to"))


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
