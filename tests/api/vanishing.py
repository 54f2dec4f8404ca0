"""Projects that vanish from Keystone, in the small cloud."""

from limes.actions.discover import Discover
from limes.backends import DomainInfo, ProjectInfo
from limes.core.constraints import ConstraintSet
from tests.api.world import World
from tests.collector.lab import FakeKeystone


def discovery(world: World) -> Discover:
    """Follows a Keystone that has the world's projects."""
    rows = world.engine.rows(
        "SELECT p.uuid, p.name, d.uuid, d.name FROM projects p JOIN domains d ON d.id = p.domain_id"
    )
    projects = [ProjectInfo(uuid, name, domain, DomainInfo(domain, label)) for uuid, name, domain, label in rows]
    limes = world.limes
    keystone = FakeKeystone(*projects)
    return Discover(world.engine, keystone, limes.catalog, ConstraintSet(), world.clock, limes, limes.change_log)


def vanish(world: World, *uuids: str) -> None:
    """Deletes projects in Keystone, and lets Limes follow."""
    discover = discovery(world)
    assert isinstance(discover.backend, FakeKeystone)
    for projects in discover.backend.found.values():
        projects[:] = [project for project in projects if project.id not in uuids]
    discover.run()
