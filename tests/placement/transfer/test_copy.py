"""What a copy writes, from any state to any other."""

import itertools
from typing import Any

import pytest

from limes.kernel.errors import BackendError
from limes.placement.transfer.api import LocalApi
from limes.placement.transfer.contents import parents_first
from limes.placement.transfer.writer import with_room_for
from tests.placement.transfer.conftest import put
from tests.placement.transfer.copying import compare, copy
from tests.placement.world import World, all_rows, stamps, uuid_of
from tests.support.rows import changes


def rows_without_generations(world: World) -> Any:
    rows = all_rows(world.engine)
    return rows | {
        "providers": sorted((name, parent, root) for name, _, parent, root in rows["providers"]),
        "consumers": sorted(repr((uuid, *rest)) for uuid, _, *rest in rows["consumers"]),
    }


def test_everything_is_copied(source: World, target: World) -> None:
    assert copy(source, target) == []
    assert compare(source, target) == []
    assert rows_without_generations(source) == rows_without_generations(target)


def test_a_second_copy_writes_nothing(source: World, target: World) -> None:
    copy(source, target)
    before, stamped = all_rows(target.engine), stamps(target.engine)
    assert copy(source, target, prune=True) == []
    assert changes(before, all_rows(target.engine)) == {}
    assert stamps(target.engine) == stamped


class Dying(LocalApi):
    """Fails for good after some writes."""

    def __init__(self, app: Any, writes: int) -> None:
        super().__init__(app)
        self._left = writes

    def send(self, *arguments: Any, **more: Any) -> Any:
        if not self._left:
            raise BackendError("the power is gone")
        self._left -= 1
        return super().send(*arguments, **more)


def test_a_copy_that_dies_after_any_write_can_be_repeated(source: World, target: World) -> None:
    """Each time it gets a little further than the time before."""
    for writes in itertools.count():
        assert writes < 100
        try:
            assert copy(source, target, api=Dying(target.app, 1 + writes % 4)) == []
            break
        except BackendError:
            continue
    assert writes > 5
    assert compare(source, target) == []
    assert rows_without_generations(source) == rows_without_generations(target)


def test_what_changed_at_the_source_is_followed(source: World, target: World) -> None:
    copy(source, target)
    source.ok("DELETE", f"/allocations/{uuid_of('move')}")
    put(source, "vm1", 1, project="third", host1={"MEMORY_MB": 256})
    source.ok("DELETE", f"/resource_providers/{uuid_of('host2b')}")
    source.inventories("host1a", VCPU=16, PCPU=2)
    source.ok("PUT", f"/resource_providers/{uuid_of('host1')}", {"name": "renamed", "parent_provider_uuid": None})
    source.ok("DELETE", f"/resource_providers/{uuid_of('share')}/traits")
    assert copy(source, target) == []
    assert sorted(compare(source, target)) == [
        f"consumer {uuid_of('move')}: only here",
        "project project: usages: {'VCPU': 1} there, {'VCPU': 2} here",
        f"provider {uuid_of('host1a')}: usages: {{'VCPU': 1, 'PCPU': 0}} there, {{'VCPU': 2, 'PCPU': 0}} here",
        f"provider {uuid_of('host2b')}: only here",
    ]
    assert copy(source, target, prune=True) == []
    assert compare(source, target) == []
    assert rows_without_generations(source) == rows_without_generations(target)


def test_servers_that_have_changed_places(source: World, target: World) -> None:
    """Neither fits before the other has moved."""
    put(source, "big1", host1b={"CUSTOM_FPGA": 1})
    put(source, "big2", host2b={"CUSTOM_FPGA": 2})
    copy(source, target)
    source.ok("DELETE", f"/allocations/{uuid_of('big1')}")
    source.ok("DELETE", f"/allocations/{uuid_of('big2')}")
    source.ok("DELETE", f"/allocations/{uuid_of('vm1')}")
    put(source, "vm1", host2b={"CUSTOM_FPGA": 1})
    put(source, "big1", host2b={"CUSTOM_FPGA": 1})
    put(source, "big2", host1b={"CUSTOM_FPGA": 2})
    assert copy(source, target) == []
    assert compare(source, target) == []


def test_a_host_that_was_made_again_under_its_old_name(source: World, target: World) -> None:
    copy(source, target)
    source.ok("DELETE", f"/allocations/{uuid_of('vm2')}")
    for name in ("host2b", "host2a", "host2"):
        source.ok("DELETE", f"/resource_providers/{uuid_of(name)}")
    source.ok("POST", "/resource_providers", {"name": "host2", "uuid": uuid_of("again")})
    source.inventories("again", VCPU=4)
    put(source, "vm2", again={"VCPU": 1})
    assert copy(source, target)[0] == (
        f"provider {uuid_of('again')}: the name host2 belongs to provider {uuid_of('host2')}, which is only here"
    )
    assert copy(source, target, prune=True) == []
    assert compare(source, target) == []


