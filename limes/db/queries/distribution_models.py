"""From quota that people set to quota that follows usage, and back: what is written for whole resources at once."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from peewee import JOIN, fn

from limes.db.compiled import any_of, lock, lock_but_not_key
from limes.db.engine import Engine
from limes.db.models import Domain, DomainResource, Project, ProjectAZQuota, ProjectResource, Resource, UsageChanges
from limes.db.query import Insert, Node, column, rows, tuples, writes


class DomainSum(NamedTuple):
    """A domain with its own quota of a resource, and the sum of its projects'."""

    id: int
    uuid: str
    name: str
    quota: int
    projects_quota: int


@tuples(tuple[int, float | None])
def lock_models(resources: Collection[int]) -> Node:
    """Locks these resources. Gives the id of each, and when its quota is due: null where people set it."""
    query = Resource.select(Resource.id, Resource.quota_due_at).where(any_of(Resource.id, resources))
    return lock_but_not_key(query.order_by(Resource.id))


@writes
def start_from_set_quota(resource: int, az: str, changed_at: float) -> Node:
    """Puts the quota of each project into one AZ, a quota of 0 as well."""
    row, target = ProjectResource, ProjectAZQuota
    quota = fn.COALESCE(row.quota, 0)
    set_quota = row.select(row.project, row.resource, az, quota, changed_at).where(row.resource == resource)
    fields = [target.project_id, target.resource_id, target.az, target.quota, target.changed_at]
    return target.insert_from(set_quota, fields)


@column(int)
def projects_with_split(resource: int) -> Node:
    """The projects that have quota by AZ."""
    query = ProjectAZQuota.select(ProjectAZQuota.project_id).where(ProjectAZQuota.resource_id == resource)
    return query.distinct().order_by(ProjectAZQuota.project_id)


@writes
def _delete_split(resource: int) -> Node:
    return ProjectAZQuota.delete().where(ProjectAZQuota.resource_id == resource)


@writes
def _delete_changes(resource: int) -> Node:
    return UsageChanges.delete().where(UsageChanges.resource_id == resource)


def forget_growth(engine: Engine, resource: int) -> None:
    """Deletes quota by AZ, and what is known of recent usage. Quota over all AZs stays."""
    _delete_split(engine, resource)
    _delete_changes(engine, resource)


@rows(DomainSum)
def domain_sums(resource: int) -> Node:
    """All domains with their own quota of a resource, and the sum of their projects'."""
    same = (DomainResource.domain == Domain.id) & (DomainResource.resource == resource)
    sums = (
        ProjectResource.select(Project.domain, fn.SUM(ProjectResource.quota).alias("quota"))
        .join(Project)
        .where(ProjectResource.resource == resource)
        .group_by(Project.domain)
        .alias("sums")
    )
    quota, projects_quota = fn.COALESCE(DomainResource.quota, 0), fn.COALESCE(sums.c.quota, 0)
    return (
        Domain.select(Domain.id, Domain.uuid, Domain.name, quota, projects_quota)
        .join(DomainResource, JOIN.LEFT_OUTER, on=same)
        .join_from(Domain, sums, JOIN.LEFT_OUTER, on=sums.c.domain_id == Domain.id)
        .order_by(Domain.id)
    )


@column(int)
def lock_domains(resource: int) -> Node:
    """Until the transaction ends, nobody else decides on sums over projects for this resource."""
    row = DomainResource
    return lock(row.select(row.domain).where(row.resource == resource).order_by(row.domain))


_write_domain_quotas = Insert(
    tuple[int, int, int], DomainResource, DomainResource.domain, DomainResource.resource, DomainResource.quota, key=2
)


def write_domain_quotas(engine: Engine, resource: int, quotas: Mapping[int, int]) -> None:
    """Sets quotas of domains, by their ids."""
    _write_domain_quotas(engine, [(domain, resource, quota) for domain, quota in quotas.items()])
