"""Limits on what a project may use of a resource class, over all providers: our extension.

The invariant: a transaction that raises a project's use of a class leaves it at or below the limit, as the limit was at
that moment. For that, whoever writes allocations of a project first locks the project's limits, if it has any; then the
use is counted from the allocations as they stand at the end of that transaction. And who sets a first limit waits for
the writers that found none: what they write would not be in the count of those that come after.
"""

from collections.abc import Collection, Mapping

from limes.db.engine import Engine, placeholders
from limes.placement.errors import QuotaExceeded

Limits = dict[tuple[str, str], int]
"""By project id and class name."""


def of_project(engine: Engine, project_id: str) -> dict[str, int | None]:
    """The limits of a project by class name; None means unlimited."""
    rows = engine.rows(
        "SELECT c.name, q.max_used FROM placement_project_quotas q"
        " JOIN placement_resource_classes c ON c.id = q.class_id WHERE q.project_id = %s ORDER BY q.class_id",
        [project_id],
    )
    return dict(rows)


def replace(engine: Engine, project_id: str, limits: Mapping[int, int | None]) -> None:
    """Makes these, by class id, the limits of a project.

    A limit that stays is changed in its row and not put into a new one: a writer of allocations that waits for the row
    finds it changed, but would take a row that is deleted for a limit that is gone, and not see the new one.
    """
    if not limits.keys() <= _class_ids(engine, project_id):
        _wait_for_writers(engine)
    present = _class_ids(engine, project_id, engine.for_update)
    if not limits.keys() <= present:
        _wait_for_writers(engine)  # here for the first time only if somebody has deleted limits in between
    gone = sorted(present - limits.keys())
    if gone:
        engine.execute(
            f"DELETE FROM placement_project_quotas WHERE project_id = %s AND class_id IN ({placeholders(len(gone))})",
            [project_id, *gone],
        )
    if limits:
        engine.execute(
            "INSERT INTO placement_project_quotas (project_id, class_id, max_used) VALUES "
            + ", ".join(["(%s, %s, %s)"] * len(limits))
            + " ON CONFLICT (project_id, class_id) DO UPDATE SET max_used = excluded.max_used",
            [value for class_id, limit in sorted(limits.items()) for value in (project_id, class_id, limit)],
        )


def _class_ids(engine: Engine, project_id: str, suffix: str = "") -> set[int]:
    sql = "SELECT class_id FROM placement_project_quotas WHERE project_id = %s ORDER BY class_id"
    return {row[0] for row in engine.rows(sql + suffix, [project_id])}


def _wait_for_writers(engine: Engine) -> None:
    """Waits until all who have looked at limits have committed, and has others wait until this transaction ends."""
    if engine.dialect == "postgresql":  # on SQLite a writer is alone anyway
        engine.execute("LOCK TABLE placement_project_quotas IN EXCLUSIVE MODE")


def delete(engine: Engine, project_id: str) -> int:
    """Removes all limits of a project and answers how many there were."""
    return engine.execute("DELETE FROM placement_project_quotas WHERE project_id = %s", [project_id])


def lock(engine: Engine, project_ids: Collection[str]) -> Limits:
    """The limits of these projects, locked until the transaction ends; what is unlimited is left out."""
    suffix = " FOR UPDATE OF q" if engine.dialect == "postgresql" else ""
    rows = engine.rows(
        "SELECT q.project_id, c.name, q.max_used FROM placement_project_quotas q"
        " JOIN placement_resource_classes c ON c.id = q.class_id"
        f" WHERE q.project_id IN ({placeholders(len(project_ids))})"
        f" ORDER BY q.project_id, q.class_id{suffix}",
        list(project_ids),
    )
    return {(project_id, name): limit for project_id, name, limit in rows if limit is not None}


def check(engine: Engine, limits: Limits, raised: Mapping[tuple[str, str], int]) -> None:
    """Raises `QuotaExceeded` if a class of which this transaction `raised` a project's use is now above its limit.

    `raised` has the difference by project id and class name. To be called when the allocations have been written.
    """
    concerned = {key: limit for key, limit in limits.items() if raised.get(key, 0) > 0}
    if not concerned:
        return
    projects = sorted({project_id for project_id, _ in concerned})
    rows = engine.rows(
        "SELECT c.project_id, rc.name, SUM(a.used) FROM placement_consumers c"
        " JOIN placement_allocations a ON a.consumer_id = c.id"
        " JOIN placement_resource_classes rc ON rc.id = a.class_id"
        f" WHERE c.project_id IN ({placeholders(len(projects))}) GROUP BY c.project_id, rc.name",
        projects,
    )
    used = {(project_id, name): int(amount) for project_id, name, amount in rows}
    for (project_id, name), limit in sorted(concerned.items()):
        now = used.get((project_id, name), 0)
        if now > limit:
            request = raised[project_id, name]
            raise QuotaExceeded(
                f"Quota exceeded for {name} in project {project_id}:"
                f" limit {limit}, used {now - request}, requested {request} more."
            )
