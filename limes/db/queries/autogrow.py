"""When quota that follows usage has to be computed, and who does it.

A resource is due from `resources.quota_due_at` on. That time is null where people set quota, and then nothing here
changes it. Whoever computes it claims it first, for a lease: nobody else does the same meanwhile, also if it becomes
due again.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

from limes.db.compiled import any_of, compiled, compiled_insert, lock, lock_but_not_key
from limes.db.engine import Engine
from limes.db.models import Job, Resource, Service
from limes.db.queries.capacity import lock_resources

_MARK_DUE = compiled(
    lambda p: Resource.update(quota_due_at=p.now).where(any_of(Resource.id, p.resources), Resource.quota_due_at > p.now)
)


def mark_due(engine: Engine, resources: Collection[int], now: float, *, lock: bool = True) -> None:
    """Quota of these resources has to be computed at `now`, as something has changed that it depends on.

    To be called in the transaction of the change, before it locks any row of a domain or project: it locks the
    resources, so that a computation comes either before the change, and is repeated, or after it. Without `lock`, the
    caller has locked the resources before, or the change is already committed. Does nothing for resources whose quota
    people set.
    """
    if resources:
        if lock:
            lock_resources(engine, sorted(resources))
        engine.write(_MARK_DUE, resources=sorted(resources), now=now)


# -- computing ---------------------------------------------------------------------------------------------------------

_DUE = compiled(
    lambda p: lock(
        Resource.select(Resource.id)
        .where(
            any_of(Resource.id, p.resources),
            (Resource.quota_due_at <= p.now) | (Resource.quota_due_at > p.never),
            Resource.quota_claimed_until.is_null()
            | (Resource.quota_claimed_until <= p.now)
            | (Resource.quota_claimed_until > p.never),
        )
        .order_by(Resource.quota_due_at, Resource.id)
        .limit(1),
        skip_locked=True,
    )
)
_CLAIM = compiled(
    lambda p: Resource.update(quota_due_at=p.until, quota_claimed_until=p.until).where(Resource.id == p.resource)
)
_SET_DUE = compiled(
    lambda p: Resource.update(quota_due_at=p.due_at, quota_claimed_until=None).where(Resource.id == p.resource)
)
_LOCK = compiled(
    lambda p: lock_but_not_key(
        Resource.select(Resource.quota_due_at, Resource.quota_claimed_until).where(Resource.id == p.resource)
    )
)


def claim(engine: Engine, resources: Collection[int], now: float, lease: float, never: float) -> int | None:
    """Returns the one of these resources that has been due longest, and that nobody has locked or computes. It belongs
    to the caller until the end of the lease, and is due then at the latest."""
    due = engine.column(_DUE, resources=resources, now=now, never=never)
    if not due:
        return None
    engine.write(_CLAIM, resource=due[0], until=lease)
    return int(due[0])


def lock_claimed(engine: Engine, resource: int, lease: float) -> float | None:
    """Locks a resource that was claimed until then, and returns when its quota is due: before the end of the lease if
    something has changed since. None if others have claimed it since, people set it, or it is gone."""
    for due_at, claimed_until in engine.tuples(_LOCK, resource=resource):
        if claimed_until == lease and due_at is not None and due_at <= lease:
            return float(due_at)
    return None


def set_due(engine: Engine, resource: int, due_at: float | None) -> None:
    """Says when quota of a resource has to be computed next; None where people set it. It is not claimed any more. Lock
    the resource first."""
    engine.write(_SET_DUE, resource=resource, due_at=due_at)


class DueRow(NamedTuple):
    """A resource whose quota is computed, and when it is due."""

    id: int
    service_type: str
    name: str
    due_at: float


_COMPUTED = compiled(
    lambda p: (
        Resource.select(Resource.id, Service.type, Resource.name, Resource.quota_due_at)
        .join(Service)
        .where(Resource.quota_due_at.is_null(False), Resource.is_known)
        .order_by(Service.type, Resource.name)
    )
)


def computed_resources(engine: Engine) -> list[DueRow]:
    """Returns all resources whose quota is computed and shown, in the order of reports."""
    return engine.all(_COMPUTED, DueRow)


# -- how it went -------------------------------------------------------------------------------------------------------

JOB_PREFIX = "distribute-quota:"
"""What the names of their rows in `jobs` begin with; the name of the resource follows."""

_OUTCOME: list[Any] = [Job.ran_at, Job.next_run_at, Job.error]
_RECORD = compiled_insert(
    Job,
    *(Job.name, *_OUTCOME),
    finish=lambda insert: insert.on_conflict(conflict_target=[Job.name], preserve=_OUTCOME),
)
_FORGET = compiled(lambda p: Job.delete().where(any_of(Job.name, p.names)))


def record_outcome(engine: Engine, resource_name: str, now: float, next_run_at: float, error: str) -> None:
    """Records how the last computation for a resource (`service/resource`) went; `error` is empty if well."""
    engine.write(_RECORD, rows=[(JOB_PREFIX + resource_name, now, next_run_at, error)])


def forget_outcomes(engine: Engine, resource_names: Collection[str]) -> None:
    """Forgets it, for resources whose quota people set from now on."""
    engine.write(_FORGET, names=[JOB_PREFIX + name for name in resource_names])
