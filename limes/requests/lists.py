"""Requests for more quota, to be shown. A list costs a fixed number of queries, however long it is."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from msgspec import Struct
from peewee import JOIN, Case, fn

from limes.catalog.catalog import Ref
from limes.db.compiled import Select, any_of
from limes.db.engine import Engine
from limes.db.query import Node, first, made, mapping, nested, rows, value
from limes.projects.models import Domain, Project
from limes.requests import queries, rules
from limes.requests.models import QuotaRequest, QuotaRequestAmount, QuotaRequestEvent


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


class Filters(Struct, frozen=True):
    """Which requests are wanted. `None` means all."""

    domain_id: int | None = None
    project_id: int | None = None
    of_projects: bool | None = None
    """Only those of projects, or only those of domains."""
    passed_on: bool | None = None
    """Only requests that wait for a request of the domain, or only others."""
    statuses: Collection[str] | None = None
    refs: Collection[Ref] | None = None
    """Requests for at least one of these."""


_ABOVE = QuotaRequest.alias()
_PASSED_ON_NOW = _ABOVE.select(_ABOVE.passed_on_from).where(
    _ABOVE.passed_on_from.is_null(False), _ABOVE.status == rules.RequestStatus.OPEN.value
)
_OWN = [QuotaRequest._meta.fields[name] for name in RequestRow._fields[:-4]]
_SELECT = (
    QuotaRequest.select(*_OWN, Domain.uuid, Domain.name, Project.uuid, Project.name)
    .join(Domain)
    .switch(QuotaRequest)
    .join(Project, JOIN.LEFT_OUTER, on=(QuotaRequest.project == Project.id))
)


def page(engine: Engine, filters: Filters, before: int, limit: int) -> list[RequestRow]:
    """Returns at most `limit` requests with an id below `before`, the newest first."""
    query = _SELECT.where(QuotaRequest.id < before).order_by(QuotaRequest.id.desc()).limit(limit)
    return engine.all(_filtered(query, filters), RequestRow)


def count(engine: Engine, filters: Filters) -> int:
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
        is_one_of = QuotaRequest.id.in_ if filters.passed_on else QuotaRequest.id.not_in
        query = query.where(is_one_of(_PASSED_ON_NOW))
    if filters.statuses is not None:
        query = query.where(any_of(QuotaRequest.status, sorted(filters.statuses)))
    if filters.refs is not None:
        amount = QuotaRequestAmount
        pair = amount.service_type.concat("/").concat(amount.resource_name)
        is_wanted = any_of(pair, ["/".join(ref) for ref in sorted(filters.refs)])
        query = query.where(QuotaRequest.id.in_(amount.select(amount.request).where(is_wanted)))
    return query


@rows(RequestRow)
def expired(now: float, made_before: float = -1.0) -> Node:
    """The undecided requests for a time that has passed, and the ones that were made before that time, or confirmed.
    Those of projects come before what they were passed on as."""
    is_over = (QuotaRequest.until <= now) | (queries.open_since <= made_before)
    return _SELECT.where(queries.IS_UNDECIDED, is_over).order_by(QuotaRequest.id)


@first(RequestRow)
def one(request_id: int) -> Node:
    return _SELECT.where(QuotaRequest.id == request_id)


@rows(RequestRow, skip_empty="ids")
def by_ids(ids: Collection[int]) -> Node:
    return _SELECT.where(any_of(QuotaRequest.id, ids)).order_by(QuotaRequest.id)


@mapping(int, float)
def waiting(before: float) -> Node:
    """Since when requests are open, by id, if that is before that time. Not the ones that were passed on: they wait for
    the decision above."""
    is_old = (queries.IS_OPEN, queries.open_since <= before, QuotaRequest.id.not_in(_PASSED_ON_NOW))
    return QuotaRequest.select(QuotaRequest.id, queries.open_since).where(*is_old).order_by(QuotaRequest.id)


@rows(queries.EventRow)
def conversation(request_id: int, skipped: int, limit: int) -> Node:
    """What was said and decided about a request, the oldest first, without the `skipped` first ones."""
    event = QuotaRequestEvent
    query = event.select(*[event._meta.columns[name] for name in queries.EventRow._fields]).where(
        event.request == request_id
    )
    return query.order_by(event.number).limit(limit).offset(skipped)


@value(int)
def count_events(request_id: int) -> Node:
    event = QuotaRequestEvent
    return event.select(fn.COUNT(event.number)).where(event.request == request_id)


@mapping(int, int, skip_empty="ids")
def passed_on_as(ids: Collection[int]) -> Node:
    """The last request of the domain that each request was passed on as, by its id."""
    below = QuotaRequest.alias()
    return (
        QuotaRequest.select(QuotaRequest.passed_on_from, fn.MAX(QuotaRequest.id))
        .join(below, on=QuotaRequest.passed_on_from == below.id)
        .where(any_of(below.id, ids), queries.IS_OPEN | (below.status != rules.RequestStatus.OPEN.value))
        .group_by(QuotaRequest.passed_on_from)
    )


@nested(tuple[str, str], str, float)
def approvals_by_rules(project_id: int) -> Node:
    """When rules have last approved resources of a project, by resource and by the name of the rule."""
    amount = QuotaRequestAmount
    what = (amount.service_type, amount.resource_name, amount.rule)
    return (
        amount.select(*what, fn.MAX(QuotaRequest.decided_at))
        .join(QuotaRequest)
        .where(QuotaRequest.project == project_id, QuotaRequest.decided_at.is_null(False), amount.rule.is_null(False))
        .group_by(*what)
    )


class OpenRequests(NamedTuple):
    is_of_project: bool
    is_passed_on: bool
    """Whether they wait for the decision on a request of the domain."""
    number: int
    oldest_at: float
    """Since when the oldest of them is open."""


def _open_requests(of_project: int, passed_on: int, number: int, oldest_at: float) -> OpenRequests:
    return OpenRequests(bool(of_project), bool(passed_on), number, oldest_at)


@made(_open_requests, int, int, int, float)
def open_requests() -> Node:
    row = QuotaRequest
    is_of_project = Case(None, [(row.project.is_null(), 0)], 1)
    is_passed_on = Case(None, [(row.id.in_(_PASSED_ON_NOW), 1)], 0)
    kind = (is_of_project.alias("is_of_project"), is_passed_on.alias("is_passed_on"))
    query = row.select(*kind, fn.COUNT(row.id), fn.MIN(queries.open_since)).where(queries.IS_OPEN)
    return query.group_by(is_of_project, is_passed_on)


def closed_without_decision(engine: Engine, ids: Sequence[int]) -> set[int]:
    """Returns those of these requests that were withdrawn or replaced."""
    return {
        row.id
        for row in by_ids(engine, ids)
        if row.status in (rules.RequestStatus.WITHDRAWN, rules.RequestStatus.SUPERSEDED)
    }
