"""Quota and usage of single projects, as reports show them: by resource, and by AZ."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple, get_type_hints

import orjson
import peewee
from peewee import JOIN, fn

from limes.autogrow.models import ProjectAZQuota
from limes.catalog.models import Resource, Service
from limes.db.compiled import any_of, json_list, text_list
from limes.db.engine import Engine
from limes.db.query import Node, made, mapping, rows, tuples
from limes.projects.models import Domain, Project, ProjectAZResource, ProjectResource, ProjectService
from limes.projects.queries import FAILING_SINCE, PROJECT_COLUMNS, ProjectRow, Resources, rows_of_projects
from limes.quota import models, queries, temporary_queries
from limes.quota.temporary import TemporaryQuota as Temporary


class ProjectAZRow(NamedTuple):
    project_id: int
    resource_id: int
    az: str
    usage: int
    physical_usage: int | None
    subresources: str


class ProjectServiceRow(NamedTuple):
    """One service of a project, with one of its resources if it has any."""

    project: ProjectRow
    service_type: str
    has_service: bool
    """Whether the project has a row for the service yet."""
    scraped_at: float | None
    failing_since: float | None
    resource_name: str | None
    resource: queries.ProjectResourceRow | None
    temporary: Temporary | None


class ProjectFigures(NamedTuple):
    """Quota and usage of some projects' resources."""

    usual: dict[int, tuple[str, str, str]]
    """By project: the ids of its resources, their quotas, with nothing for those without, and their usage: each as text
    with commas between the numbers, in one order."""
    unusual: dict[int, dict[int, queries.ProjectResourceRow]]
    """By project and resource, where there is more to say than that."""

    def rows(self, project_id: int) -> Iterator[queries.ProjectResourceRow]:
        """Yields what is known of a project."""
        columns = (text.split(",") for text in self.usual.get(project_id, ()))
        unusual = self.unusual.get(project_id, {})
        for id_, quota, usage in zip(*columns, strict=True):
            amount = int(quota) if quota else None
            usual = queries.ProjectResourceRow(project_id, int(id_), amount, amount, int(usage), None, None)
            yield unusual.get(usual.resource_id, usual)


def _is_unusual(row: Any) -> Any:
    """Says it of a `ProjectResourceRow`, and in SQL of one with these columns."""
    has_other = (row.backend_quota != row.quota) | ((row.backend_quota == None) & (row.quota != None))  # noqa: E711 - SQL
    return has_other | (row.physical_usage != None) | (row.max_backend_quota == 0)  # noqa: E711 - SQL


def figures_of(project_id: int, rows: Sequence[queries.ProjectResourceRow]) -> ProjectFigures:
    """Returns those of one project."""
    quotas = ("" if row.quota is None else str(row.quota) for row in rows)
    ids, usages = (str(row.resource_id) for row in rows), (str(row.usage) for row in rows)
    usual = {project_id: (",".join(ids), ",".join(quotas), ",".join(usages))} if rows else {}
    return ProjectFigures(usual, {project_id: {row.resource_id: row for row in rows if _is_unusual(row)}})


_COLUMNS = tuple(getattr(ProjectResource, name) for name in queries.ProjectResourceRow._fields)


_NEAR = 8
"""Ids of projects between which all rows are read, rather than that those of each project are looked up: this takes
PostgreSQL a third of the time. Most projects of a domain were added one after the other."""


@tuples(tuple[int, str, str, str, str | None], skip_empty="resources")
def _figures(resources: Resources, domain_id: int, project_ids: Sequence[int] | None) -> Node:
    """By project: the ids of its resources, their quotas and usage, and unusual rows. Resources have the same order in
    all projects, in whatever order they are stored."""
    table = ProjectResource
    found = rows_of_projects(table.select(*_COLUMNS), table.resource, table.project, resources, domain_id, project_ids)
    source = found.order_by(table.project, table.resource).alias("found")
    row = source.c
    unusual = json_list(*(getattr(row, column.column_name) for column in _COLUMNS), where=_is_unusual(row))
    lists = (text_list(row.resource_id), text_list(row.quota), text_list(row.usage), unusual)
    return peewee.Select([source], [row.project_id, *lists]).group_by(row.project_id)


@tuples(tuple[str | None, str | None, str | None, str | None], prepare=True)
def _figures_of_one(resource_id: int, domain_id: int, project_ids: Sequence[int] | None) -> Node:
    """Of one resource: the ids of projects, and the same. Those of a domain come with some of others."""
    row = ProjectResource
    lists = (text_list(row.project), text_list(row.quota), text_list(row.usage))
    query = row.select(*lists, json_list(*_COLUMNS, where=_is_unusual(row))).where(row.resource == resource_id)
    if project_ids is not None:
        return query.where(any_of(row.project, project_ids))
    bounds = (fn.MIN(Project.id).alias("first"), fn.MAX(Project.id).alias("last"))
    near = Project.select(*bounds).where(Project.domain == domain_id).group_by(Project.id / _NEAR).alias("near")
    return query.join(near, on=row.project.between(near.c.first, near.c.last))


