"""Projects for tests of the account of usage."""

from collections.abc import Iterable

from limes.app.context import Limes
from limes.catalog.catalog import Catalog
from limes.db.engine import Engine
from tests.support.clock import FrozenClock
from tests.support.limes import make_limes


def limes_at(engine: Engine, clock: FrozenClock) -> Limes:
    """The context of a cloud without resources."""
    return make_limes(engine, Catalog(["az-one"], []), clock=clock)


def add_projects(engine: Engine, projects: Iterable[str]) -> None:
    """Adds projects with these UUIDs, all in one domain."""
    engine.execute("INSERT INTO domains (uuid, name) VALUES ('d', 'germany')", [])
    for project in projects:
        engine.execute(
            "INSERT INTO projects (uuid, name, parent_uuid, domain_id, has_bursting)"
            " SELECT %s, %s, '', id, FALSE FROM domains",
            [project, f"name of {project}"],
        )