def test_names_and_parents_that_have_changed_places(source: World, target: World) -> None:
    copy(source, target)
    names = {"host1a": "x", "host2a": "host1a"}
    for name, new_name in [*names.items(), ("host1a", "host2a")]:
        place = {"name": new_name, "parent_provider_uuid": uuid_of(name[:-1])}
        source.ok("PUT", f"/resource_providers/{uuid_of(name)}", place)
    # host2b was below host2a, which was below host2: now the other way around
    for name, new_name, parent in (
        ("host2b", "host2b", None),
        ("host2a", "host1a", "host2b"),
        ("host2", "host2", "host2a"),
    ):
        place = {"name": new_name, "parent_provider_uuid": parent and uuid_of(parent)}
        source.ok("PUT", f"/resource_providers/{uuid_of(name)}", place)
    assert copy(source, target) == []
    assert compare(source, target) == []


def test_more_used_than_there_is_and_in_other_units(source: World, target: World) -> None:
    source.put("host1a", inventories={"VCPU": {"total": 1, "max_unit": 1, "step_size": 1}})
    assert copy(source, target) == []
    assert compare(source, target) == []
    stamped = stamps(target.engine)
    assert copy(source, target) == []
    assert stamps(target.engine) == stamped


def test_a_class_that_is_still_in_use_here(source: World, target: World) -> None:
    copy(source, target)
    put(source, "vm1", 1, host1={"MEMORY_MB": 512})
    source.inventories("host1b", VGPU=2)
    assert copy(source, target) == []
    assert compare(source, target) == []


def test_a_consumer_whose_type_is_no_longer_known(source: World, target: World) -> None:
    copy(source, target)
    put(target, "old", 1, host1a={"VCPU": 1})
    assert compare(source, target) == [f"consumer {uuid_of('old')}: consumer_type: None there, INSTANCE here"]
    assert copy(source, target) == []
    assert compare(source, target) == []


def test_what_is_refused_is_told_and_the_rest_is_done(source: World, target: World) -> None:
    target.ok("PUT", "/quotas/other", {"quotas": {"VCPU": {"limit": 1}}})
    problems = copy(source, target)
    assert [line.split(":")[0] for line in problems] == [f"consumer {uuid_of('vm2')}"]
    assert "VCPU" in problems[0]
    assert f"consumer {uuid_of('vm2')}: only there" in compare(source, target)
    assert {row[0] for row in all_rows(target.engine)["consumers"]} == {uuid_of(one) for one in ("vm1", "move", "old")}


def _change_vm2(world: World, project: str = "other", **cores: int) -> None:
    put(world, "vm2", 1, project=project, host2={"MEMORY_MB": 512}, host2a={"VCPU": 4} | cores)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda world: world.inventories("host2b", CUSTOM_FPGA=3), "provider {host2b}: inventories: "),
        (
            lambda world: world.put("host1a", traits=[]),
            "provider {host1a}: traits: ['CUSTOM_FAST', 'HW_NUMA_ROOT'] there, [] here",
        ),
        (lambda world: world.put("share", aggregates=[]), "provider {share}: aggregates: ['{agg}'] there, [] here"),
        (lambda world: _change_vm2(world, VCPU=3), "consumer {vm2}: resources: "),
        (
            lambda world: _change_vm2(world, VCPU=3),
            "provider {host2a}: usages: {{'VCPU': 4}} there, {{'VCPU': 3}} here",
        ),
        (lambda world: _change_vm2(world, VCPU=3), "project other: usages: "),
        (lambda world: _change_vm2(world, project="third"), "consumer {vm2}: project_id: other there, third here"),
        (lambda world: world.ok("PUT", "/traits/CUSTOM_MORE"), "trait CUSTOM_MORE: only here"),
    ],
)
def test_a_difference_is_found(source: World, target: World, change: Any, told: str) -> None:
    copy(source, target)
    change(target)
    names = {name: uuid_of(name) for name in ("host1a", "host2a", "host2b", "share", "agg", "vm2")}
    lines = compare(source, target)
    assert any(line.startswith(told.format(**names)) for line in lines), lines


def test_parents_come_first_whatever_the_order() -> None:
    listed = [
        {"uuid": "c", "parent_provider_uuid": "b"},
        {"uuid": "b", "parent_provider_uuid": "a"},
        {"uuid": "orphan", "parent_provider_uuid": "gone"},
        {"uuid": "a", "parent_provider_uuid": None},
    ]
    assert [one["uuid"] for one in parents_first(listed)] == ["orphan", "a", "b", "c"]


@pytest.mark.parametrize(
    ("changed", "amounts", "fits"),
    [
        ({}, [4, 4], True),
        ({}, [4, 5], False),
        ({"reserved": 1}, [4, 4], False),
        ({"allocation_ratio": 1.5, "reserved": 1}, [5, 5], True),  # (8 - 1) * 1.5 is 10.5
        ({"max_unit": 3}, [4], False),
        ({"min_unit": 2}, [1], False),
        ({"step_size": 2}, [3], False),
        ({"total": 1, "max_unit": 1}, [], True),
    ],
)
def test_room(changed: dict[str, Any], amounts: list[int], fits: bool) -> None:
    values = {
        "total": 8,
        "reserved": 0,
        "min_unit": 1,
        "max_unit": 8,
        "step_size": 1,
        "allocation_ratio": 1.0,
    } | changed
    assert (with_room_for(values, amounts) == values) is fits
    assert with_room_for(with_room_for(values, amounts), amounts) == with_room_for(values, amounts)
