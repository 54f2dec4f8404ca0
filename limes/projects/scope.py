"""What a question is about: the cluster, a domain or a project; and how their rows are found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from limes.catalog.catalog import Ref, Selection
from limes.catalog.queries import resource_ids
from limes.db.compiled import Select
from limes.db.engine import Engine
from limes.db.query import Build, P, Query, T, made
from limes.kernel.units import Unit
from limes.projects.lookup import find_domain, find_project
from limes.projects.models import Domain, Project


class Scope(NamedTuple):
    """Whose rows to read. `id` is that of the domain or project in the database, and 0 for the cluster."""

    level: Literal["cluster", "domain", "project"]
    id: int = 0


EVERYWHERE = Scope("cluster")


def in_scope(query: Select, scope: Scope) -> Select:
    """Restricts a query that joins `Project` to the scope."""
    if scope.level == "cluster":
        return query
    return query.where((Project.domain if scope.level == "domain" else Project.id) == scope.id)


class PlacedRow(NamedTuple):
    uuid: str
    name: str
    domain_uuid: str
    domain_name: str


PLACE = (Project.uuid, Project.name, Domain.uuid, Domain.name)


def placed(kind: Callable[..., T], *others: Any, **options: Any) -> Callable[[Build[P]], Query[P, list[T]]]:
    """As `rows`, for rows that begin with a `PlacedRow`: the columns are `PLACE` and others of these types."""
    return made(lambda *row: kind(PlacedRow(*row[:4]), *row[4:]), *[str] * 4, *others, **options)


@dataclass(frozen=True, slots=True)
class Where:
    """Which domain or project a request is about, by UUID; the whole cluster without any."""

    domain: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class NamedResource:
    ref: Ref
    unit: Unit


def scope_of(engine: Engine, where: Where) -> Scope:
    """Returns whose rows to read. Raises `NotFound`."""
    if where.domain is None:
        return EVERYWHERE
    if where.project is None:
        return Scope("domain", find_domain(engine, where.domain).id)
    return Scope("project", find_project(engine, where.domain, where.project).id)


def named_resources(engine: Engine, selection: Selection) -> dict[int, NamedResource]:
    """Returns the selected resources by id, in the order of reports."""
    ids = resource_ids(engine)
    return {
        ids[service_type, resource.name]: NamedResource((service_type, resource.name), resource.unit)
        for service_type, (_, resources) in selection.services.items()
        for resource in resources
        if (service_type, resource.name) in ids
    }
