"""From quota that people set to quota that follows usage, and back: what is written for whole resources at once."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from peewee import JOIN, Value, fn

from limes.db.compiled import any_of, compiled, lock, lock_but_not_key
from limes.db.engine import Engine
from limes.db.models import Domain, DomainResource, Project, ProjectAZQuota, ProjectResource, Resource, UsageChanges


class ModelRow(NamedTuple):
    """A resource, and when its quota is due: null where people set it."""

    id: int
    quota_due_at: float | None


class DomainSum(NamedTuple):
    """A domain with its own quota of a resource, and the sum of its projects'."""

    id: int
    uuid: str
    name: str
    quota: int
    projects_quota: int


_LOCK_MODELS = compiled(
    lambda p: lock_but_not_key(
        Resource.select(Resource.id, Resource.quota_due_at)
        .where(any_of(Resource.id, p.resources))
        .order_by(Resource.id)
    )
)
_LOCK_DOMAINS = compiled(
    lambda p: lock(
        DomainResource.select(DomainResource.domain)
        .where(DomainResource.resource == p.resource)
        .order_by(DomainResource.domain)
    )
)


def lock_models(engine: Engine, resources: Collection[int]) -> dict[int, float | None]:
    """Locks these resources and returns when the quota of each is due."""
    return {row.id: row.quota_due_at for row in engine.all(_LOCK_MODELS, ModelRow, resources=resources)}


def start_from_set_quota(engine: Engine, resource: int, az: str, changed_at: float) -> None:
    """Puts the quota of each project into one AZ, a quota of 0 as well."""
    quota = fn.COALESCE(ProjectResource.quota, 0)
    set_quota = ProjectResource.select(
        ProjectResource.project, ProjectResource.resource, Value(az), quota, Value(changed_at)
    ).where(ProjectResource.resource == resource)
    fields = [
        *(ProjectAZQuota.project_id, ProjectAZQuota.resource_id, ProjectAZQuota.az),
        *(ProjectAZQuota.quota, ProjectAZQuota.changed_at),
    ]
    engine.write(ProjectAZQuota.insert_from(set_quota, fields))


def projects_with_split(engine: Engine, resource: int) -> list[int]:
    """Returns the projects that have quota by AZ."""
    query = ProjectAZQuota.select(ProjectAZQuota.project_id).where(ProjectAZQuota.resource_id == resource)
    return engine.column(query.distinct().order_by(ProjectAZQuota.project_id))


def forget_growth(engine: Engine, resource: int) -> None:
    """Deletes quota by AZ, and what is known of recent usage. Quota over all AZs stays."""
    engine.write(ProjectAZQuota.delete().where(ProjectAZQuota.resource_id == resource))
    engine.write(UsageChanges.delete().where(UsageChanges.resource_id == resource))


def domain_sums(engine: Engine, resource: int) -> list[DomainSum]:
    """Returns all domains with their own quota of a resource, and the sum of their projects'."""
    same = (DomainResource.domain == Domain.id) & (DomainResource.resource == resource)
    sums = (
        ProjectResource.select(Project.domain, fn.SUM(ProjectResource.quota).alias("quota"))
        .join(Project)
        .where(ProjectResource.resource == resource)
        .group_by(Project.domain)
        .alias("sums")
    )
    quota, projects_quota = fn.COALESCE(DomainResource.quota, 0), fn.COALESCE(sums.c.quota, 0)
    query = (
        Domain.select(Domain.id, Domain.uuid, Domain.name, quota, projects_quota)
        .join(DomainResource, JOIN.LEFT_OUTER, on=same)
        .join_from(Domain, sums, JOIN.LEFT_OUTER, on=sums.c.domain_id == Domain.id)
        .order_by(Domain.id)
    )
    return engine.all(query, DomainSum)


def lock_domains(engine: Engine, resource: int) -> None:
    """Until the transaction ends, nobody else decides on sums over projects for this resource."""
    engine.column(_LOCK_DOMAINS, resource=resource)


def write_domain_quotas(engine: Engine, resource: int, quotas: Mapping[int, int]) -> None:
    """Sets quotas of domains, by their ids."""
    fields = [DomainResource.domain, DomainResource.resource, DomainResource.quota]
    insert = DomainResource.insert_many([(domain, resource, quota) for domain, quota in quotas.items()], fields)
    key = [DomainResource.domain, DomainResource.resource]
    engine.write(insert.on_conflict(conflict_target=key, preserve=[DomainResource.quota]))
