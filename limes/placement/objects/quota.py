"""Limits on what a project may use of a resource class, over all providers: our extension.

The invariant: a transaction that raises a project's use of a class leaves it at or below the limit, as the limit was at
that moment. For that, whoever writes allocations of a project first locks the project's limits, if it has any; the use
is counted from the allocations at the end of that transaction. Whoever sets a first limit waits for the writers that
saw none: later writers would not count what those write.
"""

from collections.abc import Collection, Mapping

import peewee
from peewee import EXCLUDED, fn

from limes.db.compiled import any_of, compiled, compiled_insert
from limes.db.compiled import lock as lock_rows
from limes.db.engine import Engine
from limes.placement.errors import QuotaExceeded
from limes.placement.models import Allocation, Consumer, ProjectQuota, ResourceClass

Limits = dict[tuple[str, str], int]
"""By project id and class name."""

_OF_PROJECT = compiled(
    lambda p: (
        ProjectQuota.select(ResourceClass.name, ProjectQuota.max_used)
        .join(ResourceClass, on=ResourceClass.id == ProjectQuota.resource_class)
        .where(ProjectQuota.project_id == p.project)
        .order_by(ProjectQuota.resource_class)
    ),
    prepare=True,
)
_CLASS_IDS = compiled(lambda p: _class_ids_of(p.project))
_LOCK_CLASS_IDS = compiled(lambda p: lock_rows(_class_ids_of(p.project)))
_DELETE = compiled(lambda p: ProjectQuota.delete().where(ProjectQuota.project_id == p.project))
_DELETE_CLASSES = compiled(
    lambda p: ProjectQuota.delete().where(
        ProjectQuota.project_id == p.project, any_of(ProjectQuota.resource_class, p.classes)
    )
)
_PUT = compiled_insert(
    ProjectQuota,
    *(ProjectQuota.project_id, ProjectQuota.resource_class, ProjectQuota.max_used),
    finish=lambda insert: insert.on_conflict(
        conflict_target=[ProjectQuota.project_id, ProjectQuota.resource_class],
        update={ProjectQuota.max_used: EXCLUDED.max_used},
    ),
)
_Quota = ProjectQuota.alias("quota")
_LOCK = compiled(
    lambda p: lock_rows(
        _Quota.select(_Quota.project_id, ResourceClass.name, _Quota.max_used)
        .join(ResourceClass, on=ResourceClass.id == _Quota.resource_class)
        .where(any_of(_Quota.project_id, p.projects))
        .order_by(_Quota.project_id, _Quota.resource_class),
        of="quota",
    )
)
_USED = compiled(
    lambda p: (
        Consumer.select(Consumer.project_id, ResourceClass.name, fn.SUM(Allocation.used))
        .join(Allocation, on=Allocation.consumer == Consumer.id)
        .join(ResourceClass, on=ResourceClass.id == Allocation.resource_class)
        .where(any_of(Consumer.project_id, p.projects))
        .group_by(Consumer.project_id, ResourceClass.name)
    )
)


def of_project(engine: Engine, project_id: str) -> dict[str, int | None]:
    """Returns the limits of a project by class name; None means unlimited."""
    return dict(engine.tuples(_OF_PROJECT, project=project_id))


def replace(engine: Engine, project_id: str, limits: Mapping[int, int | None]) -> None:
    """Makes these, by class id, the limits of a project.

    A limit that stays is changed in its row and not put into a new one. A writer of allocations that waits for the row
    sees the change; if the row were deleted, it would see no limit at all.
    """
    if not limits.keys() <= set(engine.column(_CLASS_IDS, project=project_id)):
        _wait_for_writers(engine)
    present = set(engine.column(_LOCK_CLASS_IDS, project=project_id))
    if not limits.keys() <= present:
        _wait_for_writers(engine)  # has not waited above if somebody has deleted limits in between
    gone = sorted(present - limits.keys())
    if gone:
        engine.write(_DELETE_CLASSES, project=project_id, classes=gone)
    if limits:
        engine.write(_PUT, rows=[(project_id, class_id, limits[class_id]) for class_id in sorted(limits)])


def _class_ids_of(project_id: peewee.Value) -> peewee.Query:
    return (
        ProjectQuota.select(ProjectQuota.resource_class)
        .where(ProjectQuota.project_id == project_id)
        .order_by(ProjectQuota.resource_class)
    )


def _wait_for_writers(engine: Engine) -> None:
    """Waits until all who have read limits have committed, and makes others wait until this transaction ends."""
    if engine.dialect == "postgresql":  # on SQLite a writer is alone anyway
        # SQL text: peewee has no words for locking a table
        engine.execute("LOCK TABLE placement_project_quotas IN EXCLUSIVE MODE")


def delete(engine: Engine, project_id: str) -> int:
    """Removes all limits of a project and returns how many there were."""
    return engine.write(_DELETE, project=project_id)


def lock(engine: Engine, project_ids: Collection[str]) -> Limits:
    """Returns the limits of these projects, locked until the transaction ends. Unlimited classes are left out."""
    rows = engine.tuples(_LOCK, projects=project_ids)
    return {(project_id, name): limit for project_id, name, limit in rows if limit is not None}


def check(engine: Engine, limits: Limits, raised: Mapping[tuple[str, str], int]) -> None:
    """Raises `QuotaExceeded` if this transaction has raised a project's use of a class above its limit.

    `raised` has the difference by project id and class name. To be called after the allocations are written.
    """
    concerned = {key: limit for key, limit in limits.items() if raised.get(key, 0) > 0}
    if not concerned:
        return
    projects = sorted({project_id for project_id, _ in concerned})
    rows = engine.tuples(_USED, projects=projects)
    used = {(project_id, name): int(amount) for project_id, name, amount in rows}
    for (project_id, name), limit in sorted(concerned.items()):
        now = used.get((project_id, name), 0)
        if now > limit:
            request = raised[project_id, name]
            raise QuotaExceeded(
                f"Quota exceeded for {name} in project {project_id}:"
                f" limit {limit}, used {now - request}, requested {request} more."
            )
