"""Quota and usage of single projects, as reports show them: by resource, and by AZ."""

from collections.abc import Sequence
from typing import Any, NamedTuple, get_type_hints

from peewee import JOIN

from limes.core.temporary_quota import TemporaryQuota as Temporary
from limes.db.models import (
    Domain,
    Project,
    ProjectAZQuota,
    ProjectAZResource,
    ProjectResource,
    ProjectService,
    Resource,
    Service,
    TemporaryQuota,
)
from limes.db.queries.project_quotas import ProjectResourceRow
from limes.db.queries.projects import FAILING_SINCE, PROJECT_COLUMNS, ProjectRow, Resources, rows_of_projects
from limes.db.queries.temporary_quotas import TEMPORARY_COLUMNS, temporary_of
from limes.db.query import Node, Query, R, made, mapping, rows


class ProjectAZRow(NamedTuple):
    """Usage of one project and resource in one AZ."""

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
    resource: ProjectResourceRow | None
    temporary: Temporary | None


_COLUMNS = tuple(getattr(ProjectResource, name) for name in ProjectResourceRow._fields)


def _of_projects(kind: type[R], model: Any) -> Query[[Resources, int, Sequence[int] | None], list[R]]:
    @rows(kind, skip_empty="resources")
    def select(resources: Resources, domain_id: int, project_ids: Sequence[int] | None) -> Node:
        query = model.select(*(getattr(model, name) for name in kind._fields))
        return rows_of_projects(query, model.resource_id, model.project_id, resources, domain_id, project_ids)

    return select


# of these projects, or of all projects of a domain, in no particular order
project_resources = _of_projects(ProjectResourceRow, ProjectResource)
project_azs = _of_projects(ProjectAZRow, ProjectAZResource)


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
        None if resource[0] is None else ProjectResourceRow._make(resource),
        None if temporary[0] is None else temporary_of(*temporary),
    )


_KINDS = (*get_type_hints(ProjectRow).values(), str, bool, float | None, float | None, str | None)


@made(_service_row, *_KINDS, *[Any] * (_FIGURES + len(TEMPORARY_COLUMNS)), prepare=True)
def project_services(domain_uuid: str, uuid: str) -> Node:
    """All services and resources of one project; nothing if that domain has no such project. A join with all services:
    one statement, which is its own snapshot, reads everything."""
    service = (ProjectService.project == Project.id) & (ProjectService.service == Service.id)
    resource = (ProjectResource.project == Project.id) & (ProjectResource.resource == Resource.id)
    temporary = (TemporaryQuota.project == Project.id) & (TemporaryQuota.resource == Resource.id)
    return (
        Project.select(
            *PROJECT_COLUMNS,
            Service.type,
            ProjectService.project.is_null(False),
            ProjectService.scraped_at,
            FAILING_SINCE,
            Resource.name,
            *_COLUMNS,
            *TEMPORARY_COLUMNS,
        )
        .join(Domain)
        .join(Service, JOIN.CROSS)
        .join(ProjectService, JOIN.LEFT_OUTER, on=service)
        .join(Resource, JOIN.LEFT_OUTER, on=Resource.service == Service.id)
        .join(ProjectResource, JOIN.LEFT_OUTER, on=resource)
        .join(TemporaryQuota, JOIN.LEFT_OUTER, on=temporary)
        .where(Project.uuid == uuid, Domain.uuid == domain_uuid)
    )
