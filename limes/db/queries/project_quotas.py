"""Quotas of projects, and what decisions about them rest on. Locks are taken in the order of resource ids."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import peewee
from peewee import fn

from limes.core.catalog import Ref
from limes.core.commitments.commitment import Status
from limes.db.compiled import Parameters, Select, any_of, compiled, compiled_update, lock
from limes.db.engine import Engine
from limes.db.models import AZResource, Commitment, DomainResource, ProjectResource, Resource, Service
from limes.db.queries.projects import RowsOfProjects


class ProjectQuotaRow(NamedTuple):
    """Quota and usage of a project's resource."""

    resource_id: int
    quota: int | None
    backend_quota: int | None
    """In the stored form (`limes.core.quota`)."""
    usage: int
    """Over all AZs."""
    max_backend_quota: int | None
    """The largest quota that the backend accepts, where it says so."""


class ProjectDecisionRow(NamedTuple):
    """Everything but the sum over projects that decides on the quota of a project's resource."""

    resource_id: int
    quota: int | None
    usage: int
    domain_quota: int | None
    raw_capacity: int
    """Over all AZs."""
    min_backend_quota: int | None
    max_backend_quota: int | None
    """What the backend accepts, where it says so."""
    committed: int
    """What the project's confirmed commitments guarantee."""


class SetByPeople(NamedTuple):
    """What people set of a project's resource."""

    quota: int | None
    max_quota: int | None
    min_quota: int | None
    forbids_autogrowth: bool

    @property
    def bounds(self) -> "Bounds":
        """Returns what bounds quota that grows by itself."""
        return self.max_quota, self.min_quota, self.forbids_autogrowth


Bounds = tuple[int | None, int | None, bool]
"""`max_quota`, `min_quota`, and whether growth is forbidden."""


class _Sum(NamedTuple):
    resource_id: int
    quota: int | None


# -- what decides ------------------------------------------------------------------------------------------------------


def _decisions(p: Parameters) -> Select:
    domain_quota = DomainResource.select(DomainResource.quota).where(
        DomainResource.domain == p.domain, DomainResource.resource == ProjectResource.resource
    )
    capacity = AZResource.select(fn.COALESCE(fn.SUM(AZResource.raw_capacity), 0)).where(
        AZResource.resource == ProjectResource.resource
    )
    guaranteed = Commitment.select(fn.COALESCE(fn.SUM(Commitment.amount), 0)).where(
        Commitment.project == ProjectResource.project,
        Commitment.resource == ProjectResource.resource,
        Commitment.status == Status.CONFIRMED.value,
        Commitment.expires_at > p.now,
        Commitment.transfer_status == "",  # those marked for transfer do not count
    )
    return ProjectResource.select(
        ProjectResource.resource,
        ProjectResource.quota,
        ProjectResource.usage,
        domain_quota,
        capacity,
        ProjectResource.min_backend_quota,
        ProjectResource.max_backend_quota,
        guaranteed,
    ).where(ProjectResource.project == p.project, any_of(ProjectResource.resource, p.resources))


_DECISIONS = compiled(_decisions)


def project_decisions(
    engine: Engine, project_id: int, domain_id: int, resources: Sequence[int], now: float
) -> dict[int, ProjectDecisionRow]:
    """Returns what decides, by resource id, in one statement. Resources that were never scraped are missing."""
    rows = engine.all(
        _DECISIONS, ProjectDecisionRow, project=project_id, domain=domain_id, resources=resources, now=now
    )
    return {row.resource_id: row for row in rows}


_SUMS = RowsOfProjects(
    ProjectResource.resource,
    ProjectResource.project,
    lambda: ProjectResource.select(ProjectResource.resource, fn.SUM(ProjectResource.quota)).group_by(
        ProjectResource.resource
    ),
)


