"""Quotas of projects and domains, bursting, and what decides. Locks are taken in the order of resource ids."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, get_type_hints

import peewee
from peewee import JOIN

from limes.audit.events import What
from limes.autogrow.models import ProjectAZQuota
from limes.catalog.catalog import Ref
from limes.catalog.models import Resource, Service
from limes.catalog.queries import resource_ids
from limes.db.compiled import any_of, lock_but_not_key
from limes.db.compiled import lock as locked
from limes.db.compiled_rows import CompiledForRows, compiled_update
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, distinct, first_value, keyed, made_by, mapping, tuples, writes
from limes.projects import scrapes
from limes.projects.models import Domain, DomainResource, Project, ProjectResource


class ProjectResourceRow(NamedTuple):
    """Quota and usage of a project's resource, over all AZs."""

    project_id: int
    resource_id: int
    quota: int | None
    backend_quota: int | None
    """In the stored form (`limes.quota.rules`)."""
    usage: int
    physical_usage: int | None
    max_backend_quota: int | None
    """The largest quota that the backend accepts, where it says so."""


HasQuota = scrapes.ResourceRow | ProjectResourceRow
"""A stored row of a project's resource."""


class SetByPeople(NamedTuple):
    """What people set of a project's resource."""

    quota: int | None
    max_quota: int | None
    min_quota: int | None
    forbids_autogrowth: bool

    def value_of(self, what: What) -> int | None:
        """Returns one of the bounds, as the history has it."""
        if what is What.FORBID_AUTOGROWTH:
            return int(self.forbids_autogrowth)
        return self.min_quota if what is What.MIN_QUOTA else self.max_quota

    @property
    def bounds(self) -> "Bounds":
        return self.max_quota, self.min_quota, self.forbids_autogrowth


Bounds = tuple[int | None, int | None, bool]
"""`max_quota`, `min_quota`, and whether growth is forbidden."""


@keyed(int, "resource_id", ProjectResourceRow, skip_empty="resources")
def project_quotas_by_resource(project_id: int, resources: Collection[int], *, lock: bool = False) -> Node:
    """Quota and usage of a project, by resource id. Resources that were never scraped are missing. With `lock`, they
    stay as they are until the transaction ends."""
    row = ProjectResource
    query = row.select(*(getattr(row, name) for name in ProjectResourceRow._fields))
    query = query.where(row.project == project_id, any_of(row.resource, resources)).order_by(row.resource)
    return locked(query) if lock else query


def _scraped(*row: Any) -> ProjectResourceRow | None:
    return None if row[0] is None else ProjectResourceRow._make(row)


@made_by(
    tuple[str, int], _scraped, *[kind | None for kind in get_type_hints(ProjectResourceRow).values()], prepare=True
)
def quotas_of_service(project_id: int, service_id: int, *, lock: bool = False) -> Node:
    """Quota and usage of a project, by name and id of each resource that the backend of the service still offers; None
    for one that was never scraped. With `lock`, these are left out, and the others stay as they are until the
    transaction ends."""
    row = ProjectResource.alias("pr")
    columns = (Resource.name, Resource.id, *(getattr(row, name) for name in ProjectResourceRow._fields))
    is_same = (row.resource == Resource.id) & (row.project == project_id)
    is_offered = (Resource.service == service_id, Resource.is_known)
    if lock:
        query = row.select(*columns).join(Resource, on=is_same).where(*is_offered)
        return locked(query.order_by(row.resource), of="pr")
    return Resource.select(*columns).join(row, JOIN.LEFT_OUTER, on=is_same).where(*is_offered)


@distinct(int)
def forbidden_projects(resource_id: int, projects: Collection[int]) -> Node:
    """Those of these projects that the backend does not let have any of the resource."""
    row = ProjectResource
    is_forbidden = (row.resource == resource_id, row.max_backend_quota == 0)
    return row.select(row.project).where(*is_forbidden, any_of(row.project, projects))


def _compile_update(field: peewee.Field) -> CompiledForRows:
    return compiled_update(
        ProjectResource.resource, field, condition=lambda p: ProjectResource.project == p.project, prepare=True
    )


