"""Requests for more quota as rows: how they are made, locked and changed. `quota_request_lists` reads them."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import peewee
from peewee import fn

from limes.core.catalog import Ref
from limes.core.quota_requests import RequestStatus
from limes.core.temporary_quota import Term
from limes.db.compiled import Parameters, any_of, compiled, compiled_insert, lock, lock_but_not_key
from limes.db.engine import Engine
from limes.db.models import Domain, Project, QuotaRequest, QuotaRequestAmount, QuotaRequestEvent
from limes.errors import NotFound


class NewRequest(NamedTuple):
    """A request that was just made, without its amounts. A domain's has no project."""

    domain: int
    project: int | None
    status: str
    reason: str
    created_at: float
    requester_id: str
    requester_name: str
    passed_on_from: int | None
    starts_at: float | None = None
    until: float | None = None

    @property
    def term(self) -> Term:
        """For how long the quota is wanted."""
        return Term(self.until, self.starts_at)


class LockedRequest(NamedTuple):
    """A request whose state is decided on."""

    id: int
    domain_id: int
    project_id: int | None
    status: str
    passed_on_from: int | None
    starts_at: float | None
    until: float | None

    def term_at(self, now: float) -> Term:
        """Returns for how long the quota is wanted from now on: a beginning that has passed means at once."""
        is_past = self.starts_at is not None and self.starts_at <= now
        return Term(self.until, None if is_past else self.starts_at)

    def status_at(self, now: float) -> str:
        """Returns its state. A request for a time that has passed is expired, even before that is stored."""
        is_over = self.status == RequestStatus.OPEN.value and self.until is not None and self.until <= now
        return RequestStatus.EXPIRED.value if is_over else self.status


class AmountRow(NamedTuple):
    """A quota that a request asks for."""

    request_id: int
    service_type: str
    resource_name: str
    what: str
    present: int
    wanted: int
    granted: int | None
    rule: str | None = None
    """Which rule has approved it, if nobody else has."""

    @property
    def ref(self) -> Ref:
        """The resource."""
        return self.service_type, self.resource_name


class EventRow(NamedTuple):
    """Something that was said or decided about a request."""

    request_id: int
    at: float
    kind: str
    text: str
    author_id: str
    author_name: str


AMOUNT_COLUMNS = tuple(QuotaRequestAmount._meta.columns[name] for name in AmountRow._fields)
EVENT_COLUMNS = tuple(QuotaRequestEvent._meta.columns[name] for name in EventRow._fields)

# -- new ones ----------------------------------------------------------------------------------------------------------

_LOCK_DOMAIN = compiled(lambda p: lock_but_not_key(Domain.select(Domain.id).where(Domain.id == p.id)))
_LOCK_PROJECT = compiled(lambda p: lock_but_not_key(Project.select(Project.id).where(Project.id == p.id)))
_MADE_SINCE = QuotaRequest.select(fn.COUNT(QuotaRequest.id))
_SINCE_OF_PROJECT = compiled(
    lambda p: _MADE_SINCE.where(QuotaRequest.project == p.id, QuotaRequest.created_at > p.since)
)
_SINCE_OF_DOMAIN = compiled(
    lambda p: _MADE_SINCE.where(
        QuotaRequest.domain == p.id, QuotaRequest.project.is_null(), QuotaRequest.created_at > p.since
    )
)
_SINCE_IN_DOMAIN = compiled(lambda p: _MADE_SINCE.where(QuotaRequest.domain == p.id, QuotaRequest.created_at > p.since))
_INSERT = compiled(
    lambda p: QuotaRequest.insert(
        {getattr(QuotaRequest, name): getattr(p, name) for name in NewRequest._fields}
    ).returning(QuotaRequest.id)
)
_ADD_AMOUNTS = compiled_insert(QuotaRequestAmount, *AMOUNT_COLUMNS)
_ADD_EVENTS = compiled_insert(QuotaRequestEvent, *EVENT_COLUMNS)