def project_figures(
    engine: Engine, resources: Resources, domain_id: int, project_ids: Sequence[int] | None
) -> ProjectFigures:
    """Returns those of these projects, or of all projects of a domain and perhaps of others. PostgreSQL makes texts of
    them: rows for each resource of each project would take this process ten times as long."""
    figures = ProjectFigures({}, defaultdict(dict))
    if resources.number == "one":
        ((ids, quotas, usages, rare),) = _figures_of_one(engine, resources.one, domain_id, project_ids)
        if ids is not None and quotas is not None and usages is not None:
            of_projects = zip(repeat(str(resources.one)), quotas.split(","), usages.split(","), strict=False)
            figures.usual.update(zip(orjson.loads(f"[{ids}]"), of_projects, strict=True))
        unusual = [rare]
    else:
        unusual = []
        for project_id, ids_, quotas, usages, rare in _figures(engine, resources, domain_id, project_ids):
            figures.usual[project_id] = ids_, quotas, usages
            unusual.append(rare)
    for text in filter(None, unusual):
        for row in map(queries.ProjectResourceRow._make, orjson.loads(text)):
            figures.unusual[row.project_id][row.resource_id] = row
    return figures


@rows(ProjectAZRow, skip_empty="resources")
def project_azs(resources: Resources, domain_id: int, project_ids: Sequence[int] | None) -> Node:
    """Of these projects, or of all projects of a domain, in no particular order."""
    row = ProjectAZResource
    query = row.select(*(getattr(row, name) for name in ProjectAZRow._fields))
    return rows_of_projects(query, row.resource_id, row.project_id, resources, domain_id, project_ids)


@mapping(tuple[int, int, str], int, skip_empty="resources")
def project_az_quotas(resources: Resources, domain_id: int, project_ids: Sequence[int] | None) -> Node:
    """Quota by project, resource and AZ, where it grows by itself."""
    row = ProjectAZQuota
    query = row.select(row.project_id, row.resource_id, row.az, row.quota)
    return rows_of_projects(query, row.resource_id, row.project_id, resources, domain_id, project_ids)


_WIDTH, _FIGURES = len(PROJECT_COLUMNS), len(_COLUMNS)


def _service_row(*row: Any) -> ProjectServiceRow:
    service_type, has_service, scraped_at, failing_since, resource_name, *figures = row[_WIDTH:]
    resource, temporary = figures[:_FIGURES], figures[_FIGURES:]
    return ProjectServiceRow(
        ProjectRow._make(row[:_WIDTH]),
        service_type,
        bool(has_service),
        scraped_at,
        failing_since,
        resource_name,
        None if resource[0] is None else queries.ProjectResourceRow._make(resource),
        None if temporary[0] is None else temporary_queries.temporary_of(*temporary),
    )


_KINDS = (*get_type_hints(ProjectRow).values(), str, bool, float | None, float | None, str | None)


@made(_service_row, *_KINDS, *[Any] * (_FIGURES + len(temporary_queries.TEMPORARY_COLUMNS)), prepare=True)
def project_services(domain_uuid: str, uuid: str) -> Node:
    """All services and resources of one project; nothing if that domain has no such project. A join with all services:
    one statement, which is its own snapshot, reads everything."""
    service = (ProjectService.project == Project.id) & (ProjectService.service == Service.id)
    resource = (ProjectResource.project == Project.id) & (ProjectResource.resource == Resource.id)
    temporary = (models.TemporaryQuota.project == Project.id) & (models.TemporaryQuota.resource == Resource.id)
    return (
        Project.select(
            *PROJECT_COLUMNS,
            Service.type,
            ProjectService.project.is_null(False),
            ProjectService.scraped_at,
            FAILING_SINCE,
            Resource.name,
            *_COLUMNS,
            *temporary_queries.TEMPORARY_COLUMNS,
        )
        .join(Domain)
        .join(Service, JOIN.CROSS)
        .join(ProjectService, JOIN.LEFT_OUTER, on=service)
        .join(Resource, JOIN.LEFT_OUTER, on=Resource.service == Service.id)
        .join(ProjectResource, JOIN.LEFT_OUTER, on=resource)
        .join(models.TemporaryQuota, JOIN.LEFT_OUTER, on=temporary)
        .where(Project.uuid == uuid, Domain.uuid == domain_uuid)
    )
