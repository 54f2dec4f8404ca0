"""Quota and usage of single projects, as reports show them: by resource, and by AZ."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from peewee import JOIN

from limes.db.compiled import Parameters, Select, compiled
from limes.db.engine import Engine
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
from limes.db.queries.project_scrapes import FAILING_SINCE
from limes.db.queries.projects import PROJECT_COLUMNS, ProjectRow, RowsOfProjects
from limes.db.queries.temporary_quotas import TEMPORARY_COLUMNS, TemporaryRow


class ProjectResourceRow(NamedTuple):
    """Quota and usage of one project and resource."""

    project_id: int
    resource_id: int
    quota: int | None
    backend_quota: int | None
    usage: int
    physical_usage: int | None
    max_backend_quota: int | None
    """The largest quota that the backend accepts of the project, where it says so."""


class ProjectAZRow(NamedTuple):
    """Usage of one project and resource in one AZ."""

    project_id: int
    resource_id: int
    az: str
    usage: int
    physical_usage: int | None
    subresources: str


class ProjectAZQuotaRow(NamedTuple):
    """Quota of one project and resource in one AZ, where it grows by itself."""

    project_id: int
    resource_id: int
    az: str
    quota: int


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
    temporary: TemporaryRow | None


_COLUMNS = tuple(getattr(ProjectResource, name) for name in ProjectResourceRow._fields)
_AZ_COLUMNS = tuple(getattr(ProjectAZResource, name) for name in ProjectAZRow._fields)
_RESOURCES = RowsOfProjects(
    ProjectResource.resource, ProjectResource.project, lambda: ProjectResource.select(*_COLUMNS)
)
_AZS = RowsOfProjects(
    ProjectAZResource.resource_id, ProjectAZResource.project_id, lambda: ProjectAZResource.select(*_AZ_COLUMNS)
)

_AZ_QUOTA_COLUMNS = tuple(getattr(ProjectAZQuota, name) for name in ProjectAZQuotaRow._fields)
_AZ_QUOTAS = RowsOfProjects(
    ProjectAZQuota.resource_id, ProjectAZQuota.project_id, lambda: ProjectAZQuota.select(*_AZ_QUOTA_COLUMNS)
)


def project_resources(
    engine: Engine, resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None
) -> list[ProjectResourceRow]:
    """Returns quota and usage of these projects, or of all projects of a domain, in no particular order."""
    return _RESOURCES.read(engine, ProjectResourceRow, resources, domain_id, project_ids)


def project_azs(
    engine: Engine, resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None
) -> list[ProjectAZRow]:
    """Returns usage by AZ of these projects, or of all projects of a domain, in no particular order."""
    return _AZS.read(engine, ProjectAZRow, resources, domain_id, project_ids)


def project_az_quotas(
    engine: Engine, resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None
) -> list[ProjectAZQuotaRow]:
    """Returns quota by AZ of these projects, or of all projects of a domain, in no particular order."""
    return _AZ_QUOTAS.read(engine, ProjectAZQuotaRow, resources, domain_id, project_ids)


def _one_project(p: Parameters) -> Select:
    """Returns a join with all services: one statement, which is its own snapshot, reads everything."""
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
        .where(Project.uuid == p.uuid, Domain.uuid == p.domain)
    )


_ONE_PROJECT = compiled(_one_project, prepare=True)
_WIDTH, _FIGURES = len(PROJECT_COLUMNS), len(_COLUMNS)


def project_services(engine: Engine, domain_uuid: str, uuid: str) -> Iterator[ProjectServiceRow]:
    """Yields all services and resources of one project; nothing if that domain has no such project. One statement."""
    for row in engine.tuples(_ONE_PROJECT, uuid=uuid, domain=domain_uuid):
        service_type, has_service, scraped_at, failing_since, resource_name, *figures = row[_WIDTH:]
        resource, temporary = figures[:_FIGURES], figures[_FIGURES:]
        yield ProjectServiceRow(
            ProjectRow._make(row[:_WIDTH]),
            service_type,
            bool(has_service),
            scraped_at,
            failing_since,
            resource_name,
            None if resource[0] is None else ProjectResourceRow._make(resource),
            None if temporary[0] is None else TemporaryRow._make(temporary),
        )
