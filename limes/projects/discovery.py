"""Domains and projects as a discovery finds and writes them."""

from collections.abc import Collection, Sequence
from typing import Any, Literal

from peewee import JOIN, Value

from limes.catalog.models import Resource, Service
from limes.commitments.models import Commitment
from limes.db.compiled import any_of, lock
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, distinct, mapping, tuples, value, writes
from limes.projects.models import Domain, DomainResource, Project, ProjectResource, ProjectService

_LIVE = ("planned", "pending", "confirmed")


@mapping(str, int)
def domain_ids() -> Node:
    return Domain.select(Domain.uuid, Domain.id)


@mapping(str, tuple[str, str])
def projects_of(domain_id: int) -> Node:
    """Names and parents' UUIDs by UUID."""
    return Project.select(Project.uuid, Project.name, Project.parent_uuid).where(Project.domain == domain_id)


@value(int)
def upsert_domain(uuid: str, name: str) -> Node:
    """Adds the domain, or updates its name. Gives its id."""
    insert = Domain.insert(uuid=uuid, name=name)
    return insert.on_conflict(conflict_target=[Domain.uuid], preserve=[Domain.name]).returning(Domain.id)


_upsert_projects = Insert(
    tuple[str, str, str, int, bool],
    Project,
    *(Project.uuid, Project.name, Project.parent_uuid, Project.domain, Project.has_bursting),
    finish=lambda insert: insert.on_conflict(
        conflict_target=[Project.uuid], preserve=[Project.name, Project.parent_uuid]
    ),
    at_once=500,
)


def upsert_projects(engine: Engine, domain_id: int, projects: Sequence[tuple[str, str, str]]) -> None:
    """Adds projects, given as (UUID, name, parent's UUID), or updates their name and parent."""
    _upsert_projects(engine, [(*project, domain_id, False) for project in projects])


@writes
def add_project_services(now: float, domain_id: int | None = None) -> Node:
    """Adds what is missing of the rows that say when to scrape the projects (of a domain): at once."""
    row = ProjectService
    fields = [row.project, row.service, row.next_scrape_at, row.is_stale, row.scrape_error, row.push_failures]
    missing = (
        Project.select(Project.id, Service.id, now, Value(False), Value(""), Value(0), Value(""))
        .join(Service, JOIN.CROSS)
        .left_outer_join(row, on=(row.project == Project.id) & (row.service == Service.id))
        .where(row.id.is_null())
    )
    if domain_id is not None:
        missing = missing.where(Project.domain == domain_id)
    insert = row.insert_from(missing, [*fields, row.push_error])
    return insert.on_conflict("NOTHING", conflict_target=[row.project, row.service])


@distinct(str, skip_empty="domain_uuids")
def projects_of_domains(domain_uuids: Collection[str]) -> Node:
    return Project.select(Project.uuid).join(Domain).where(any_of(Domain.uuid, domain_uuids))


@column(int, skip_empty="uuids")
def lock_projects(uuids: Collection[str]) -> Node:
    """Locks these projects: no commitment is created or received in them until the transaction ends."""
    return lock(Project.select(Project.id).where(any_of(Project.uuid, uuids)).order_by(Project.id))


@distinct(str, skip_empty="uuids")
def committed_projects(uuids: Collection[str]) -> Node:
    """Which of these projects have commitments that are neither expired nor superseded."""
    is_live = any_of(Commitment.status, _LIVE)
    return Project.select(Project.uuid).distinct().join(Commitment).where(is_live, any_of(Project.uuid, uuids))


@distinct(str, skip_empty="uuids")
def committed_domains(uuids: Collection[str]) -> Node:
    """Which of these domains have projects with commitments that are neither expired nor superseded."""
    query = Domain.select(Domain.uuid).distinct().join(Project).join(Commitment)
    return query.where(any_of(Commitment.status, _LIVE), any_of(Domain.uuid, uuids))


VanishedQuota = tuple[str, str, str, str, str, str, int]
"""Ids and names of the domain and of the project, which domain quotas do not have; service type and resource; and a
quota above 0 that is about to be deleted."""


@tuples(tuple[str, str, str, str, str, str, int], skip_empty="uuids")
def _quotas_of_projects(of: Literal["project", "domain"], uuids: Collection[str]) -> Node:
    place = (Domain.uuid, Domain.name, Project.uuid, Project.name)
    return (
        ProjectResource.select(*place, Service.type, Resource.name, ProjectResource.quota)
        .join(Project)
        .join(Domain)
        .join_from(ProjectResource, Resource)
        .join(Service)
        .where(ProjectResource.quota > 0, any_of((Project if of == "project" else Domain).uuid, uuids))
    )


@tuples(tuple[str, str, str, str, str, str, int], skip_empty="domains")
def _quotas_of_domains(domains: Collection[str]) -> Node:
    return (
        DomainResource.select(
            *(Domain.uuid, Domain.name, Value(""), Value(""), Service.type, Resource.name, DomainResource.quota)
        )
        .join(Domain)
        .join_from(DomainResource, Resource)
        .join(Service)
        .where(DomainResource.quota > 0, any_of(Domain.uuid, domains))
    )


def quotas_of_vanished(engine: Engine, projects: Collection[str], domains: Collection[str]) -> list[VanishedQuota]:
    """Returns the quotas above 0 of these projects, and of these domains with all of their projects, by UUID."""
    of_projects = _quotas_of_projects(engine, "project", projects) + _quotas_of_projects(engine, "domain", domains)
    return of_projects + _quotas_of_domains(engine, domains)


@writes
def _delete(model: Literal["project", "domain"], uuid: str) -> Node:
    row: Any = Project if model == "project" else Domain
    deleted: Node = row.delete().where(row.uuid == uuid)
    return deleted


def delete_projects(engine: Engine, uuids: Collection[str]) -> None:
    for uuid in uuids:
        _delete(engine, "project", uuid)


def delete_domains(engine: Engine, uuids: Collection[str]) -> None:
    """Deletes domains with their projects and all their data."""
    for uuid in uuids:
        _delete(engine, "domain", uuid)


@writes
def mark_stale(project_id: int) -> Node:
    """Requests a scrape of all services of a project, ahead of scrapes that are merely due."""
    return ProjectService.update(is_stale=True).where(ProjectService.project == project_id)
