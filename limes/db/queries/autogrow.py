"""When quota that follows usage has to be computed.

A resource is due from `resources.quota_due_at` on. That time is null where people set quota, and then nothing here
changes it.
"""

from collections.abc import Collection

from limes.db.compiled import any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Resource
from limes.db.queries.capacity import lock_resources

_MARK_DUE = compiled(
    lambda p: Resource.update(quota_due_at=p.now).where(any_of(Resource.id, p.resources), Resource.quota_due_at > p.now)
)


def mark_due(engine: Engine, resources: Collection[int], now: float) -> None:
    """Quota of these resources has to be computed at `now`, as something has changed that it depends on.

    To be called in the transaction of the change, before it locks any row of a domain or project: it locks the
    resources, so that a computation comes either before the change, and is repeated, or after it. Does nothing for
    resources whose quota people set.
    """
    if resources:
        lock_resources(engine, sorted(resources))
        mark_due_after_commit(engine, resources, now)


def mark_due_after_commit(engine: Engine, resources: Collection[int], now: float) -> None:
    """The same for a change that is already committed. Locks nothing of what is due anyway."""
    if resources:
        engine.write(_MARK_DUE, resources=sorted(resources), now=now)
