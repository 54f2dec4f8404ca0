"""Requests for more quota, to be shown. A list costs a fixed number of queries, however long it is."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from peewee import JOIN, fn

from limes.core.catalog import Ref
from limes.core.quota_requests import RequestStatus
from limes.db.compiled import Select, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Domain, Project, QuotaRequest, QuotaRequestAmount, QuotaRequestEvent
from limes.db.queries.quota_requests import EVENT_COLUMNS, EventRow


class RequestRow(NamedTuple):
    """A request, without its amounts. The domain's own has no project."""

    id: int
    status: str
    reason: str
    created_at: float
    requester_id: str
    requester_name: str
    decided_at: float | None
    passed_on_from: int | None
    starts_at: float | None
    until: float | None
    domain_uuid: str
    domain_name: str
    project_uuid: str | None
    project_name: str | None


@dataclass(frozen=True, slots=True)
class Filters:
    """Which requests are wanted. `None` means all."""

    domain_id: int | None = None
    project_id: int | None = None
    of_projects: bool | None = None
    """Only those of projects, or only those of domains."""
    passed_on: bool | None = None
    """Only those that wait for a request of the domain, or only others."""
    statuses: Collection[str] | None = None
    refs: Collection[Ref] | None = None
    """Those that ask for at least one of these."""


_COLUMNS = (
    QuotaRequest.id, QuotaRequest.status, QuotaRequest.reason, QuotaRequest.created_at, QuotaRequest.requester_id,
    QuotaRequest.requester_name, QuotaRequest.decided_at, QuotaRequest.passed_on_from, QuotaRequest.starts_at,
    QuotaRequest.until, Domain.uuid, Domain.name, Project.uuid, Project.name,
)  # fmt: skip
_ABOVE = QuotaRequest.alias()
_SELECT = (
    QuotaRequest.select(*_COLUMNS)
    .join(Domain)
    .switch(QuotaRequest)
    .join(Project, JOIN.LEFT_OUTER, on=(QuotaRequest.project == Project.id))
)


def page(engine: Engine, filters: Filters, before: int, limit: int) -> list[RequestRow]:
    """Returns at most `limit` requests with an id below `before`, the newest first."""
    query = _SELECT.where(QuotaRequest.id < before).order_by(QuotaRequest.id.desc()).limit(limit)
    return engine.all(_filtered(query, filters), RequestRow)


def count(engine: Engine, filters: Filters) -> int:
    """Returns how many requests there are."""
    (number,) = engine.column(_filtered(QuotaRequest.select(fn.COUNT(QuotaRequest.id)), filters))
    return int(number)


def _filtered(query: Select, filters: Filters) -> Select:
    if filters.domain_id is not None:
        query = query.where(QuotaRequest.domain == filters.domain_id)
    if filters.project_id is not None:
        query = query.where(QuotaRequest.project == filters.project_id)
    if filters.of_projects is not None:
        query = query.where(QuotaRequest.project.is_null(not filters.of_projects))
    if filters.passed_on is not None:
        waiting = _PASSED_ON_NOW
        query = query.where(QuotaRequest.id.in_(waiting) if filters.passed_on else QuotaRequest.id.not_in(waiting))
    if filters.statuses is not None:
        query = query.where(any_of(QuotaRequest.status, sorted(filters.statuses)))
    if filters.refs is not None:
        pairs = [f"{service}/{name}" for service, name in sorted(filters.refs)]
        amounts = QuotaRequestAmount.select(QuotaRequestAmount.request).where(
            any_of(QuotaRequestAmount.service_type.concat("/").concat(QuotaRequestAmount.resource_name), pairs)
        )
        query = query.where(QuotaRequest.id.in_(amounts))
    return query


