"""What an audit finds, and that a repair deletes this and nothing else."""

from collections.abc import Collection

import pytest

from limes.kernel.errors import BackendError
from limes.placement.audit import Excess, Findings, Orphan, audit, delete_idle, delete_orphan
from tests.placement.world import World, all_rows, claim, stamps, uuid_of
from tests.support.rows import changes

INCOMPLETE = "00000000-0000-0000-0000-000000000000"


class Projects:
    """Knows which projects exist, and remembers what it was asked."""

    def __init__(self, *existing: str) -> None:
        self.existing = set(existing)
        self.asked: list[Collection[str]] = []

    def __call__(self, ids: Collection[str]) -> Collection[str]:
        self.asked.append(ids)
        return set(ids) - self.existing


def look(world: World, *existing: str) -> Findings:
    return audit(world.engine, Projects(*existing), INCOMPLETE)


@pytest.fixture
def cloud(world: World) -> World:
    """Two nodes; a server of a living project, a server and a migration of a vanished one."""
    world.provider("node1", VCPU=8, MEMORY_MB=1024)
    world.provider("node2", VCPU=8)
    put(world, "alive", "living", node1={"VCPU": 2})
    put(world, "dead", "vanished", node1={"VCPU": 3, "MEMORY_MB": 512}, node2={"VCPU": 1})
    put(world, "moved", "vanished", "MIGRATION", node2={"VCPU": 1})
    return world


def put(world: World, name: str, project: str, kind: str = "INSTANCE", **resources: dict[str, int]) -> None:
    world.ok("PUT", f"/allocations/{uuid_of(name)}", claim(None, project=project, kind=kind, **resources))


def test_a_sound_database_has_nothing_to_find(cloud: World) -> None:
    before = all_rows(cloud.engine)
    found = look(cloud, "living", "vanished")
    assert found == Findings((), (), ())
    assert not found
    assert changes(before, all_rows(cloud.engine)) == {}


def test_nobody_is_asked_about_an_empty_database(world: World) -> None:
    projects = Projects()
    assert not audit(world.engine, projects, INCOMPLETE)
    assert projects.asked == []


def test_allocations_of_a_vanished_project(cloud: World) -> None:
    before = all_rows(cloud.engine)
    found = look(cloud, "living")
    assert sorted(found.orphans, key=lambda one: one.uuid) == sorted(
        [
            Orphan(uuid_of("dead"), "vanished", "INSTANCE", {"VCPU": 4, "MEMORY_MB": 512}),
            Orphan(uuid_of("moved"), "vanished", "MIGRATION", {"VCPU": 1}),
        ],
        key=lambda one: one.uuid,
    )
    assert (found.excesses, found.idle) == ((), ())
    assert changes(before, all_rows(cloud.engine)) == {}


def test_a_repair_deletes_the_orphan_and_nothing_else(cloud: World) -> None:
    before, stamped = all_rows(cloud.engine), stamps(cloud.engine)
    for orphan in look(cloud, "living").orphans:
        assert delete_orphan(cloud.engine, orphan)
    gone = changes(before, all_rows(cloud.engine))
    assert set(gone) == {"consumers", "allocations"}
    assert {row[0] for row in gone["consumers"][0]} == {uuid_of("dead"), uuid_of("moved")}
    assert {row[0] for row in gone["allocations"][0]} == {uuid_of("dead"), uuid_of("moved")}
    assert gone["consumers"][1] == gone["allocations"][1] == []
    # the index of a running server has to notice
    assert all(stamps(cloud.engine)[name] > stamp for name, stamp in stamped.items())
    assert cloud.ok("GET", f"/resource_providers/{uuid_of('node1')}/usages")["usages"] == {"VCPU": 2, "MEMORY_MB": 0}
    assert not look(cloud, "living")


def test_a_consumer_that_was_given_to_another_project_is_left_alone(cloud: World) -> None:
    orphans = {one.uuid: one for one in look(cloud, "living").orphans}
    cloud.ok("PUT", f"/allocations/{uuid_of('dead')}", claim(1, project="living", node1={"VCPU": 1}))
    before = all_rows(cloud.engine)
    assert not delete_orphan(cloud.engine, orphans[uuid_of("dead")])
    assert changes(before, all_rows(cloud.engine)) == {}


def test_a_consumer_that_is_gone_already(cloud: World) -> None:
    orphan = look(cloud, "living").orphans[0]
    assert delete_orphan(cloud.engine, orphan)
    assert not delete_orphan(cloud.engine, orphan)


def test_the_project_of_old_clients_is_never_gone(world: World) -> None:
    world.provider("node1", VCPU=8)
    body = {"allocations": [{"resource_provider": {"uuid": uuid_of("node1")}, "resources": {"VCPU": 1}}]}
    world.ok("PUT", f"/allocations/{uuid_of('old')}", body, version="1.0")
    assert not look(world)


def test_an_error_of_discovery_is_an_error_of_the_audit(cloud: World) -> None:
    def fail(ids: Collection[str]) -> Collection[str]:
        raise BackendError("Keystone does not answer")

    with pytest.raises(BackendError):
        audit(cloud.engine, fail, INCOMPLETE)


def test_inventory_that_was_lowered_below_its_use(cloud: World) -> None:
    body = {
        "resource_provider_generation": cloud.generation("node1"),
        "inventories": {"VCPU": {"total": 5, "reserved": 2, "allocation_ratio": 1.5}, "MEMORY_MB": {"total": 512}},
    }
    cloud.ok("PUT", f"/resource_providers/{uuid_of('node1')}/inventories", body)
    # (5 - 2) * 1.5 is 4.5, of which 4 can be had; 5 are used
    assert look(cloud, "living", "vanished").excesses == (Excess(uuid_of("node1"), "node1", "VCPU", 5, 4),)


def test_consumers_without_allocations(cloud: World) -> None:
    for name in ("idle", "busy"):
        cloud.engine.execute(
            "INSERT INTO placement_consumers (uuid, generation, project_id, user_id, updated)"
            " VALUES (%s, 1, 'living', 'u', 0)",
            [uuid_of(name)],
        )
    found = look(cloud, "living", "vanished")
    assert found.idle == tuple(sorted([uuid_of("idle"), uuid_of("busy")]))
    cloud.ok("PUT", f"/allocations/{uuid_of('busy')}", claim(1, project="living", node1={"VCPU": 1}))
    before = all_rows(cloud.engine)
    assert not delete_idle(cloud.engine, uuid_of("busy"))
    assert delete_idle(cloud.engine, uuid_of("idle"))
    assert changes(before, all_rows(cloud.engine)) == {"consumers": ([(uuid_of("idle"), 1, "living", "u", None)], [])}
