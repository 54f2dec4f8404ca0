"""What is used, counted from the allocations."""

from limes.db.engine import Engine


def of_provider(engine: Engine, provider_id: int) -> dict[str, int]:
    """By class name: what is used of each class of which the provider has inventory, 0 included."""
    rows = engine.rows(
        "SELECT c.name, (SELECT COALESCE(SUM(a.used), 0) FROM placement_allocations a"
        "  WHERE a.provider_id = i.provider_id AND a.class_id = i.class_id)"
        " FROM placement_inventories i JOIN placement_resource_classes c ON c.id = i.class_id"
        " WHERE i.provider_id = %s ORDER BY i.class_id",
        [provider_id],
    )
    return dict(rows)


def of_project(engine: Engine, project_id: str, user_id: str | None = None) -> dict[str, int]:
    """By class name: what the consumers of a project, or of one user in it, use together."""
    where, params = _owner(project_id, user_id)
    rows = engine.rows(
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
    rows = engine.rows(
        "SELECT c.consumer_type, rc.name, SUM(a.used) FROM placement_consumers c"
        " JOIN placement_allocations a ON a.consumer_id = c.id"
        f" JOIN placement_resource_classes rc ON rc.id = a.class_id WHERE {where}"
        " GROUP BY c.consumer_type, rc.id, rc.name ORDER BY c.consumer_type, rc.id",
        params,
    )
    used: dict[str | None, dict[str, int]] = {}
    for consumer_type, name, amount in rows:
        used.setdefault(consumer_type, {})[name] = int(amount)
    counts = engine.rows(
        f"SELECT c.consumer_type, COUNT(*) FROM placement_consumers c WHERE {where}"
        " AND EXISTS (SELECT 1 FROM placement_allocations a WHERE a.consumer_id = c.id) GROUP BY c.consumer_type",
        params,
    )
    return used, dict(counts)


def _owner(project_id: str, user_id: str | None) -> tuple[str, list[str]]:
    if user_id is None:
        return "c.project_id = %s", [project_id]
    return "c.project_id = %s AND c.user_id = %s", [project_id, user_id]