_EXPIRED = compiled(
    lambda p: _SELECT.where(
        QuotaRequest.status == RequestStatus.OPEN.value,
        (QuotaRequest.until <= p.now) | (QuotaRequest.created_at <= p.made_before),
    ).order_by(QuotaRequest.id)
)
_ONE = compiled(lambda p: _SELECT.where(QuotaRequest.id == p.id))
_BY_IDS = compiled(lambda p: _SELECT.where(any_of(QuotaRequest.id, p.ids)).order_by(QuotaRequest.id))
_BELOW = QuotaRequest.alias()
_PASSED_ON_NOW = _ABOVE.select(_ABOVE.passed_on_from).where(
    _ABOVE.passed_on_from.is_null(False), _ABOVE.status == RequestStatus.OPEN.value
)
_WAITING = compiled(
    lambda p: (
        QuotaRequest.select(QuotaRequest.id, QuotaRequest.created_at)
        .where(
            QuotaRequest.status == RequestStatus.OPEN.value,
            QuotaRequest.created_at <= p.before,
            QuotaRequest.id.not_in(_PASSED_ON_NOW),
        )
        .order_by(QuotaRequest.id)
    )
)
_EVENTS = compiled(
    lambda p: (
        QuotaRequestEvent.select(*EVENT_COLUMNS)
        .where(QuotaRequestEvent.request == p.id)
        .order_by(QuotaRequestEvent.number)
        .limit(p.limit)
        .offset(p.skipped)
    )
)


class _PassedOn(NamedTuple):
    origin: int
    id: int


_PASSED_ON = compiled(
    lambda p: (
        QuotaRequest.select(QuotaRequest.passed_on_from, fn.MAX(QuotaRequest.id))
        .join(_BELOW, on=QuotaRequest.passed_on_from == _BELOW.id)
        .where(
            any_of(QuotaRequest.passed_on_from, p.ids),
            (QuotaRequest.status == RequestStatus.OPEN.value) | (_BELOW.status != RequestStatus.OPEN.value),
        )
        .group_by(QuotaRequest.passed_on_from)
    )
)
_COUNT_EVENTS = compiled(
    lambda p: QuotaRequestEvent.select(fn.COUNT(QuotaRequestEvent.number)).where(QuotaRequestEvent.request == p.id)
)


class _Approval(NamedTuple):
    service_type: str
    resource_name: str
    rule: str
    at: float


_APPROVALS = compiled(
    lambda p: (
        QuotaRequestAmount.select(
            QuotaRequestAmount.service_type,
            QuotaRequestAmount.resource_name,
            QuotaRequestAmount.rule,
            fn.MAX(QuotaRequest.decided_at),
        )
        .join(QuotaRequest)
        .where(
            QuotaRequest.project == p.project,
            QuotaRequest.decided_at.is_null(False),
            QuotaRequestAmount.rule.is_null(False),
        )
        .group_by(QuotaRequestAmount.service_type, QuotaRequestAmount.resource_name, QuotaRequestAmount.rule)
    )
)


def approvals_by_rules(engine: Engine, project_id: int) -> dict[Ref, dict[str, float]]:
    """Returns when rules have last approved resources of a project, by resource and by the name of the rule."""
    found: dict[Ref, dict[str, float]] = {}
    for row in engine.all(_APPROVALS, _Approval, project=project_id):
        found.setdefault((row.service_type, row.resource_name), {})[row.rule] = row.at
    return found


def expired(engine: Engine, now: float, made_before: float | None) -> list[RequestRow]:
    """Returns the open requests for a time that has passed, and those that were made before that time. Those of
    projects come before what they were passed on as."""
    return engine.all(_EXPIRED, RequestRow, now=now, made_before=-1.0 if made_before is None else made_before)


def one(engine: Engine, request_id: int) -> RequestRow | None:
    """Returns the request of that number."""
    return engine.first(_ONE, RequestRow, id=request_id)


def by_ids(engine: Engine, ids: Sequence[int]) -> list[RequestRow]:
    """Returns requests, in the order of their numbers."""
    return engine.all(_BY_IDS, RequestRow, ids=ids) if ids else []


def waiting(engine: Engine, before: float) -> dict[int, float]:
    """Returns the open requests that were made before that time, with the times. Not those that were passed on: they
    wait for the decision above."""
    return dict(engine.tuples(_WAITING, before=before))


def conversation(engine: Engine, request_id: int, skipped: int, limit: int) -> list[EventRow]:
    """Returns what was said and decided about a request, the oldest first, after so many that are skipped."""
    return engine.all(_EVENTS, EventRow, id=request_id, skipped=skipped, limit=limit)


def count_events(engine: Engine, request_id: int) -> int:
    """Returns the length of a conversation."""
    (count,) = engine.column(_COUNT_EVENTS, id=request_id)
    return int(count)


def passed_on_as(engine: Engine, ids: Sequence[int]) -> dict[int, int]:
    """Returns the last request of the domain that each request was passed on as, by its id."""
    return {row.origin: row.id for row in engine.all(_PASSED_ON, _PassedOn, ids=ids)} if ids else {}
