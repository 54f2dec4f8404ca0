"""Requests for more quota as rows: how they are made, locked and changed. `quota_request_lists` reads them."""

from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

import peewee
from peewee import fn

from limes.catalog.catalog import Ref
from limes.db.compiled import Compiled, any_of, lock, lock_but_not_key
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, grouped, keyed, rows, value, writes
from limes.kernel.errors import NotFound
from limes.projects.models import Domain, Project
from limes.quota.temporary import Term
from limes.requests.models import QuotaRequest, QuotaRequestAmount, QuotaRequestEvent
from limes.requests.rules import UNDECIDED, EventKind, RequestStatus


class LockedRequest(NamedTuple):
    id: int
    domain_id: int
    project_id: int | None
    status: str
    passed_on_from: int | None
    starts_at: float | None
    until: float | None
    requester_id: str

    def term_at(self, now: float) -> Term:
        """Returns for how long the quota is wanted from now on: a beginning that has passed means at once."""
        is_past = self.starts_at is not None and self.starts_at <= now
        return Term(self.until, None if is_past else self.starts_at)

    def status_at(self, now: float) -> str:
        """Returns its state. A request for a time that has passed is expired, even before that is stored."""
        is_over = self.status in UNDECIDED and self.until is not None and self.until <= now
        return RequestStatus.EXPIRED.value if is_over else self.status


class AmountRow(NamedTuple):
    request_id: int
    service_type: str
    resource_name: str
    what: str
    present: int
    wanted: int
    granted: int | None
    rule: str | None = None
    """Which rule has approved it, if no user has."""

    @property
    def ref(self) -> Ref:
        return self.service_type, self.resource_name


class EventRow(NamedTuple):
    request_id: int
    at: float
    kind: str
    text: str
    author_id: str
    author_name: str


# -- new ones ----------------------------------------------------------------------------------------------------------

_MADE = QuotaRequest.select(fn.COUNT(QuotaRequest.id))


@column(int)
def _lock(id_: int, *, is_project: bool) -> Node:
    model: Any = Project if is_project else Domain
    return lock_but_not_key(model.select(model.id).where(model.id == id_))


def lock_requester(engine: Engine, domain_id: int, project_id: int | None) -> None:
    """Until the transaction ends, no other requests are made in this domain, and those of this project stay as they
    are. Raises `NotFound` if it is gone."""
    if not _lock(engine, domain_id, is_project=False):
        raise NotFound("no such domain")
    if project_id is not None and not _lock(engine, project_id, is_project=True):
        raise NotFound("no such project")


@value(int)
def count_of_project_since(project_id: int, since: float) -> Node:
    """Requests of a project that were made after that time."""
    return _MADE.where(QuotaRequest.project == project_id, QuotaRequest.created_at > since)


@value(int)
def count_in_domain_since(domain_id: int, since: float, *, only_own: bool = False) -> Node:
    """Requests of a domain itself that were made after that time, and those of all its projects, unless `only_own`."""
    query = _MADE.where(QuotaRequest.domain == domain_id, QuotaRequest.created_at > since)
    return query.where(QuotaRequest.project.is_null()) if only_own else query


_NEW = (
    *("domain", "project", "reason", "requester_id", "requester_name", "created_at"),
    *("starts_at", "until", "passed_on_from", "status"),
)
_INSERT = Compiled(lambda p: QuotaRequest.insert({name: getattr(p, name) for name in _NEW}).returning(QuotaRequest.id))
Owner = tuple[int, int | None]
"""The ids of a domain and of a project; without one, it is the domain itself."""


def insert(
    engine: Engine,
    owner: Owner,
    reason: str,
    author: tuple[str, str],
    at: float,
    term: Term,
    origin: int | None = None,
    status: RequestStatus = RequestStatus.OPEN,
) -> int:
    """Stores a request without its amounts, made by `author` (id and name), and returns its number. Raises `NotFound`
    if its project is being deleted at this moment."""
    (domain, project), (requester_id, requester_name) = owner, author
    try:
        (id_,) = engine.column(
            _INSERT,
            domain=domain,
            project=project,
            reason=reason,
            requester_id=requester_id,
            requester_name=requester_name,
            created_at=at,
            starts_at=term.starts_at,
            until=term.until,
            passed_on_from=origin,
            status=status.value,
        )
    except peewee.IntegrityError as error:
        raise NotFound("no such project or domain") from error
    return int(id_)


add_amounts = Insert(AmountRow, QuotaRequestAmount)
"""Stores what requests ask for."""
add_events = Insert(EventRow, QuotaRequestEvent)
"""Adds to conversations, in this order."""

# -- locks -------------------------------------------------------------------------------------------------------------

