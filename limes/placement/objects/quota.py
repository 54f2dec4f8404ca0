"""Limits on what a project may use of a resource class, over all providers: our extension.

The invariant: a transaction that raises a project's use of a class leaves it at or below the limit, as the limit was at
that moment. For that, a writer of allocations of a project first locks the project's limits, if it has any; the use
is counted from the allocations at the end of that transaction. Setting a first limit waits for the writers that
saw none: later writers would not count what those write.
"""

from collections.abc import Collection, Mapping

from peewee import fn

from limes.db import compiled
from limes.db.engine import Engine
from limes.db.query import Insert, Node, distinct, mapping, tuples, writes, writes_for
from limes.placement.errors import QuotaExceeded
from limes.placement.models import Allocation, Consumer, ProjectQuota, ResourceClass

Limits = dict[tuple[str, str], int]
"""By project id and class name."""
# SQL text: peewee has no words for locking a table
_LOCK_TABLE = "LOCK TABLE placement_project_quotas IN {} MODE"


@tuples(tuple[str, int | None], prepare=True)
def _of_project(project_id: str) -> Node:
    query = ProjectQuota.select(ResourceClass.name, ProjectQuota.max_used)
    query = query.join(ResourceClass, on=ResourceClass.id == ProjectQuota.resource_class)
    return query.where(ProjectQuota.project_id == project_id).order_by(ProjectQuota.resource_class)


def of_project(engine: Engine, project_id: str) -> dict[str, int | None]:
    """The limits of a project by class name; None means unlimited."""
    return dict(_of_project(engine, project_id))


@distinct(int)
def _class_ids(project_id: str, locked: bool) -> Node:
    query = ProjectQuota.select(ProjectQuota.resource_class).order_by(ProjectQuota.resource_class)
    query = query.where(ProjectQuota.project_id == project_id)
    return compiled.lock(query) if locked else query


@writes_for("class_ids")
def _delete_classes(project_id: str, class_ids: Collection[int]) -> Node:
    is_gone = (ProjectQuota.project_id == project_id, compiled.any_of(ProjectQuota.resource_class, class_ids))
    return ProjectQuota.delete().where(*is_gone)


_put = Insert(
    tuple[str, int, int | None],
    ProjectQuota,
    *(ProjectQuota.project_id, ProjectQuota.resource_class, ProjectQuota.max_used),
    key=2,
)


def replace(engine: Engine, project_id: str, limits: Mapping[int, int | None]) -> None:
    """Makes these, by class id, the limits of a project. A limit that stays is changed in its row and not put into a
    new one. A writer of allocations that waits for the row sees the change; if the row were deleted, it would see no
    limit at all."""
    if not limits.keys() <= _class_ids(engine, project_id, locked=False):
        _wait_for_writers(engine)
    present = _class_ids(engine, project_id, locked=True)
    if not limits.keys() <= present:
        _wait_for_writers(engine)  # has not waited above if limits were deleted in between
    _delete_classes(engine, project_id, present - limits.keys())
    _put(engine, [(project_id, class_id, limit) for class_id, limit in sorted(limits.items())])


def _wait_for_writers(engine: Engine) -> None:
    """Waits until all who have read limits have committed, and makes others wait until this transaction ends."""
    if engine.dialect == "postgresql":  # on SQLite a writer is alone anyway
        engine.execute(_LOCK_TABLE.format("EXCLUSIVE"))


@writes
def delete(project_id: str) -> Node:
    return ProjectQuota.delete().where(ProjectQuota.project_id == project_id)


@tuples(tuple[str, str, int | None], prepare=True)
def _lock(project_ids: Collection[str]) -> Node:
    quota = ProjectQuota.alias("quota")
    query = quota.select(quota.project_id, ResourceClass.name, quota.max_used)
    query = query.join(ResourceClass, on=ResourceClass.id == quota.resource_class)
    query = query.where(compiled.any_of(quota.project_id, project_ids)).order_by(quota.project_id, quota.resource_class)
    return compiled.lock(query, of="quota")


def lock(engine: Engine, project_ids: Collection[str]) -> Limits:
    """The limits of these projects, locked until the transaction ends. Unlimited classes are left out."""
    if engine.dialect == "postgresql":
        # a prepared statement that waits for the table itself does not see what was committed meanwhile
        engine.batch.add(_LOCK_TABLE.format("ROW SHARE"), ())
    return {(project, name): limit for project, name, limit in _lock(engine, project_ids) if limit is not None}


@mapping(tuple[str, str], int)
def _used(project_ids: Collection[str]) -> Node:
    query = (
        Consumer.select(Consumer.project_id, ResourceClass.name, fn.SUM(Allocation.used))
        .join(Allocation, on=Allocation.consumer == Consumer.id)
        .join(ResourceClass, on=ResourceClass.id == Allocation.resource_class)
    )
    query = query.where(compiled.any_of(Consumer.project_id, project_ids))
    return query.group_by(Consumer.project_id, ResourceClass.name)


def check(engine: Engine, limits: Limits, raised: Mapping[tuple[str, str], int]) -> None:
    """Raises `QuotaExceeded` if this transaction has raised a project's use of a class above its limit. `raised` has
    the difference by project id and class name. To be called after the allocations are written."""
    concerned = {key: limit for key, limit in limits.items() if raised.get(key, 0) > 0}
    if not concerned:
        return
    used = _used(engine, {project_id for project_id, _ in concerned})
    for (project_id, name), limit in sorted(concerned.items()):
        now = used.get((project_id, name), 0)
        if now > limit:
            request = raised[project_id, name]
            raise QuotaExceeded(
                f"Quota exceeded for {name} in project {project_id}:"
                f" limit {limit}, used {now - request}, requested {request} more."
            )
