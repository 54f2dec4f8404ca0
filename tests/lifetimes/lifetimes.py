"""Lifetimes of subresources for tests of the API."""

from typing import Any

from limes.lifetimes.models import LifetimeProject, SubresourceLifetime
from tests.api.world import BERLIN, DRESDEN, FRANCE, GERMANY, World

DAY = 86400
GONE = "uuid-of-a-deleted-project"


def insert(world: World, project: int, id_: str, began: float, ended: float | None, **more: Any) -> None:
    """Adds a period. Times are in days before the present."""
    now = world.clock.now().timestamp()
    values = {
        "service_type": "compute", "resource_name": "cores", "az": "az-one", "name": f"server {id_}",
        "attributes": '{"flavor":"small"}', "last_seen_at": None if ended is None else now - ended * DAY - 60,
    }  # fmt: skip
    begin = {"first_seen_at": now - began * DAY, "began_at": now - began * DAY}
    ends = None if ended is None else now - ended * DAY
    row = {**values, **begin, "project": project, "subresource_id": id_, "ended_at": ends, **more}
    world.engine.write(SubresourceLifetime.insert(**row))


def fill_lifetimes(world: World) -> None:
    """Berlin: a, resized ten days ago, and b. Dresden: c. A project that does not exist any more: d, a volume."""

    def work() -> None:
        owners = [(1, BERLIN, "berlin", GERMANY, "germany"), (2, DRESDEN, "dresden", GERMANY, "germany")]
        for id_, uuid, name, domain, domain_name in (*owners, (3, GONE, "=gone", FRANCE, "france")):
            row = {"id": id_, "uuid": uuid, "name": name, "domain_uuid": domain, "domain_name": domain_name}
            world.engine.write(LifetimeProject.insert(**row))
        now = world.clock.now().timestamp()
        insert(world, 1, "a", 40, 10)
        insert(world, 1, "a", 10, None, attributes='{"flavor":"big"}', first_seen_at=now - 40 * DAY)
        insert(world, 1, "b", 3, 2, az="az-two")
        insert(world, 2, "c", 5, None)
        volume = {"service_type": "archive", "resource_name": "tapes", "az": "any", "attributes": '{"size":5}'}
        insert(world, 3, "d", 20, 15, **volume, name="=HYPERLINK(1)")

    world.engine.atomic(work)
