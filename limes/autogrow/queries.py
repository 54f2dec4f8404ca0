"""When quota that follows usage has to be computed, and who does it; and how a resource gets, or loses, such quota.

A resource is due from `resources.quota_due_at` on. That time is null where people set quota, and then nothing here
changes it. A collector that computes it claims it first, for a lease: no other does the same meanwhile, also if it
becomes due again.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from peewee import JOIN, fn

from limes.audit.events import What
from limes.autogrow.models import ProjectAZQuota, UsageChanges
from limes.catalog.models import Job, Resource, Service
from limes.catalog.queries import lock_resources
from limes.db.compiled import any_of, lock, lock_but_not_key
from limes.db.compiled import lock as lock_rows
from limes.db.compiled_rows import compiled_update
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, first_value, mapping, rows, tuples, writes, writes_for
from limes.projects.models import Domain, DomainResource, Project, ProjectResource
from limes.quota.queries import SetByPeople


@writes_for("resources")
def _mark_due(resources: Collection[int], now: float) -> Node:
    return Resource.update(quota_due_at=now).where(any_of(Resource.id, resources), Resource.quota_due_at > now)


def mark_due(engine: Engine, resources: Collection[int], now: float, *, lock: bool = True) -> None:
    """Quota of these resources has to be computed at `now`, as something has changed that it depends on. To be called
    in the transaction of the change, before it locks any row of a domain or project: it locks the resources, so that a
    computation comes either before the change, and is repeated, or after it. Without `lock`, the caller has locked the
    resources before, or the change is already committed. Does nothing for resources whose quota people set."""
    if lock:
        lock_resources(engine, sorted(resources))
    _mark_due(engine, resources, now)


# -- computing ---------------------------------------------------------------------------------------------------------


@first_value(int)
def _lock_due(resources: Collection[int], now: float, never: float) -> Node:
    is_due = (Resource.quota_due_at <= now) | (Resource.quota_due_at > never)
    claimed_until = Resource.quota_claimed_until
    is_free = claimed_until.is_null() | (claimed_until <= now) | (claimed_until > never)
    query = Resource.select(Resource.id).where(any_of(Resource.id, resources), is_due, is_free)
    return lock_rows(query.order_by(Resource.quota_due_at, Resource.id).limit(1), skip_locked=True)


@writes
def _claim(resource: int, until: float) -> Node:
    return Resource.update(quota_due_at=until, quota_claimed_until=until).where(Resource.id == resource)


def claim(engine: Engine, resources: Collection[int], now: float, lease: float, never: float) -> int | None:
    """Returns the one of these resources that has been due longest, and is neither locked nor being computed. It
    belongs to the caller until the end of the lease, and is due then at the latest."""
    due = _lock_due(engine, resources, now, never)
    if due is not None:
        _claim(engine, due, lease)
    return due


@tuples(tuple[float | None, float | None])
def _lock(resource: int) -> Node:
    query = Resource.select(Resource.quota_due_at, Resource.quota_claimed_until).where(Resource.id == resource)
    return lock_but_not_key(query)


def lock_claimed(engine: Engine, resource: int, lease: float) -> float | None:
    """Locks a resource that was claimed until then, and returns when its quota is due: before the end of the lease if
    something has changed since. None if others have claimed it since, people set it, or it is gone."""
    for due_at, claimed_until in _lock(engine, resource):
        if claimed_until == lease and due_at is not None and due_at <= lease:
            return due_at
    return None


@writes
def set_due(resource: int, due_at: float | None) -> Node:
    """Says when quota of a resource has to be computed next; None where people set it. It is not claimed any more. Lock
    the resource first."""
    return Resource.update(quota_due_at=due_at, quota_claimed_until=None).where(Resource.id == resource)


class DueRow(NamedTuple):
    id: int
    service_type: str
    name: str
    due_at: float


@rows(DueRow)
def computed_resources() -> Node:
    """All resources whose quota is computed and shown, in the order of reports."""
    return (
        Resource.select(Resource.id, Service.type, Resource.name, Resource.quota_due_at)
        .join(Service)
        .where(Resource.quota_due_at.is_null(False), Resource.is_known)
        .order_by(Service.type, Resource.name)
    )


JOB_PREFIX = "distribute-quota:"
"""What the names of their rows in `jobs` begin with; the name of the resource follows."""

_record = Insert(tuple[str, float, float, str], Job, *(Job.name, Job.ran_at, Job.next_run_at, Job.error), key=1)


def record_outcome(engine: Engine, resource_name: str, now: float, next_run_at: float, error: str) -> None:
    """Records how the last computation for a resource (`service/resource`) went; `error` is empty if well."""
    _record(engine, [(JOB_PREFIX + resource_name, now, next_run_at, error)])


@writes
def _forget(names: Collection[str]) -> Node:
    return Job.delete().where(any_of(Job.name, names))


def forget_outcomes(engine: Engine, resource_names: Collection[str]) -> None:
    """Forgets it, for resources whose quota people set from now on."""
    _forget(engine, [JOB_PREFIX + name for name in resource_names])


# -- from quota that people set to quota that follows usage, and back --------------------------------------------------


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
    sums = ProjectResource.select(Project.domain, fn.SUM(ProjectResource.quota).alias("quota")).join(Project)
    sums = sums.where(ProjectResource.resource == resource).group_by(Project.domain).alias("sums")
    quota, projects_quota = fn.COALESCE(DomainResource.quota, 0), fn.COALESCE(sums.c.quota, 0)
    return (
        Domain.select(Domain.id, Domain.uuid, Domain.name, quota, projects_quota)
        .join(DomainResource, JOIN.LEFT_OUTER, on=same)
        .join_from(Domain, sums, JOIN.LEFT_OUTER, on=sums.c.domain_id == Domain.id)
        .order_by(Domain.id)
    )


@column(int)
def lock_domains(resource: int) -> Node:
    """Until the transaction ends, no other one decides on sums over projects for this resource."""
    row = DomainResource
    return lock(row.select(row.domain).where(row.resource == resource).order_by(row.domain))


_KEY = (DomainResource.domain, DomainResource.resource)
_write_domain_quotas = Insert(tuple[int, int, int], DomainResource, *_KEY, DomainResource.quota, key=2)


def write_domain_quotas(engine: Engine, resource: int, quotas: Mapping[int, int]) -> None:
    _write_domain_quotas(engine, [(domain, resource, quota) for domain, quota in quotas.items()])


# -- bounds ------------------------------------------------------------------------------------------------------------


@mapping(tuple[int, int], SetByPeople)
def autogrow_bounds(resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None, *, lock: bool) -> Node:
    """The bounds of these projects, or of all projects of a domain, by project and resource, in the order of resources.
    What was never scraped is missing. With `lock`, they stay as they are until the transaction ends. The resources
    are to be locked before."""
    row = ProjectResource
    among = Project.select(Project.id).where(Project.domain == domain_id) if project_ids is None else project_ids
    query = row.select(row.project, row.resource, *[getattr(row, name) for name in SetByPeople._fields])
    query = query.where(any_of(row.resource, resources), any_of(row.project, among)).order_by(row.resource, row.project)
    return lock_rows(query) if lock else query


_Amount = Literal["max_quota", "min_quota"]
_AMOUNTS: dict[What, _Amount] = {What.MAX_QUOTA: "max_quota", What.MIN_QUOTA: "min_quota"}
_ROW = ProjectResource
_SET = {
    what: compiled_update(_ROW.resource, getattr(_ROW, name), condition=lambda p: any_of(_ROW.project, p.projects))
    for what, name in {**_AMOUNTS, What.FORBID_AUTOGROWTH: "forbids_autogrowth"}.items()
}


@writes_for("resources")
def _drop(resources: Collection[int], project_ids: Collection[int], amount: _Amount) -> Node:
    row = ProjectResource
    return row.update({amount: None}).where(any_of(row.resource, resources), any_of(row.project, project_ids))


def write_autogrow_bounds(
    engine: Engine, project_ids: Collection[int], what: What, values: Sequence[tuple[int, int | None]]
) -> None:
    """Sets one of the bounds of all these projects, given as (resource id, value), in at most two statements."""
    if what is What.FORBID_AUTOGROWTH:
        engine.write(_SET[what], rows=[(id_, bool(value)) for id_, value in values], projects=project_ids)
        return
    if amounts := [(id_, value) for id_, value in values if value is not None]:
        engine.write(_SET[what], rows=amounts, projects=project_ids)
    _drop(engine, [id_ for id_, value in values if value is None], project_ids, _AMOUNTS[what])
