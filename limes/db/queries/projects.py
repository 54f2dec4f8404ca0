"""Projects by their ids."""

from collections.abc import Collection

from limes.db.engine import Engine, placeholders


def uuids(engine: Engine, projects: Collection[int]) -> dict[int, tuple[str, str]]:
    """UUID of each project and of its domain, by the project's id."""
    if not projects:
        return {}
    rows = engine.rows(
        "SELECT p.id, p.uuid, d.uuid FROM projects p JOIN domains d ON d.id = p.domain_id"
        f" WHERE p.id IN ({placeholders(len(projects))})",
        list(projects),
    )
    return {id_: (project, domain) for id_, project, domain in rows}


def names(engine: Engine, uuids: Collection[str]) -> dict[str, tuple[str, str, str]]:
    """Name of each project, UUID and name of its domain, by the project's UUID."""
    if not uuids:
        return {}
    rows = engine.rows(
        "SELECT p.uuid, p.name, d.uuid, d.name FROM projects p JOIN domains d ON d.id = p.domain_id"
        f" WHERE p.uuid IN ({placeholders(len(uuids))})",
        list(uuids),
    )
    return {uuid: (name, domain_uuid, domain) for uuid, name, domain_uuid, domain in rows}