def lock_requester(engine: Engine, domain_id: int, project_id: int | None) -> None:
    """Until the transaction ends, nobody else makes requests in this domain, or changes those of this project.

    Raises `NotFound` if it is gone.
    """
    if not engine.column(_LOCK_DOMAIN, id=domain_id):
        raise NotFound("no such domain")
    if project_id is not None and not engine.column(_LOCK_PROJECT, id=project_id):
        raise NotFound("no such project")


def count_since(engine: Engine, domain_id: int, project_id: int | None, since: float) -> int:
    """Returns how many requests of a project, or of a domain itself, were made after that time."""
    query, id_ = (_SINCE_OF_DOMAIN, domain_id) if project_id is None else (_SINCE_OF_PROJECT, project_id)
    (count,) = engine.column(query, id=id_, since=since)
    return int(count)


def count_in_domain_since(engine: Engine, domain_id: int, since: float) -> int:
    """Returns how many requests of a domain itself and of all its projects were made after that time."""
    (count,) = engine.column(_SINCE_IN_DOMAIN, id=domain_id, since=since)
    return int(count)


def insert(engine: Engine, request: NewRequest) -> int:
    """Stores a request and returns its number. Raises `NotFound` if its project is being deleted at this moment."""
    try:
        (id_,) = engine.column(_INSERT, **request._asdict())
    except peewee.IntegrityError as error:
        raise NotFound("no such project or domain") from error
    return int(id_)


def add_amounts(engine: Engine, amounts: Sequence[AmountRow]) -> None:
    """Stores what a request asks for."""
    engine.write(_ADD_AMOUNTS, rows=amounts)


def add_events(engine: Engine, events: Sequence[EventRow]) -> None:
    """Adds to conversations, in this order."""
    engine.write(_ADD_EVENTS, rows=events)


# -- locks -------------------------------------------------------------------------------------------------------------

_LOCKED = (
    QuotaRequest.id,
    QuotaRequest.domain,
    QuotaRequest.project,
    QuotaRequest.status,
    QuotaRequest.passed_on_from,
    QuotaRequest.starts_at,
    QuotaRequest.until,
)


def _family(p: Parameters) -> peewee.Expression:
    request = QuotaRequest.alias()
    origin = request.select(request.passed_on_from).where(request.id == p.id)
    condition: peewee.Expression = (
        (QuotaRequest.id == p.id) | any_of(QuotaRequest.id, origin) | (QuotaRequest.passed_on_from == p.id)
    )
    return condition


def _is_of(project: peewee.Field, p: Parameters) -> peewee.ColumnBase:
    """Returns whether it is one of the projects with the UUIDs `projects`."""
    return any_of(project, Project.select(Project.id).where(any_of(Project.uuid, p.projects)))


_LOCK = compiled(lambda p: lock(QuotaRequest.select(*_LOCKED).where(_family(p)).order_by(QuotaRequest.id)))
_LOCK_OPEN_OF_PROJECT = compiled(
    lambda p: lock(
        QuotaRequest.select(*_LOCKED)
        .where(QuotaRequest.project == p.project, QuotaRequest.status == RequestStatus.OPEN.value)
        .order_by(QuotaRequest.id)
    )
)
_LOCK_OPEN_OF_PROJECTS = compiled(
    lambda p: lock(
        QuotaRequest.select(*_LOCKED)
        .where(_is_of(QuotaRequest.project, p), QuotaRequest.status == RequestStatus.OPEN.value)
        .order_by(QuotaRequest.id)
    )
)
_LOCK_OPEN_OF_DOMAIN = compiled(
    lambda p: lock(
        QuotaRequest.select(*_LOCKED)
        .where(
            QuotaRequest.domain == p.domain,
            QuotaRequest.project.is_null(),
            QuotaRequest.passed_on_from.is_null(),
            QuotaRequest.status == RequestStatus.OPEN.value,
        )
        .order_by(QuotaRequest.id)
    )
)
_LOCK_PASSED_ON = compiled(
    lambda p: lock(
        QuotaRequest.select(*_LOCKED)
        .where(any_of(QuotaRequest.passed_on_from, p.ids), QuotaRequest.status == RequestStatus.OPEN.value)
        .order_by(QuotaRequest.id)
    )
)