def project_quota_sums(engine: Engine, domain_id: int, resources: Sequence[int]) -> dict[int, int]:
    """Returns the sum of the project quotas in a domain, by resource id."""
    return {row.resource_id: row.quota or 0 for row in _SUMS.read(engine, _Sum, resources, domain_id, None)}


# -- by resource id ----------------------------------------------------------------------------------------------------


def _by_resource(p: Parameters) -> Select:
    return (
        ProjectResource.select(
            ProjectResource.resource,
            ProjectResource.quota,
            ProjectResource.backend_quota,
            ProjectResource.usage,
            ProjectResource.max_backend_quota,
        )
        .where(ProjectResource.project == p.project, any_of(ProjectResource.resource, p.resources))
        .order_by(ProjectResource.resource)
    )


_BY_RESOURCE = compiled(_by_resource)
_LOCK_BY_RESOURCE = compiled(lambda p: lock(_by_resource(p)))


def project_quotas_by_resource(
    engine: Engine, project_id: int, resources: Collection[int], *, lock: bool = False
) -> dict[int, ProjectQuotaRow]:
    """Returns quota and usage of a project, by resource id. Resources that were never scraped are missing.

    With `lock`, nobody else changes them until the transaction ends. All transactions lock in the same order:
    `project_resources` before `project_services`.
    """
    if not resources:
        return {}
    query = _LOCK_BY_RESOURCE if lock else _BY_RESOURCE
    rows = engine.all(query, ProjectQuotaRow, project=project_id, resources=resources)
    return {row.resource_id: row for row in rows}


_FORBIDDEN = compiled(
    lambda p: ProjectResource.select(ProjectResource.project).where(
        ProjectResource.resource == p.resource,
        ProjectResource.max_backend_quota == 0,
        any_of(ProjectResource.project, p.projects),
    )
)


def forbidden_projects(engine: Engine, resource_id: int, projects: Collection[int]) -> set[int]:
    """Returns those of these projects that the backend does not let have any of the resource."""
    return set(engine.column(_FORBIDDEN, resource=resource_id, projects=projects))


def _is_of_project(p: Parameters) -> peewee.Expression:
    return ProjectResource.project == p.project


_WRITE = compiled_update(ProjectResource.resource, ProjectResource.quota, _is_of_project)
_WRITE_BACKEND = compiled_update(ProjectResource.resource, ProjectResource.backend_quota, _is_of_project)


def write_project_quotas(engine: Engine, project_id: int, quotas: Mapping[int, int]) -> None:
    """Sets a project's quotas, by resource id."""
    engine.write(_WRITE, rows=list(quotas.items()), project=project_id)


def write_backend_quotas(engine: Engine, project_id: int, quotas: Mapping[int, int]) -> None:
    """Sets what the backends enforce, by resource id (stored form)."""
    if quotas:
        engine.write(_WRITE_BACKEND, rows=list(quotas.items()), project=project_id)


# -- by name -----------------------------------------------------------------------------------------------------------


def _by_name(p: Parameters) -> Select:
    quota = ProjectResource.alias("pr")
    return (
        quota.select(
            *(Service.type, Resource.name, quota.quota, quota.max_quota, quota.min_quota, quota.forbids_autogrowth)
        )
        .join(Resource, on=quota.resource == Resource.id)
        .join(Service)
        .where(quota.project == p.project)
        .order_by(quota.resource)
    )


_BY_NAME = compiled(_by_name)
_LOCK_BY_NAME = compiled(lambda p: lock(_by_name(p), of="pr"))


def project_quotas_by_name(engine: Engine, project_id: int, *, lock: bool) -> dict[Ref, SetByPeople]:
    """Returns every quota of a project and its bounds, without resources that were never scraped.

    With `lock`, nobody else changes any of them until the transaction ends.
    """
    rows = engine.tuples(_LOCK_BY_NAME if lock else _BY_NAME, project=project_id)
    return {(service_type, resource_name): SetByPeople(*values) for service_type, resource_name, *values in rows}
