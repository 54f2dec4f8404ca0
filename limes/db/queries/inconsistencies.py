"""Quotas that contradict each other or the backends, and scrapes that fail. All queries are set-based."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from peewee import JOIN, fn

from limes.db.compiled import Select, any_of
from limes.db.engine import Engine
from limes.db.models import Domain, DomainResource, Project, ProjectResource, ProjectService, Service
from limes.db.models.kept_sums import SuspiciousResource
from limes.db.queries import kept_sums
from limes.db.queries.attention import PLACE, PlacedRow, placed
from limes.db.query import Node, rows


class OvercommittedRow(NamedTuple):
    """A domain whose projects have more quota than it has."""

    domain_uuid: str
    domain_name: str
    resource_id: int
    domain_quota: int
    projects_quota: int


class SuspiciousRow(NamedTuple):
    """A project's resource whose usage or backend quota may contradict its quota."""

    project: PlacedRow
    has_bursting: bool
    resource_id: int
    quota: int
    backend_quota: int | None
    usage: int


class ScrapeErrorRow(NamedTuple):
    project: PlacedRow
    service_type: str
    checked_at: float
    message: str


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


@rows(OvercommittedRow, skip_empty="resources")
def _kept(resources: Sequence[int]) -> Node:
    return _overcommitted(kept_sums.select_quotas(resources))


@rows(OvercommittedRow, skip_empty="resources")
def _computed(resources: Sequence[int]) -> Node:
    row = ProjectResource
    query = row.select(Project.domain, row.resource, fn.SUM(row.quota).alias("quota")).join(Project)
    sums = query.where(any_of(row.resource, resources)).group_by(Project.domain, row.resource).alias("sums")
    return _overcommitted(sums)


def overcommitted_domains(engine: Engine, resources: Sequence[int]) -> list[OvercommittedRow]:
    """Returns domains whose projects have more quota than the domain, in the order of domain names."""
    return (_kept if kept_sums.are_kept(engine) else _computed)(engine, resources)


_COLUMNS = (
    *(*PLACE, Project.has_bursting),
    *(ProjectResource.resource, ProjectResource.quota, ProjectResource.backend_quota, ProjectResource.usage),
)
IS_SUSPICIOUS = (ProjectResource.usage > ProjectResource.quota) | (
    ProjectResource.backend_quota != ProjectResource.quota
)


def _select(resources: Sequence[int], *conditions: Any) -> Select:
    is_wanted = (any_of(ProjectResource.resource, resources), ProjectResource.quota.is_null(False))
    return ProjectResource.select(*_COLUMNS).join(Project).join(Domain).where(*is_wanted, *conditions)


_suspicious_rows = placed(SuspiciousRow, bool, int, int, int | None, int, skip_empty="resources")


@_suspicious_rows
def _suspicious(resources: Sequence[int]) -> Node:
    return _select(resources, IS_SUSPICIOUS | Project.has_bursting)


@_suspicious_rows
def _kept_or_bursting(resources: Sequence[int]) -> Node:
    kept = SuspiciousResource
    same = (kept.project_id == ProjectResource.project) & (kept.resource_id == ProjectResource.resource)
    bursting = any_of(ProjectResource.project, Project.select(Project.id).where(Project.has_bursting))
    return _select(resources).join_from(ProjectResource, kept, on=same).union(_select(resources, bursting))


def suspicious_projects(engine: Engine, resources: Sequence[int]) -> list[SuspiciousRow]:
    """Returns resources of projects whose usage is above the quota, or whose backend quota is not the quota, and all of
    bursting projects, in no particular order. The caller knows the usable quota of bursting projects, and judges with
    it."""
    return (_kept_or_bursting if kept_sums.are_kept(engine) else _suspicious)(engine, resources)


@placed(ScrapeErrorRow, str, float, str)
def scrape_errors() -> Node:
    """All failed scrapes, in the order of service type, domain name and project name."""
    row = ProjectService
    return (
        row.select(*PLACE, Service.type, row.checked_at, row.scrape_error)
        .join_from(row, Service)
        .join_from(row, Project)
        .join(Domain)
        .where(row.scrape_error != "", row.checked_at.is_null(False), Service.vanished_at.is_null())
        .order_by(Service.type, Domain.name, Project.name)
    )
