"""Reads lifetimes of subresources, those of deleted projects as well."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from peewee import JOIN, fn

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.models import Domain, LifetimeProject, Project, ProjectService, Service, SubresourceLifetime
from limes.db.query import Node, exists

_L, _P = SubresourceLifetime.alias("l"), LifetimeProject.alias("p")


@dataclass(frozen=True, slots=True)
class LifetimeFilter:
    """Which periods are wanted: those that overlap with the time from `since` on and before `until`."""

    since: float
    until: float
    domain_uuid: str | None = None
    project_uuid: str | None = None
    values: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Wanted values by the names of `FILTERS`."""


class LifetimeRow(NamedTuple):
    """A period. Names of projects and domains are the present ones, or the last."""

    number: int
    domain_uuid: str
    domain_name: str
    project_uuid: str
    project_name: str
    service_type: str
    resource_name: str
    az: str
    id: str
    name: str
    attributes: str
    """A JSON object."""
    first_seen_at: float
    began_at: float
    last_seen_at: float
    ended_at: float | None


FILTERS = {
    "service": _L.service_type,
    "resource": _L.resource_name,
    "availability_zone": _L.az,
    "domain_id": _P.domain_uuid,
    "project_id": _P.uuid,
    "id": _L.subresource_id,
}
"""What a request can choose by, and where it stands."""


def page(engine: Engine, wanted: LifetimeFilter, after: int, limit: int) -> list[LifetimeRow]:
    """Returns at most `limit` periods with numbers above `after`, in their order."""
    conditions: list[Any] = [
        _L.id > after,
        _L.began_at < wanted.until,
        _L.ended_at.is_null() | ((_L.ended_at > wanted.since) & (_L.ended_at > _L.began_at)),
        *(any_of(FILTERS[name], sorted(values)) for name, values in wanted.values.items()),
    ]
    if wanted.domain_uuid is not None:
        conditions.append(_P.domain_uuid == wanted.domain_uuid)
    if wanted.project_uuid is not None:
        conditions.append(_P.uuid == wanted.project_uuid)
    query = (
        _L.select(
            *(_L.id, _P.domain_uuid, fn.COALESCE(Domain.name, _P.domain_name)),
            *(_P.uuid, fn.COALESCE(Project.name, _P.name), _L.service_type, _L.resource_name, _L.az),
            *(_L.subresource_id, _L.name, _L.attributes, _L.first_seen_at, _L.began_at),
            *(fn.COALESCE(_L.last_seen_at, ProjectService.scraped_at, _L.began_at), _L.ended_at),
        )
        .join(_P, on=_L.project == _P.id)
        .join(Project, JOIN.LEFT_OUTER, on=Project.uuid == _P.uuid)
        .join(Domain, JOIN.LEFT_OUTER, on=Project.domain == Domain.id)
        .join(Service, JOIN.LEFT_OUTER, on=Service.type == _L.service_type)
        .join(
            ProjectService,
            JOIN.LEFT_OUTER,
            on=(ProjectService.project == Project.id) & (ProjectService.service == Service.id),
        )
        .where(*conditions)
        .order_by(_L.id)
        .limit(limit)
    )
    return engine.all(query, LifetimeRow)


@exists
def was_there(domain_uuid: str, project_uuid: str | None) -> Node:
    """Whether there are, or were, periods of a project, or of any project of a domain."""
    row = LifetimeProject
    query = row.select(row.id).where(row.domain_uuid == domain_uuid)
    return query.limit(1) if project_uuid is None else query.where(row.uuid == project_uuid)