_WRITE, _WRITE_BACKEND = _compile_update(ProjectResource.quota), _compile_update(ProjectResource.backend_quota)


def write_project_quotas(engine: Engine, project_id: int, quotas: Mapping[int, int]) -> None:
    engine.write(_WRITE, rows=list(quotas.items()), project=project_id)


def write_backend_quotas(engine: Engine, project_id: int, quotas: Mapping[int, int]) -> None:
    """Sets what the backends enforce, by resource id (stored form)."""
    if quotas:
        engine.write(_WRITE_BACKEND, rows=list(quotas.items()), project=project_id)


@mapping(tuple[str, str], SetByPeople)
def project_quotas_by_name(project_id: int, *, lock: bool) -> Node:
    """Every quota of a project and its bounds, without resources that were never scraped. With `lock`, they stay
    as they are until the transaction ends."""
    row = ProjectResource.alias("pr")
    columns = (Service.type, Resource.name, row.quota, row.max_quota, row.min_quota, row.forbids_autogrowth)
    query = row.select(*columns).join(Resource, on=row.resource == Resource.id).join(Service)
    query = query.where(row.project == project_id).order_by(row.resource)
    return locked(query, of="pr") if lock else query


@first_value(bool)
def _has_bursting(project_id: int, *, lock: bool) -> Node:
    query = Project.select(Project.has_bursting).where(Project.id == project_id)
    # not FOR UPDATE, which would block inserts of rows that refer to the project
    return lock_but_not_key(query) if lock else query


def lock_project(engine: Engine, project_id: int, *, lock: bool) -> bool:
    """Returns whether the project may burst. With `lock`, that stays so until the transaction ends."""
    return bool(_has_bursting(engine, project_id, lock=lock))


@writes
def write_bursting(project_id: int, enabled: bool) -> Node:
    return Project.update(has_bursting=enabled).where(Project.id == project_id)


@tuples(tuple[str, str])
def bursted_resources(project_id: int) -> Node:
    """Resources whose usage is above the project's quota."""
    query = ProjectResource.select(Service.type, Resource.name).join(Resource).join(Service)
    return query.where(ProjectResource.project == project_id, ProjectResource.usage > ProjectResource.quota)


_FIELDS = (DomainResource.domain, DomainResource.resource, DomainResource.quota)


@column(int)
def _lock_domain(domain_id: int, resources: Sequence[int]) -> Node:
    row = DomainResource
    query = row.select(row.resource).where(row.domain == domain_id, any_of(row.resource, resources))
    return locked(query.order_by(row.resource))


add_quotas = Insert(tuple[int, int, int], DomainResource, *_FIELDS, key=2, keep=True)
"""Adds quotas, given as (domain id, resource id, quota), where they are missing."""


def lock_domain_quotas(engine: Engine, domain_id: int, resources: Sequence[int]) -> None:
    """Until the transaction ends, no other one decides on sums over this domain's projects for these resources. Creates
    the rows to lock where they are missing (for a resource that has just appeared)."""
    missing = sorted(set(resources) - set(_lock_domain(engine, domain_id, resources)))
    if missing:
        add_quotas(engine, [(domain_id, resource, 0) for resource in missing])
        _lock_domain(engine, domain_id, resources)


@mapping(tuple[str, str], int, prepare=True)
def _lock_named(domain_id: int, service_types: Collection[str], names: Collection[str]) -> Node:
    row = DomainResource.alias("dr")
    query = row.select(Service.type, Resource.name, row.resource).join(Resource, on=row.resource == Resource.id)
    named = (any_of(Service.type, service_types), any_of(Resource.name, names))
    return locked(query.join(Service).where(row.domain == domain_id, *named).order_by(row.resource), of="dr")


def lock_named_quotas(engine: Engine, domain_id: int, refs: Collection[Ref]) -> dict[Ref, int]:
    """As `lock_domain_quotas`, in one statement where no row is missing. Returns the ids of the resources."""
    found = _lock_named(engine, domain_id, {type_ for type_, _ in refs}, {name for _, name in refs})
    if not found.keys() >= set(refs):
        found = resource_ids(engine)
        lock_domain_quotas(engine, domain_id, [found[ref] for ref in refs])
    return {ref: found[ref] for ref in refs}


