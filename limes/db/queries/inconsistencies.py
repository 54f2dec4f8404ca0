"""Quotas that contradict each other or the backends, and scrapes that fail. All queries are set-based."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from peewee import JOIN, fn

from limes.db.compiled import Parameters, Select, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Domain, DomainResource, Project, ProjectResource, ProjectService, Service
from limes.db.models.kept_sums import SuspiciousResource
from limes.db.queries import kept_sums


class OvercommittedRow(NamedTuple):
    """A domain whose projects have more quota than it has."""

    domain_uuid: str
    domain_name: str
    resource_id: int
    domain_quota: int
    projects_quota: int


class SuspiciousRow(NamedTuple):
    """A project's resource whose usage or backend quota may contradict its quota."""

    domain_uuid: str
    domain_name: str
    project_uuid: str
    project_name: str
    has_bursting: bool
    resource_id: int
    quota: int
    backend_quota: int | None
    usage: int


class ScrapeErrorRow(NamedTuple):
    """A failed scrape of one project's service."""

    service_type: str
    project_uuid: str
    project_name: str
    domain_uuid: str
    domain_name: str
    checked_at: float
    message: str


def _computed(p: Parameters) -> Any:
    return (
        ProjectResource.select(Project.domain, ProjectResource.resource, fn.SUM(ProjectResource.quota).alias("quota"))
        .join(Project)
        .where(any_of(ProjectResource.resource, p.resources))
        .group_by(Project.domain, ProjectResource.resource)
        .alias("sums")
    )


def _overcommitted(sums: Any) -> Select:
    same = (DomainResource.domain == sums.c.domain_id) & (DomainResource.resource == sums.c.resource_id)
    quota = fn.COALESCE(DomainResource.quota, 0)
    return (
        Domain.select(Domain.uuid, Domain.name, sums.c.resource_id, quota, sums.c.quota)
        .join(sums, on=sums.c.domain_id == Domain.id)
        .join(DomainResource, JOIN.LEFT_OUTER, on=same)
        .where(sums.c.quota > quota)
        .order_by(Domain.name)
    )


_COMPUTED = compiled(lambda p: _overcommitted(_computed(p)))
_KEPT = compiled(lambda p: _overcommitted(kept_sums.select_quotas(p)))


def overcommitted_domains(engine: Engine, resources: Sequence[int]) -> list[OvercommittedRow]:
    """Returns domains whose projects have more quota than the domain, in the order of domain names."""
    query = _KEPT if kept_sums.are_kept(engine) else _COMPUTED
    return engine.all(query, OvercommittedRow, resources=resources) if resources else []


_COLUMNS = (
    *(Domain.uuid, Domain.name, Project.uuid, Project.name, Project.has_bursting),
    *(ProjectResource.resource, ProjectResource.quota, ProjectResource.backend_quota, ProjectResource.usage),
)


IS_SUSPICIOUS = (ProjectResource.usage > ProjectResource.quota) | (
    ProjectResource.backend_quota != ProjectResource.quota
)


def _suspicious(p: Parameters, *conditions: Any) -> Select:
    is_wanted = (any_of(ProjectResource.resource, p.resources), ProjectResource.quota.is_null(False))
    return ProjectResource.select(*_COLUMNS).join(Project).join(Domain).where(*is_wanted, *conditions)


def _kept_or_bursting(p: Parameters) -> Any:
    kept = SuspiciousResource
    same = (kept.project_id == ProjectResource.project) & (kept.resource_id == ProjectResource.resource)
    bursting = any_of(ProjectResource.project, Project.select(Project.id).where(Project.has_bursting))
    return _suspicious(p).join_from(ProjectResource, kept, on=same).union(_suspicious(p, bursting))


_SUSPICIOUS = compiled(lambda p: _suspicious(p, IS_SUSPICIOUS | Project.has_bursting))
_KEPT_SUSPICIOUS = compiled(_kept_or_bursting)


def suspicious_projects(engine: Engine, resources: Sequence[int]) -> list[SuspiciousRow]:
    """Returns resources of projects whose usage is above the quota, or whose backend quota is not the quota, and all of
    bursting projects, in no particular order.

    The caller knows the usable quota of bursting projects, and judges with it.
    """
    query = _KEPT_SUSPICIOUS if kept_sums.are_kept(engine) else _SUSPICIOUS
    return engine.all(query, SuspiciousRow, resources=resources) if resources else []


_SCRAPE_ERRORS = compiled(
    lambda p: (
        ProjectService.select(
            Service.type,
            Project.uuid,
            Project.name,
            Domain.uuid,
            Domain.name,
            ProjectService.checked_at,
            ProjectService.scrape_error,
        )
        .join_from(ProjectService, Service)
        .join_from(ProjectService, Project)
        .join(Domain)
        .where(
            ProjectService.scrape_error != "",
            ProjectService.checked_at.is_null(False),
            Service.vanished_at.is_null(),
        )
        .order_by(Service.type, Domain.name, Project.name)
    )
)


def scrape_errors(engine: Engine) -> list[ScrapeErrorRow]:
    """Returns all failed scrapes, in the order of service type, domain name and project name."""
    return engine.all(_SCRAPE_ERRORS, ScrapeErrorRow)
