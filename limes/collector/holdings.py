"""What quota, usage and commitments hang on services, resources and availability zones."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from peewee import Case, fn

from limes.catalog.catalog import Ref
from limes.catalog.models import AZResource, Resource, Service
from limes.commitments.models import Commitment
from limes.commitments.queries import IS_LIVE
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, first_value, made, rows, value
from limes.projects.models import DomainResource, ProjectAZResource, ProjectResource


class StoredService(NamedTuple):
    """A service, and when the collectors first missed it in their configuration."""

    id: int
    type: str
    vanished_at: float | None


class StoredResource(NamedTuple):
    id: int
    ref: Ref
    is_known: bool


class Holdings(NamedTuple):
    """What is recorded about a resource, over all domains and projects. Amounts are in its unit; commitments are
    live."""

    projects: int
    """Projects that have quota for it or use it."""
    projects_quota: int
    usage: int
    domains_quota: int
    commitments: int
    committed: int


class ZoneHoldings(NamedTuple):
    projects: int
    resources: int
    commitments: int


@rows(StoredService)
def services() -> Node:
    return Service.select(Service.id, Service.type, Service.vanished_at).order_by(Service.type)


def _resource(id_: int, service_type: str, name: str, is_known: bool) -> StoredResource:
    return StoredResource(id_, (service_type, name), bool(is_known))  # SQLite has no booleans


@made(_resource, int, str, str, bool)
def resources() -> Node:
    query = Resource.select(Resource.id, Service.type, Resource.name, Resource.is_known).join(Service)
    return query.order_by(Service.type, Resource.name)


def _sum(column: Any) -> Any:
    return fn.COALESCE(fn.SUM(column), 0)


def _holds(now: float) -> list[Any]:
    return [IS_LIVE, Commitment.expires_at > now]


_IS_HELD = (ProjectResource.quota > 0) | (ProjectResource.usage > 0)


@value(int)
def count_projects(resources: Sequence[int]) -> Node:
    query = ProjectResource.select(fn.COUNT(ProjectResource.project.distinct()))
    return query.where(_IS_HELD, any_of(ProjectResource.resource, resources))


@first_value(float)
def last_end(resources: Sequence[int], now: float) -> Node:
    query = Commitment.select(fn.MAX(Commitment.expires_at))
    return query.where(*_holds(now), any_of(Commitment.resource, resources))


def holdings(engine: Engine, resource: int, now: float) -> Holdings:
    """Three queries are fine: resources are few, and this is for a terminal."""
    projects = ProjectResource.select(
        fn.COUNT(Case(None, [(_IS_HELD, 1)])), _sum(ProjectResource.quota), _sum(ProjectResource.usage)
    ).where(ProjectResource.resource == resource)
    domains = DomainResource.select(_sum(DomainResource.quota)).where(DomainResource.resource == resource)
    commitments = Commitment.select(fn.COUNT(Commitment.id), _sum(Commitment.amount)).where(
        *_holds(now), Commitment.resource == resource
    )
    numbers = [number for query in (projects, domains, commitments) for number in engine.tuples(query)[0]]
    return Holdings(*map(int, numbers))


def zones(engine: Engine, now: float) -> dict[str, ZoneHoldings]:
    usage, capacity = ProjectAZResource, AZResource
    users = usage.select(usage.az, fn.COUNT(usage.project_id.distinct())).where(usage.usage > 0).group_by(usage.az)
    sources = capacity.select(capacity.az, fn.COUNT(capacity.resource)).where(capacity.raw_capacity > 0)
    live = Commitment.select(Commitment.az, fn.COUNT(Commitment.id)).where(*_holds(now)).group_by(Commitment.az)
    projects: dict[str, int] = dict(engine.tuples(users))
    resources: dict[str, int] = dict(engine.tuples(sources.group_by(capacity.az)))
    commitments: dict[str, int] = dict(engine.tuples(live))
    return {
        az: ZoneHoldings(projects.get(az, 0), resources.get(az, 0), commitments.get(az, 0))
        for az in sorted({*projects, *resources, *commitments})
    }