@mapping(tuple[int, int], int, skip_empty="resources", prepare=True)
def domain_quotas_by_resource(resources: Sequence[int], domain_ids: Sequence[int] | None = None) -> Node:
    """Quota by (domain id, resource id), over these domains or all of them."""
    query = DomainResource.select(*_FIELDS).where(any_of(DomainResource.resource, resources))
    return query if domain_ids is None else query.where(any_of(DomainResource.domain, domain_ids))


@mapping(int, int, skip_empty="resources", prepare=True)
def _sums_of_domains(resources: Sequence[int]) -> Node:
    row = DomainResource
    query = row.select(row.resource, peewee.fn.SUM(row.quota)).where(any_of(row.resource, resources))
    return query.group_by(row.resource)


def domain_quota_sums(engine: Engine, resources: Sequence[int]) -> dict[int, int]:
    """Returns the sum of all domains' quotas, by resource id, however large it is."""
    if engine.dialect == "postgresql":
        return _sums_of_domains(engine, resources)
    sums: Counter[int] = Counter()  # SQLite's sums end at 64 bits
    for (_, resource), quota in domain_quotas_by_resource(engine, resources).items():
        sums[resource] += quota
    return dict(sums)


_WRITE_DOMAIN = compiled_update(*_FIELDS[1:], condition=lambda p: DomainResource.domain == p.domain)


def write_domain_quotas(engine: Engine, domain_id: int, quotas: Mapping[int, int]) -> None:
    engine.write(_WRITE_DOMAIN, rows=list(quotas.items()), domain=domain_id)


@writes
def _add_all_of_domain(domain_id: int) -> Node:
    same = (DomainResource.domain == Domain.id) & (DomainResource.resource == Resource.id)
    missing = (
        Domain.select(Domain.id, Resource.id, peewee.Value(0))
        .join(Resource, JOIN.CROSS)
        .where(Domain.id == domain_id, ~peewee.fn.EXISTS(DomainResource.select(peewee.Value(1)).where(same)))
        .order_by(Resource.id)
    )
    return DomainResource.insert_from(missing, _FIELDS).on_conflict("NOTHING", conflict_target=_FIELDS[:2])


@mapping(tuple[str, str], int)
def _of_domain_by_name(domain_id: int, *, lock: bool) -> Node:
    row = DomainResource.alias("dr")
    query = row.select(Service.type, Resource.name, row.quota).join(Resource, on=row.resource == Resource.id)
    query = query.join(Service).where(row.domain == domain_id).order_by(row.resource)
    return locked(query, of="dr") if lock else query


def domain_quotas_by_name(engine: Engine, domain_id: int, *, lock: bool) -> dict[Ref, int]:
    """Returns every quota of a domain. With `lock`, they stay as they are until the transaction ends. A
    missing row means 0. With `lock` such rows are created: a row that does not exist cannot be locked."""
    if lock:
        _add_all_of_domain(engine, domain_id)
    return _of_domain_by_name(engine, domain_id, lock=lock)


class ProjectQuotaRow(NamedTuple):
    """A project with the resource: its quota, and what bounds it."""

    project_id: int
    project_uuid: str
    project_name: str
    domain_uuid: str
    domain_name: str
    quota: int | None
    max_quota: int | None
    min_quota: int | None
    forbids_autogrowth: bool
    min_backend_quota: int | None
    max_backend_quota: int | None


@mapping(tuple[int, int, str], int, skip_empty="resources")
def az_quotas(projects: Collection[int], resources: Collection[int]) -> Node:
    """The quotas of projects in each AZ, by project id, resource id and AZ."""
    row = ProjectAZQuota
    query = row.select(row.project_id, row.resource_id, row.az, row.quota)
    return query.where(any_of(row.project_id, projects), any_of(row.resource_id, resources))