def lock_family(engine: Engine, request_id: int) -> dict[int, LockedRequest]:
    """Returns the request, the one that it was passed on from, and those that it was passed on as, by id. Empty if
    there is none.

    Nobody else changes their state until the transaction ends.
    """
    return {row.id: row for row in engine.all(_LOCK, LockedRequest, id=request_id)}


def lock_open(engine: Engine, domain_id: int, project_id: int | None) -> list[LockedRequest]:
    """Returns and locks the open requests of a project, or those that a domain has made for itself."""
    if project_id is None:
        return engine.all(_LOCK_OPEN_OF_DOMAIN, LockedRequest, domain=domain_id)
    return engine.all(_LOCK_OPEN_OF_PROJECT, LockedRequest, project=project_id)


def lock_open_of_projects(engine: Engine, uuids: Collection[str]) -> list[LockedRequest]:
    """Returns and locks the open requests of these projects, which are locked: nobody makes others."""
    return engine.all(_LOCK_OPEN_OF_PROJECTS, LockedRequest, projects=sorted(uuids))


def lock_passed_on(engine: Engine, ids: Sequence[int]) -> list[LockedRequest]:
    """Returns and locks the open requests of domains that these requests of projects were passed on as.

    The latter are to be locked before, so that nobody passes them on at the same time.
    """
    return engine.all(_LOCK_PASSED_ON, LockedRequest, ids=ids) if ids else []


# -- changes -----------------------------------------------------------------------------------------------------------

_SET_STATUS = compiled(
    lambda p: QuotaRequest.update(status=p.status, decided_at=p.at).where(any_of(QuotaRequest.id, p.ids))
)
_MADE_FOR = QuotaRequest.alias()
_FORGET_ORIGINS = compiled(
    lambda p: QuotaRequest.update(passed_on_from=None).where(
        any_of(QuotaRequest.passed_on_from, _MADE_FOR.select(_MADE_FOR.id).where(_is_of(_MADE_FOR.project, p)))
    )
)
_GRANT = compiled(
    lambda p: QuotaRequestAmount.update(granted=p.granted).where(
        QuotaRequestAmount.request == p.id,
        QuotaRequestAmount.service_type == p.service,
        QuotaRequestAmount.resource_name == p.name,
    )
)
_NAME_RULE = compiled(
    lambda p: QuotaRequestAmount.update(rule=p.rule).where(
        QuotaRequestAmount.request == p.id,
        QuotaRequestAmount.service_type == p.service,
        QuotaRequestAmount.resource_name == p.name,
    )
)
_AMOUNTS = compiled(
    lambda p: (
        QuotaRequestAmount.select(*AMOUNT_COLUMNS)
        .where(any_of(QuotaRequestAmount.request, p.ids))
        .order_by(QuotaRequestAmount.request, QuotaRequestAmount.service_type, QuotaRequestAmount.resource_name)
    )
)


def close(engine: Engine, ids: Sequence[int], status: RequestStatus, at: float) -> None:
    """Gives requests a state that is final. They are locked."""
    engine.write(_SET_STATUS, ids=ids, status=status.value, at=at)


def forget_origins(engine: Engine, projects: Collection[str]) -> None:
    """Separates what was passed on from the requests of these projects (by UUID), which are about to be deleted."""
    engine.write(_FORGET_ORIGINS, projects=sorted(projects))


def write_granted(engine: Engine, request_id: int, granted: Mapping[Ref, int]) -> None:
    """Stores how much was granted."""
    for (service, name), amount in granted.items():
        engine.write(_GRANT, id=request_id, service=service, name=name, granted=amount)


def write_rules(engine: Engine, request_id: int, rules: Mapping[Ref, str]) -> None:
    """Stores which rules have approved the request."""
    for (service, name), rule in rules.items():
        engine.write(_NAME_RULE, id=request_id, service=service, name=name, rule=rule)


def amounts_of(engine: Engine, ids: Sequence[int]) -> dict[int, list[AmountRow]]:
    """Returns what requests ask for, by request id, sorted by service and resource."""
    amounts: dict[int, list[AmountRow]] = {id_: [] for id_ in ids}
    for row in engine.all(_AMOUNTS, AmountRow, ids=ids) if ids else ():
        amounts[row.request_id].append(row)
    return amounts
