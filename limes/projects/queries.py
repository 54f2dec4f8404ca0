"""Domains and projects, and the conditions that select rows of projects in other tables; and when they were scraped."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import orjson
import peewee
from peewee import JOIN, Case, fn

from limes.catalog.catalog import Page
from limes.catalog.models import Capacitor, Resource, Service
from limes.db.compiled import Select, any_of, json_list
from limes.db.engine import Engine
from limes.db.query import Node, exists, first, keyed, made, made_by, mapping, rows, tuples
from limes.projects.models import Domain, Project, ProjectService


class DomainRow(NamedTuple):
    id: int
    uuid: str
    name: str


_SELECT = Domain.select(Domain.id, Domain.uuid, Domain.name)


@first(DomainRow, prepare=True)
def domain(uuid: str) -> Node:
    return _SELECT.where(Domain.uuid == uuid)


@rows(DomainRow, prepare=True)
def domains(limit: int | None = None, marker: str = "") -> Node:
    """All domains, or a `Page` of them, in the order of their UUIDs."""
    query = _SELECT.order_by(Domain.uuid)
    return query if limit is None else query.where(Domain.uuid > marker).limit(limit)


class ProjectRow(NamedTuple):
    id: int
    uuid: str
    name: str
    parent_uuid: str
    has_bursting: bool
    domain_id: int
    domain_uuid: str
    domain_name: str

    @property
    def scope(self) -> str:
        """The project as the patterns of the configuration name it (`limes.catalog.catalog`)."""
        return f"{self.domain_name}/{self.name}"


OWN_COLUMNS = (Project.id, Project.uuid, Project.name, Project.parent_uuid, Project.has_bursting)
PROJECT_COLUMNS = (*OWN_COLUMNS, Domain.id, Domain.uuid, Domain.name)
"""Those of a `ProjectRow`."""


_PROJECTS = Project.select(*PROJECT_COLUMNS).join(Domain)


@first(ProjectRow, prepare=True)
def project(domain_uuid: str, uuid: str) -> Node:
    return _PROJECTS.where(Project.uuid == uuid, Domain.uuid == domain_uuid)


@exists
def project_exists(uuid: str) -> Node:
    return Project.select(Project.id).where(Project.uuid == uuid)


@tuples(tuple[int, str, str, str, bool], prepare=True)
def _projects_of_domain(domain_id: int, limit: int | None, marker: str) -> Node:
    query = Project.select(*OWN_COLUMNS).where(Project.domain == domain_id).order_by(Project.uuid)
    return query if limit is None else query.where(Project.uuid > marker).limit(limit)


def projects_of_domain(
    engine: Engine, domain: DomainRow, limit: int | None = None, marker: str = ""
) -> list[ProjectRow]:
    """Returns all projects of a domain, or a `Page` of them, in the order of their UUIDs. To read the columns of the
    domain with each of them takes as long again."""
    of_domain = partial(tuple.__new__, ProjectRow)  # less than `ProjectRow._make` takes
    return [of_domain(row + domain) for row in _projects_of_domain(engine, domain.id, limit, marker)]


@rows(ProjectRow, prepare=True)
def projects_everywhere(page: Page) -> Node:
    """One page of the projects of all domains, in the order of their UUIDs."""
    return _PROJECTS.where(Project.uuid > page.marker).order_by(Project.uuid).limit(page.limit)


@keyed(int, "id", ProjectRow, skip_empty="ids")
def projects_by_id(ids: Collection[int]) -> Node:
    return _PROJECTS.where(any_of(Project.id, ids))


@rows(ProjectRow, skip_empty="names")
def projects_named(names: Collection[str]) -> Node:
    """The projects of these names, in all domains."""
    return _PROJECTS.where(any_of(Project.name, names))


@made("{}/{}".format, str, str)
def project_scopes() -> Node:
    """All projects as `ProjectRow.scope` names them."""
    return Project.select(Domain.name, Project.name).join(Domain).order_by(Domain.name, Project.name)


# -- rows of projects in other tables ----------------------------------------------------------------------------------

_FEW = 3


class _WithoutIndex(peewee.ColumnBase):
    """A condition for which PostgreSQL searches no index. It still estimates for how many rows it is true."""

    def __init__(self, condition: peewee.Node) -> None:
        self._condition = condition

    def __sql__(self, ctx: peewee.Context) -> peewee.Context:
        ctx.literal("(").sql(self._condition).literal(" IS TRUE)")
        return ctx


def in_projects(column: peewee.Node, project_ids: Any, domain_id: Any) -> peewee.ColumnBase:
    """Whether the column is the id of one of these projects or, without them, of any project of the domain."""
    of_domain = Project.select(Project.id).where(Project.domain == domain_id)
    return any_of(column, of_domain if project_ids is None else project_ids)


class Resources(NamedTuple):
    """Ids of resources. PostgreSQL takes another plan for few of them than for many."""

    number: Literal["one", "few", "many"]
    one: int
    ids: Collection[int]

    def __bool__(self) -> bool:
        return bool(self.ids)


def these(ids: Collection[int]) -> Resources:
    """Ids, as the queries below take them."""
    number: Literal["one", "few", "many"] = "one" if len(ids) == 1 else "few" if len(ids) <= _FEW else "many"
    return Resources(number, next(iter(ids), 0), ids)


def rows_of_projects(
    query: Select, resource: Any, project: Any, resources: Resources, domain_id: int, project_ids: Sequence[int] | None
) -> Select:
    """A SELECT of a table's rows of these resources in these projects or, without `project_ids`, in the whole domain.
    PostgreSQL is led to look at the rows of each project: for a domain it would take many times as long, because it
    reads all rows of the resource, or descends the index for each project and resource."""
    is_one = {
        "one": resource == resources.one,  # spares PostgreSQL the sorting that a list would need
        "few": any_of(resource, resources.ids),
        "many": _WithoutIndex(any_of(resource, resources.ids)),
    }[resources.number]
    return query.where(is_one, in_projects(project, project_ids, domain_id))


def failing_since(row: Any) -> Case:
    """Since when the scrapes of a row fail (`ProjectService`, or an alias of it); null if the last scrape succeeded."""
    return Case(None, [(row.scrape_error != "", fn.COALESCE(row.failing_since, row.checked_at))])


FAILING_SINCE = failing_since(ProjectService)


ScrapeRange = tuple[float | None, float | None]
"""When the oldest and the newest figures come from; None where nothing was scraped."""


class Scrapes(NamedTuple):
    """Of one service in many projects, by their ids."""

    scraped_at: dict[int, float | None]
    failing_since: dict[int, float]
    """Where scrapes fail."""


def _scrapes(projects: str, scraped_at: str, failing_since: str | None) -> Scrapes:
    times = dict(zip(orjson.loads(projects), orjson.loads(scraped_at), strict=True))
    return Scrapes(times, dict(orjson.loads(failing_since or "[]")))


@made_by(int, _scrapes, str, str, str | None, skip_empty="services", prepare=True)
def project_scrapes(services: Sequence[int], domain_id: int, project_ids: Sequence[int] | None) -> Node:
    """When these services were scraped, by their ids: in these projects or, without `project_ids`, in the whole domain.
    As lists: to read a row for each project takes twice as long."""
    row = ProjectService
    fails = row.scrape_error != ""
    failing = json_list(row.project, fn.COALESCE(row.failing_since, row.checked_at), where=fails)
    query = row.select(row.service, json_list(row.project), json_list(row.scraped_at), failing)
    is_asked_for = row.domain_id == domain_id if project_ids is None else any_of(row.project, project_ids)
    return query.where(any_of(row.service, services), is_asked_for).group_by(row.service)


@mapping(str, tuple[float | None, float | None])
def scrape_states(project_id: int, service_types: Sequence[str]) -> Node:
    """When services of a project were scraped, and since when that fails, by type."""
    row = ProjectService
    query = row.select(Service.type, row.scraped_at, FAILING_SINCE).join(Service)
    return query.where(row.project == project_id, any_of(Service.type, service_types))


@mapping(str, float, skip_empty="service_types")
def outages(service_types: Sequence[str], failures: int = 0) -> Node:
    """Since when services fail as a whole, by type: at least this many scrapes have failed, and none has succeeded
    anywhere since. While its circuit is open a backend is not asked about projects at all, and yet it fails for them,
    too. This looks at all projects of these services, so call it only where something is wrong."""
    row, every = ProjectService, ProjectService.alias("every")
    latest = (
        Service.select(Service.id, Service.type, fn.MAX(every.scraped_at).alias("scraped_at"))
        .join(every, on=every.service == Service.id)
        .where(any_of(Service.type, service_types))
        .group_by(Service.id, Service.type)
        .alias("latest")
    )
    since = fn.COALESCE(row.failing_since, row.checked_at)
    return (
        row.select(latest.c.type, fn.MIN(since))
        .join(latest, on=row.service == latest.c.id)
        .where(row.scrape_error != "", since > fn.COALESCE(latest.c.scraped_at, 0))
        .group_by(latest.c.type)
        .having(fn.SUM(row.scrape_failures) >= failures)
    )


def _end_of_index(find: Callable[[peewee.Field], peewee.Function]) -> Any:
    """Finds the first or last entry of an index."""
    row = ProjectService
    return row.select(find(row.scraped_at)).where(row.domain_id == Domain.id, row.service == Service.id)


_RANGES = Domain.select(
    Domain.id.alias("domain_id"),
    Service.id.alias("service_id"),
    _end_of_index(fn.MIN).alias("oldest"),
    _end_of_index(fn.MAX).alias("newest"),
).join(Service, JOIN.CROSS)


@mapping(int, tuple[float | None, float | None], prepare=True)
def cluster_scrape_ranges() -> Node:
    """The oldest and newest scrape of each service over all projects, by its id."""
    ranges = _RANGES.alias("ranges")
    columns = (ranges.c.service_id, fn.MIN(ranges.c.oldest), fn.MAX(ranges.c.newest))
    return peewee.Select([ranges], columns).group_by(ranges.c.service_id)


@mapping(tuple[int, int], tuple[float | None, float | None], prepare=True)
def domain_scrape_ranges(domain_ids: Sequence[int] | None) -> Node:
    """The oldest and newest scrape of each service in each of these domains, or in each of all, by both ids."""
    return _RANGES if domain_ids is None else _RANGES.where(any_of(Domain.id, domain_ids))


@tuples(tuple[float | None, float | None], prepare=True)
def _capacity_scrape_range(resources: Sequence[int] | None) -> Node:
    query = Capacitor.select(fn.MIN(Capacitor.scraped_at), fn.MAX(Capacitor.scraped_at))
    if resources is None:
        return query
    return query.where(Capacitor.id.in_(Resource.select(Resource.capacitor).where(any_of(Resource.id, resources))))


def capacity_scrape_range(engine: Engine, resources: Sequence[int] | None) -> ScrapeRange:
    """The oldest and newest capacity scrape over all capacitors, or over those of these resources."""
    if resources is not None and not resources:
        return None, None
    return _capacity_scrape_range(engine, resources)[0]