_LOCKED = QuotaRequest.select(
    *(QuotaRequest.id, QuotaRequest.domain, QuotaRequest.project, QuotaRequest.status, QuotaRequest.passed_on_from),
    *(QuotaRequest.starts_at, QuotaRequest.until, QuotaRequest.requester_id),
).order_by(QuotaRequest.id)
IS_OPEN = QuotaRequest.status == RequestStatus.OPEN.value
IS_UNDECIDED = any_of(QuotaRequest.status, [status.value for status in UNDECIDED])
open_since = fn.COALESCE(
    QuotaRequestEvent.select(fn.MAX(QuotaRequestEvent.at)).where(
        QuotaRequestEvent.request == QuotaRequest.id, QuotaRequestEvent.kind == EventKind.CONFIRMED.value
    ),
    QuotaRequest.created_at,
)
"""Since when those who decide can see a request; of a proposed one, since when it waits to be confirmed."""


def _is_of(project: peewee.Field, uuids: Collection[str]) -> peewee.ColumnBase:
    return any_of(project, Project.select(Project.id).where(any_of(Project.uuid, uuids)))


@keyed(int, "id", LockedRequest)
def lock_family(request_id: int) -> Node:
    """The request, the one that it was passed on from, and those that it was passed on as, by id. Their state
    stays as it is until the transaction ends."""
    request = QuotaRequest.alias()
    origin = request.select(request.passed_on_from).where(request.id == request_id)
    is_same = (QuotaRequest.id == request_id) | (QuotaRequest.passed_on_from == request_id)
    return lock(_LOCKED.where(is_same | any_of(QuotaRequest.id, origin)))


@rows(LockedRequest)
def lock_undecided_of_project(project_id: int) -> Node:
    return lock(_LOCKED.where(QuotaRequest.project == project_id, IS_UNDECIDED))


@rows(LockedRequest)
def lock_open_of_domain(domain_id: int) -> Node:
    """The open requests that a domain has made for itself."""
    own = (QuotaRequest.project.is_null(), QuotaRequest.passed_on_from.is_null())
    return lock(_LOCKED.where(QuotaRequest.domain == domain_id, *own, IS_OPEN))


@rows(LockedRequest)
def lock_open_of_projects(uuids: Collection[str]) -> Node:
    """The open requests of these projects, which are locked: no others can be made."""
    return lock(_LOCKED.where(_is_of(QuotaRequest.project, uuids), IS_OPEN))


@rows(LockedRequest, skip_empty="ids")
def lock_passed_on(ids: Collection[int]) -> Node:
    """The open requests of domains that these requests of projects were passed on as. The latter are to be locked
    before, so that they are not passed on at the same time."""
    return lock(_LOCKED.where(any_of(QuotaRequest.passed_on_from, ids), IS_OPEN))


# -- changes -----------------------------------------------------------------------------------------------------------


@writes
def close(ids: Collection[int], status: RequestStatus, at: float) -> Node:
    """Gives requests a state that is final. They are locked."""
    return QuotaRequest.update(status=status, decided_at=at).where(any_of(QuotaRequest.id, ids))


@writes
def open_proposed(request_id: int) -> Node:
    """Opens a request, which is locked."""
    return QuotaRequest.update(status=RequestStatus.OPEN.value).where(QuotaRequest.id == request_id)


@writes
def remove_amounts(request_id: int) -> Node:
    """Forgets what a request asks for, which is to be stored anew."""
    return QuotaRequestAmount.delete().where(QuotaRequestAmount.request == request_id)


@writes
def forget_origins(projects: Collection[str]) -> Node:
    """Separates what was passed on from the requests of these projects (by UUID), which are about to be deleted."""
    origin = QuotaRequest.alias()
    made_for = origin.select(origin.id).where(_is_of(origin.project, projects))
    return QuotaRequest.update(passed_on_from=None).where(any_of(QuotaRequest.passed_on_from, made_for))


@writes
def _set(request_id: int, service: str, name: str, column: Literal["granted", "rule"], value: int | str) -> Node:
    amount = QuotaRequestAmount
    is_it = (amount.request == request_id, amount.service_type == service, amount.resource_name == name)
    return amount.update({column: value}).where(*is_it)


def write_granted(engine: Engine, request_id: int, granted: Mapping[Ref, int]) -> None:
    for ref, amount in granted.items():
        _set(engine, request_id, *ref, "granted", amount)


def write_rules(engine: Engine, request_id: int, rules: Mapping[Ref, str]) -> None:
    for ref, rule in rules.items():
        _set(engine, request_id, *ref, "rule", rule)


@grouped(int, "request_id", AmountRow, skip_empty="ids")
def amounts_of(ids: Collection[int]) -> Node:
    """What requests ask for, by request id, sorted by service and resource."""
    amount = QuotaRequestAmount
    query = amount.select(*[amount._meta.columns[name] for name in AmountRow._fields])
    return query.where(any_of(amount.request, ids)).order_by(amount.request, amount.service_type, amount.resource_name)
