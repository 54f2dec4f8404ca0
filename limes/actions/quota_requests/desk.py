"""What the use cases of quota requests have in common: finding, locking and closing requests, and their conversation.

Invariant: a request leaves the state `open` once. Who changes its state locks its row first, and looks at the state
under that lock; so of two decisions at once, one is made, and the other learns of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from limes.actions.change_log import ChangeLog, scope_of
from limes.actions.lookup import find_domain, find_project
from limes.actions.quota_requests.announce import Announce
from limes.actions.set_autogrow_bounds import SetAutogrowBounds
from limes.actions.set_domain_quota import SetDomainQuota
from limes.actions.set_project_quota import SetProjectQuota
from limes.audit.initiator import Initiator
from limes.core.catalog import Catalog
from limes.core.quota_requests import AutoApprovalRule, EventKind, RequestStatus
from limes.db.engine import Engine
from limes.db.queries import quota_requests as queries
from limes.db.queries.projects import DomainRow, ProjectRow, projects_by_id
from limes.db.queries.quota_requests import EventRow, LockedRequest
from limes.errors import Conflict, NotFound
from limes.system import Clock

_DAY = 86400.0
Target = DomainRow | ProjectRow


@dataclass(frozen=True, slots=True)
class Place:
    """The domain or project, by UUIDs, whose requests are meant. A domain has no project."""

    domain_uuid: str
    project_uuid: str = ""


@dataclass(frozen=True, slots=True)
class Locked:
    """A request whose state nobody else changes until the transaction ends."""

    target: Target
    request: LockedRequest
    origin: LockedRequest | None
    """The project's request that it was passed on from."""


@dataclass(frozen=True, slots=True)
class Desk:
    """The collaborators. All methods but `now` are to be called inside a transaction."""

    engine: Engine
    catalog: Catalog
    clock: Clock
    change_log: ChangeLog
    set_project_quota: SetProjectQuota
    set_domain_quota: SetDomainQuota
    set_autogrow_bounds: SetAutogrowBounds
    rules: Sequence[AutoApprovalRule] = ()
    """By which requests of projects are approved at once."""
    announce: Announce | None = None
    """Tells people; None: nobody is told."""
    at_most_per_day: int = 100
    """Requests of a project, and of a domain itself."""
    at_most_per_day_in_domain: int = 1000
    """Requests of a domain itself and of all its projects."""

    def now(self) -> float:
        """Returns the time."""
        return self.clock.now().timestamp()

    def find(self, place: Place) -> Target:
        """Returns the domain or project. Raises `NotFound`."""
        if place.project_uuid:
            return find_project(self.engine, place.domain_uuid, place.project_uuid)
        return find_domain(self.engine, place.domain_uuid)

    def project_of(self, request: LockedRequest) -> ProjectRow:
        """Returns the project of a request that is not a domain's own."""
        assert request.project_id is not None
        return projects_by_id(self.engine, [request.project_id])[request.project_id]

    def lock(self, place: Place, request_id: int, *, must_be_open: bool = True) -> Locked:
        """Returns the request of that place, locked. Raises `NotFound`, and `Conflict` if it is not open any more."""
        target = self.find(place)
        rows = queries.lock_family(self.engine, request_id)
        request = rows.get(request_id)
        if request is None or not is_of(target, request):
            raise no_such_request(request_id)
        status = request.status_at(self.now())
        if must_be_open and status != RequestStatus.OPEN.value:
            raise Conflict(f"quota request {request_id} is {status.replace('_', ' ')}, not open")
        return Locked(target, request, rows.get(request.passed_on_from or 0))

    def admit(self, domain_id: int, project_id: int | None) -> None:
        """Locks the domain, and the project that asks, against others who make requests of it.

        Raises `NotFound` if it is gone, and `Conflict` after very many requests: each is told to those who decide.
        """
        queries.lock_requester(self.engine, domain_id, project_id)
        since = self.now() - _DAY
        if project_id is None:
            level, made = "domain", queries.count_in_domain_since(self.engine, domain_id, since, only_own=True)
        else:
            level, made = "project", queries.count_of_project_since(self.engine, project_id, since)
        if made >= self.at_most_per_day:
            raise _too_many(f"this {level} has made {self.at_most_per_day}")
        if queries.count_in_domain_since(self.engine, domain_id, since) >= self.at_most_per_day_in_domain:
            raise _too_many(f"this domain and its projects have made {self.at_most_per_day_in_domain}")

    def record(
        self, target: Target, ids: Sequence[int], kind: EventKind, text: str, initiator: Initiator, **details: object
    ) -> None:
        """Adds to the conversations of requests, and tells the audit and those whom it concerns."""
        now = self.now()
        queries.add_events(
            self.engine, [EventRow(id_, now, kind.value, text, initiator.id, initiator.name) for id_ in ids]
        )
        for id_ in ids:
            self.change_log.by(initiator).record_quota_request(scope_of(target), id_, kind.value, details)
        if self.announce is not None:
            self.announce.step(kind, ids, now, text, initiator, details.get("passed_on_to"))

    def announce_opened(self, request_id: int) -> None:
        """Tells those who decide that there is something to decide."""
        if self.announce is not None:
            self.announce.opened(request_id, self.now())

    def close(
        self,
        target: Target,
        ids: Sequence[int],
        status: RequestStatus,
        text: str,
        initiator: Initiator,
        **details: object,
    ) -> None:
        """Gives requests, which are locked, a final state."""
        if ids:
            queries.close(self.engine, ids, status, self.now())
            self.record(target, ids, EventKind(status.value), text, initiator, **details)

    def close_passed_on(self, project: ProjectRow, ids: Sequence[int], text: str, initiator: Initiator) -> None:
        """Closes what requests of a project, which are locked, were passed on as: there is nothing to wait for."""
        above = [row.id for row in queries.lock_passed_on(self.engine, ids)]
        if above:
            domain = find_domain(self.engine, project.domain_uuid)
            self.close(domain, above, RequestStatus.SUPERSEDED, text, initiator)


def _too_many(made: str) -> Conflict:
    return Conflict(
        f"{made} quota requests within 24 hours, which is as many as are allowed: wait, or ask for all resources in one"
        " request"
    )


def is_of(target: Target, request: LockedRequest) -> bool:
    """Returns whether it is a request of that project, or of that domain itself."""
    if isinstance(target, ProjectRow):
        return request.project_id == target.id
    return request.project_id is None and request.domain_id == target.id


def no_such_request(request_id: int) -> NotFound:
    """Returns the error for a request that does not exist there."""
    return NotFound(f"no such quota request: {request_id}")
