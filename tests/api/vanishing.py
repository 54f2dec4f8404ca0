"""Projects that vanish from Keystone, in the small cloud."""

from msgspec import structs

from limes.app.context import Limes
from limes.backends import DomainInfo, ProjectInfo
from limes.collector.discover import discover
from tests.api.world import World
from tests.collector.lab import FakeKeystone


def discovery(world: World) -> Limes:
    """The world's, with a Keystone that has its projects."""
    rows = world.engine.rows(
        "SELECT p.uuid, p.name, d.uuid, d.name FROM projects p JOIN domains d ON d.id = p.domain_id"
    )
    projects = [ProjectInfo(uuid, name, domain, DomainInfo(domain, label)) for uuid, name, domain, label in rows]
    return structs.replace(
        world.limes, backends=structs.replace(world.limes.backends, discovery=FakeKeystone(*projects))
    )


def vanish(world: World, *uuids: str) -> None:
    """Deletes projects in Keystone, and lets Limes follow."""
    limes = discovery(world)
    assert isinstance(limes.backends.discovery, FakeKeystone)
    for projects in limes.backends.discovery.found.values():
        projects[:] = [project for project in projects if project.id not in uuids]
    discover(limes)
