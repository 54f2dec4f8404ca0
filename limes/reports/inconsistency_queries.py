"""Quotas that contradict each other or the backends, and scrapes that fail. All queries are set-based."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import peewee
from peewee import JOIN, fn

from limes.catalog.models import Service
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, rows, tuples
from limes.projects import queries as projects
from limes.projects.models import Domain, DomainResource, Project, ProjectResource, ProjectService
from limes.projects.scope import PLACE, PlacedRow, placed
from limes.usage import models
from limes.usage import sums as stored_sums
from limes.usage.sums import IS_SUSPICIOUS


class OvercommittedRow(NamedTuple):
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


@rows(OvercommittedRow, skip_empty="resources", prepare=True)
def _overcommitted(resources: Sequence[int], are_stored: bool) -> Node:
    row = ProjectResource
    if are_stored:
        sums = stored_sums.select_quotas(resources)
    else:
        query = row.select(Project.domain, row.resource, fn.SUM(row.quota).alias("quota")).join(Project)
        sums = query.where(any_of(row.resource, resources)).group_by(Project.domain, row.resource).alias("sums")
    same = (DomainResource.domain == sums.c.domain_id) & (DomainResource.resource == sums.c.resource_id)
    quota = fn.COALESCE(DomainResource.quota, 0)
    return (
        Domain.select(Domain.uuid, Domain.name, sums.c.resource_id, quota, sums.c.quota)
        .join(sums, on=sums.c.domain_id == Domain.id)
        .join(DomainResource, JOIN.LEFT_OUTER, on=same)
        .where(sums.c.quota > quota)
        .order_by(Domain.name)
    )


def overcommitted_domains(engine: Engine, resources: Sequence[int]) -> list[OvercommittedRow]:
    """Returns domains whose projects have more quota than the domain, in the order of domain names."""
    return _overcommitted(engine, resources, stored_sums.are_stored(engine))


@tuples(tuple[str, str, int, bool, int, int, int | None, int], skip_empty="resources", prepare=True)
def _suspicious(resources: Sequence[int], are_stored: bool) -> Node:
    """UUID and name of the project, id of the domain, and the other fields of a `SuspiciousRow`."""
    row, kept = ProjectResource, models.SuspiciousResource
    of_project = (Project.uuid, Project.name, Project.domain, Project.has_bursting)
    figures = (row.resource, row.quota, row.backend_quota, row.usage)
    query = row.select(*of_project, *figures).join(Project)
    query = query.where(any_of(row.resource, resources), row.quota.is_null(False))
    if not are_stored:
        return query.where(IS_SUSPICIOUS | Project.has_bursting)
    # each row is looked up, a resource at a time: PostgreSQL would rather read all rows of all projects
    by_resource = kept.select(kept.resource_id, fn.ARRAY_AGG(kept.project_id).alias("project_ids"))
    by_resource = by_resource.where(any_of(kept.resource_id, resources)).group_by(kept.resource_id).alias("by_resource")
    same = (row.resource == by_resource.c.resource_id, row.project == fn.ANY(by_resource.c.project_ids))
    found = row.select(row.project, *figures).where(*same).offset(0).alias("found")
    names = [found.c[name] for name in ("resource_id", "quota", "backend_quota", "usage")]
    suspicious = (
        peewee.Select([by_resource], [*of_project, *names])
        .join(found, JOIN.LEFT_LATERAL, on=True)
        .join(Project, on=Project.id == found.c.project_id)
        .where(found.c.quota.is_null(False), ~Project.has_bursting)
    )
    bursting = any_of(row.project, Project.select(Project.id).where(Project.has_bursting))
    return suspicious.union_all(query.where(bursting))


def suspicious_projects(engine: Engine, resources: Sequence[int]) -> list[SuspiciousRow]:
    """Returns resources of projects whose usage is above the quota, or whose backend quota is not the quota, and all of
    bursting projects, in no particular order. The caller knows the usable quota of bursting projects, and judges with
    it."""
    domains = {row.id: (row.uuid, row.name) for row in projects.domains(engine)}
    of_place, of_row = partial(tuple.__new__, PlacedRow), partial(tuple.__new__, SuspiciousRow)  # faster than calls
    found = _suspicious(engine, resources, stored_sums.are_stored(engine))
    return [of_row((of_place(row[:2] + domains[row[2]]), *row[3:])) for row in found]


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
