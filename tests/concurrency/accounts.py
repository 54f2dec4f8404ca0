"""Projects for tests of the account of usage."""

from collections.abc import Iterable

from limes.db.engine import Engine


def add_projects(engine: Engine, projects: Iterable[str]) -> None:
    """Adds projects with these UUIDs, all in one domain."""
    engine.execute("INSERT INTO domains (uuid, name) VALUES ('d', 'germany')", [])
    for project in projects:
        engine.execute(
            "INSERT INTO projects (uuid, name, parent_uuid, domain_id, has_bursting)"
            " SELECT %s, %s, '', id, FALSE FROM domains",
            [project, f"name of {project}"],
        )
