"""Two Placements of ours: one to copy from, one to copy to."""

from collections.abc import Iterator

import pytest

from limes.db.engine import Engine
from limes.kernel.system import SystemClock
from limes.placement.migrations import placement_migrations
from limes.placement.objects.vocabulary import prepare
from tests.placement.world import World, claim, uuid_of
from tests.support.databases import MigratedUrlFactory


@pytest.fixture
def target_url(database_url_with: MigratedUrlFactory) -> str:
    return database_url_with(placement_migrations)


@pytest.fixture
def target(target_url: str) -> Iterator[World]:
    """An empty Placement."""
    engine = Engine(target_url)
    prepare(engine, SystemClock())
    yield World(engine)
    engine.close()


@pytest.fixture
def source(world: World) -> World:
    """Two trees that share storage; servers, a migration, and a consumer of unknown type."""
    world.ok("PUT", "/resource_classes/CUSTOM_FPGA")
    world.ok("PUT", "/traits/CUSTOM_FAST")
    for host in ("host1", "host2"):
        world.provider(host, MEMORY_MB=1024)
        world.provider(f"{host}a", host, VCPU=4)
        world.provider(f"{host}b", f"{host}a", CUSTOM_FPGA=2)
        world.put(f"{host}a", traits=["CUSTOM_FAST", "HW_NUMA_ROOT"])
    world.provider("share", DISK_GB=1000)
    for name in ("host1", "host2", "share"):
        world.put(name, aggregates=[uuid_of("agg")])
    world.put("share", traits=["MISC_SHARES_VIA_AGGREGATE"])
    parts = {"host1": {"MEMORY_MB": 512}, "host1a": {"VCPU": 2}, "host1b": {"CUSTOM_FPGA": 1}, "share": {"DISK_GB": 9}}
    put(world, "vm1", **parts)
    put(world, "vm2", project="other", host2={"MEMORY_MB": 512}, host2a={"VCPU": 4})
    put(world, "move", kind="MIGRATION", host1a={"VCPU": 1})
    body = claim(None, host1a={"VCPU": 1})
    del body["consumer_type"]
    world.ok("PUT", f"/allocations/{uuid_of('old')}", body, version="1.37")
    return world


def put(world: World, name: str, generation: int | None = None, **parts: object) -> None:
    world.ok("PUT", f"/allocations/{uuid_of(name)}", claim(generation, **parts))  # type: ignore[arg-type]  # one type
