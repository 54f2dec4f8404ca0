"""Domains and projects as a discovery finds and writes them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from peewee import JOIN, Value

from limes.db.compiled import Select, any_of, compiled, compiled_insert, lock
from limes.db.engine import Engine
from limes.db.models import (
    Commitment,
    Domain,
    DomainResource,
    Project,
    ProjectResource,
    ProjectService,
    Resource,
    Service,
)

_LIVE = ("planned", "pending", "confirmed")
_CHUNK = 500


class KnownProject(NamedTuple):
    """A project as it is stored."""

    id: int
    uuid: str
    name: str
    parent_uuid: str


def domain_ids(engine: Engine) -> dict[str, int]:
    """Returns the id of each domain, by UUID."""
    return dict(engine.tuples(Domain.select(Domain.uuid, Domain.id)))


def projects_of(engine: Engine, domain_id: int) -> dict[str, KnownProject]:
    """Returns the projects of a domain, by UUID."""
    query = Project.select(Project.id, Project.uuid, Project.name, Project.parent_uuid)
    return {project.uuid: project for project in engine.all(query.where(Project.domain == domain_id), KnownProject)}


def upsert_domain(engine: Engine, uuid: str, name: str) -> int:
    """Adds the domain, or updates its name. Returns its id."""
    insert = Domain.insert(uuid=uuid, name=name)
    (id_,) = engine.column(
        insert.on_conflict(conflict_target=[Domain.uuid], preserve=[Domain.name]).returning(Domain.id)
    )
    return int(id_)


_ADD_DOMAIN_QUOTAS = compiled_insert(
    DomainResource,
    *(DomainResource.domain, DomainResource.resource, DomainResource.quota),
    finish=lambda insert: insert.on_conflict(
        "NOTHING", conflict_target=[DomainResource.domain, DomainResource.resource]
    ),
)


def add_domain_quotas(engine: Engine, domain_id: int, quotas: Mapping[int, int]) -> None:
    """Adds quotas of a domain, given by resource id, where they are missing."""
    if quotas:
        engine.write(_ADD_DOMAIN_QUOTAS, rows=[(domain_id, *item) for item in quotas.items()])


_UPSERT_PROJECTS = compiled_insert(
    Project,
    *(Project.uuid, Project.name, Project.parent_uuid, Project.domain, Project.has_bursting),
    finish=lambda insert: insert.on_conflict(
        conflict_target=[Project.uuid], preserve=[Project.name, Project.parent_uuid]
    ),
)


def upsert_projects(engine: Engine, domain_id: int, projects: Sequence[tuple[str, str, str]]) -> None:
    """Adds projects, given as (UUID, name, parent's UUID), or updates their name and parent."""
    for start in range(0, len(projects), _CHUNK):
        rows = [(*project, domain_id, False) for project in projects[start : start + _CHUNK]]
        engine.write(_UPSERT_PROJECTS, rows=rows)


def add_project_services(engine: Engine, now: float, domain_id: int | None = None) -> None:
    """Adds what is missing of the rows that say when to scrape the projects (of a domain): at once."""
    row = ProjectService
    fields = [row.project, row.service, row.next_scrape_at, row.is_stale, row.scrape_error, row.push_failures]
    missing = (
        Project.select(Project.id, Service.id, Value(now), Value(False), Value(""), Value(0), Value(""))
        .join(Service, JOIN.CROSS)
        .left_outer_join(row, on=(row.project == Project.id) & (row.service == Service.id))
        .where(row.id.is_null())
    )
    if domain_id is not None:
        missing = missing.where(Project.domain == domain_id)
    insert = row.insert_from(missing, [*fields, row.push_error])
    engine.write(insert.on_conflict("NOTHING", conflict_target=[row.project, row.service]))


def projects_of_domains(engine: Engine, domain_uuids: Collection[str]) -> set[str]:
    """Returns the UUIDs of all projects of these domains."""
    return _select_among(engine, Project.select(Project.uuid).join(Domain), Domain.uuid, domain_uuids)


_LOCK_PROJECTS = compiled(
    lambda p: lock(Project.select(Project.id).where(any_of(Project.uuid, p.uuids)).order_by(Project.id))
)


def lock_projects(engine: Engine, uuids: Collection[str]) -> None:
    """Locks these projects: nobody creates or receives a commitment in them until the transaction ends."""
    if uuids:
        engine.column(_LOCK_PROJECTS, uuids=uuids)


def committed_projects(engine: Engine, uuids: Collection[str]) -> set[str]:
    """Returns which of these projects have commitments that are neither expired nor superseded."""
    query = Project.select(Project.uuid).distinct().join(Commitment).where(any_of(Commitment.status, _LIVE))
    return _select_among(engine, query, Project.uuid, uuids)


def committed_domains(engine: Engine, uuids: Collection[str]) -> set[str]:
    """Returns which of these domains have projects with commitments that are neither expired nor superseded."""
    query = Domain.select(Domain.uuid).distinct().join(Project).join(Commitment).where(any_of(Commitment.status, _LIVE))
    return _select_among(engine, query, Domain.uuid, uuids)


def _select_among(engine: Engine, query: Select, column: Any, values: Collection[str]) -> set[str]:
    return set(engine.column(query.where(any_of(column, values)))) if values else set()


class VanishedQuota(NamedTuple):
    """A quota above 0 that is about to be deleted. Domain quotas have no project."""

    domain_uuid: str
    domain_name: str
    project_uuid: str
    project_name: str
    service_type: str
    resource_name: str
    quota: int


def quotas_of_vanished(engine: Engine, projects: Collection[str], domains: Collection[str]) -> list[VanishedQuota]:
    """Returns the quotas above 0 of these projects, and of these domains with all of their projects, by UUID."""
    resource = (Service.type, Resource.name)
    of_projects = (
        ProjectResource.select(
            *(Domain.uuid, Domain.name, Project.uuid, Project.name, *resource, ProjectResource.quota)
        )
        .join(Project)
        .join(Domain)
        .join_from(ProjectResource, Resource)
        .join(Service)
        .where(ProjectResource.quota > 0)
    )
    of_domains = (
        DomainResource.select(*(Domain.uuid, Domain.name, Value(""), Value(""), *resource, DomainResource.quota))
        .join(Domain)
        .join_from(DomainResource, Resource)
        .join(Service)
        .where(DomainResource.quota > 0)
    )
    quotas = engine.all(of_projects.where(any_of(Project.uuid, projects)), VanishedQuota) if projects else []
    if domains:
        in_domains = any_of(Domain.uuid, domains)
        quotas += engine.all(of_projects.where(in_domains), VanishedQuota)
        quotas += engine.all(of_domains.where(in_domains), VanishedQuota)
    return quotas


_DELETE_PROJECT = compiled(lambda p: Project.delete().where(Project.uuid == p.uuid))
_DELETE_DOMAIN = compiled(lambda p: Domain.delete().where(Domain.uuid == p.uuid))


def delete_projects(engine: Engine, uuids: Collection[str]) -> None:
    """Deletes projects with all their data."""
    for uuid in uuids:
        engine.write(_DELETE_PROJECT, uuid=uuid)


def delete_domains(engine: Engine, uuids: Collection[str]) -> None:
    """Deletes domains with their projects and all their data."""
    for uuid in uuids:
        engine.write(_DELETE_DOMAIN, uuid=uuid)


def mark_stale(engine: Engine, project_id: int) -> None:
    """Requests a scrape of all services of a project, ahead of those that are merely due."""
    engine.write(ProjectService.update(is_stale=True).where(ProjectService.project == project_id))
