"""What is used, counted from the allocations."""

from limes.db.engine import Engine
from limes.placement.errors import provider_missing


def of_provider(engine: Engine, uuid: str) -> tuple[int, dict[str, int]]:
    """A provider's generation, and what is used of each class of which it has inventory, 0 included, by class name.

    Raises `Missing`.
    """
    rows = engine.read(
        "SELECT p.generation, c.name, (SELECT COALESCE(SUM(a.used), 0) FROM placement_allocations a"
        "  WHERE a.provider_id = i.provider_id AND a.class_id = i.class_id)"
        " FROM placement_providers p LEFT JOIN placement_inventories i ON i.provider_id = p.id"
        " LEFT JOIN placement_resource_classes c ON c.id = i.class_id"
        " WHERE p.uuid = %s ORDER BY i.class_id",
        [uuid],
    )
    if not rows:
        raise provider_missing(uuid)
    return rows[0][0], {row[1]: row[2] for row in rows if row[1] is not None}


def of_project(engine: Engine, project_id: str, user_id: str | None = None) -> dict[str, int]:
    """By class name: what the consumers of a project, or of one user in it, use together."""
    where, params = _owner(project_id, user_id)
    rows = engine.read(
        "SELECT rc.name, SUM(a.used) FROM placement_consumers c"
        " JOIN placement_allocations a ON a.consumer_id = c.id"
        f" JOIN placement_resource_classes rc ON rc.id = a.class_id WHERE {where}"
        " GROUP BY rc.id, rc.name ORDER BY rc.id",
        params,
    )
    return {name: int(used) for name, used in rows}


def of_project_by_type(
    engine: Engine, project_id: str, user_id: str | None = None
) -> tuple[dict[str | None, dict[str, int]], dict[str | None, int]]:
    """By consumer type (None where it is not known): the use of each class, and how many consumers there are."""
    where, params = _owner(project_id, user_id)
    rows = engine.read(
        "WITH mine AS (SELECT c.consumer_type, c.id, a.class_id, a.used FROM placement_consumers c"
        f" JOIN placement_allocations a ON a.consumer_id = c.id WHERE {where})"
        " SELECT consumer_type, NULL, COUNT(DISTINCT id), -1 FROM mine GROUP BY consumer_type"
        " UNION ALL SELECT m.consumer_type, rc.name, SUM(m.used), rc.id FROM mine m"
        " JOIN placement_resource_classes rc ON rc.id = m.class_id GROUP BY m.consumer_type, rc.id, rc.name"
        " ORDER BY 1, 4",
        params,
    )
    used: dict[str | None, dict[str, int]] = {}
    counts: dict[str | None, int] = {}
    for consumer_type, name, amount, _ in rows:
        if name is None:
            counts[consumer_type] = int(amount)
        else:
            used.setdefault(consumer_type, {})[name] = int(amount)
    return used, counts


def _owner(project_id: str, user_id: str | None) -> tuple[str, list[str]]:
    if user_id is None:
        return "c.project_id = %s", [project_id]
    return "c.project_id = %s AND c.user_id = %s", [project_id, user_id]
