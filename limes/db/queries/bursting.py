"""Bursting of a project."""

from limes.core.catalog import Ref
from limes.db.engine import Engine


def lock_project(engine: Engine, project_id: int, *, lock: bool) -> bool:
    """Whether the project may burst; with `lock`, nobody else changes that until the transaction ends."""
    # not FOR UPDATE, which would collide with whoever adds a row that refers to the project
    suffix = " FOR NO KEY UPDATE" if lock and engine.dialect == "postgresql" else ""
    row = engine.row(f"SELECT has_bursting FROM projects WHERE id = %s{suffix}", [project_id])
    return bool(row and row[0])


def write_bursting(engine: Engine, project_id: int, enabled: bool) -> None:
    """Sets whether the project may burst."""
    engine.execute("UPDATE projects SET has_bursting = %s WHERE id = %s", [enabled, project_id])


def bursted_resources(engine: Engine, project_id: int) -> list[Ref]:
    """Resources whose usage is above the project's quota."""
    rows = engine.rows(
        """
        SELECT s.type, r.name FROM project_resources pr
          JOIN resources r ON r.id = pr.resource_id
          JOIN services s ON s.id = r.service_id
         WHERE pr.project_id = %s AND pr.usage > pr.quota
        """,
        [project_id],
    )
    return [(service, name) for service, name in rows]
