"""Inventories, traits, aggregates and the generation that guards them; resource classes and traits themselves."""

import pytest

from tests.placement.world import World, all_rows, stamps, uuid_of
from tests.support.rows import changes

A = f"/resource_providers/{uuid_of('a')}"


def test_put_of_all_inventories_replaces_them(world: World) -> None:
    world.provider("a", VCPU=8, DISK_GB=100)
    body = {
        "resource_provider_generation": 1,
        "inventories": {"VCPU": {"total": 4, "allocation_ratio": 2.5}, "MEMORY_MB": {"total": 5}},
    }
    assert world.changed_by("PUT", f"{A}/inventories", body) == {
        "providers": ([("a", 1, None, "a")], [("a", 2, None, "a")]),
        "inventories": (
            [("a", "DISK_GB", 100, 0, 1, 2147483647, 1, 1.0), ("a", "VCPU", 8, 0, 1, 2147483647, 1, 1.0)],
            [("a", "MEMORY_MB", 5, 0, 1, 2147483647, 1, 1.0), ("a", "VCPU", 4, 0, 1, 2147483647, 1, 2.5)],
        ),
    }


@pytest.mark.parametrize("generation", [0, 2, -1, 2**31, 2**63, -(2**70)])
def test_a_stale_generation_is_a_conflict_everywhere(world: World, generation: int) -> None:
    world.provider("a", VCPU=8)
    stale = {"resource_provider_generation": generation}
    for path, body in (
        (f"{A}/inventories", stale | {"inventories": {}}),
        (f"{A}/inventories/VCPU", stale | {"total": 1}),
        (f"{A}/traits", stale | {"traits": []}),
        (f"{A}/aggregates", stale | {"aggregates": []}),
    ):
        error = world.refused(409, "PUT", path, body)
        assert error["code"] == "placement.concurrent_update"


def test_errors_of_inventories(world: World) -> None:
    world.provider("a", VCPU=8)
    all_, vgpu, nowhere = f"{A}/inventories", f"{A}/inventories/VGPU", f"/resource_providers/{uuid_of('x')}/inventories"
    first, unknown = {"resource_provider_generation": 1}, f"No resource provider with uuid {uuid_of('x')} found"
    for status, method, path, body, words in (
        (409, "POST", all_, {"resource_class": "VCPU", "total": 1}, "Update conflict"),
        (400, "POST", all_, {"resource_class": "CUSTOM_X", "total": 1}, "No such resource class CUSTOM_X"),
        (400, "PUT", all_, first | {"inventories": {"CUSTOM_X": {"total": 1}}}, "Unknown resource class in inventory"),
        (400, "PUT", vgpu, first | {"total": 1}, "No inventory record with resource class"),
        (404, "GET", vgpu, None, f"No inventory of class VGPU for {uuid_of('a')}"),
        (404, "DELETE", vgpu, None, "No inventory of class VGPU found for delete"),
        (404, "PUT", nowhere, first | {"inventories": {}}, unknown),
        (404, "PUT", nowhere, {"nonsense": 1}, unknown),
        (404, "GET", nowhere, None, unknown),
    ):
        error = world.refused(status, method, path, body)
        assert words in error["detail"]
        assert (error["code"] == "placement.concurrent_update") == (status == 409)


@pytest.mark.parametrize(
    ("version", "reserved", "message"),
    [("1.25", 4, "greater than or equal to total"), ("1.26", 5, "greater than total")],
)
def test_reserved_has_to_leave_something_below_1_26(world: World, version: str, reserved: int, message: str) -> None:
    world.provider("a")
    body = {"resource_class": "VCPU", "total": 4, "reserved": reserved}
    assert message in world.refused(400, "POST", f"{A}/inventories", body, version=version)["detail"]
    if version == "1.26":
        world.ok("POST", f"{A}/inventories", body | {"reserved": 4}, version=version)


def test_inventory_in_use_cannot_go_but_may_shrink(world: World) -> None:
    world.provider("a", VCPU=8, DISK_GB=8, MEMORY_MB=1)
    assert world.allocate("c", None, a={"VCPU": 4, "DISK_GB": 4}).status_code == 204
    generation = world.generation("a")
    body = {"resource_provider_generation": generation, "inventories": {"MEMORY_MB": {"total": 1}}}
    for error in (
        world.refused(409, "PUT", f"{A}/inventories", body),
        world.refused(409, "DELETE", f"{A}/inventories"),
    ):
        assert error["code"] == "placement.inventory.inuse"
        assert "Inventory for 'VCPU, DISK_GB' on resource provider" in error["detail"]
    world.refused(409, "DELETE", f"{A}/inventories/VCPU")
    world.ok("PUT", f"{A}/inventories/VCPU", {"resource_provider_generation": generation, "total": 1})
    changed = world.changed_by("DELETE", f"{A}/inventories/MEMORY_MB")
    assert set(changed) == {"inventories", "providers"}


def test_deleting_no_inventories_still_counts(world: World) -> None:
    world.provider("a")
    assert world.changed_by("DELETE", f"{A}/inventories") == {
        "providers": ([("a", 0, None, "a")], [("a", 1, None, "a")])
    }
    result = world.call("DELETE", f"{A}/inventories", version="1.4")
    assert (result.status_code, result.headers["allow"]) == (405, "GET, POST, PUT")


def test_traits_of_a_provider(world: World) -> None:
    world.provider("a")
    world.ok("PUT", "/traits/CUSTOM_T")
    body = {"resource_provider_generation": 0, "traits": ["CUSTOM_T", "HW_CPU_X86_AVX"]}
    before, old = all_rows(world.engine), stamps(world.engine)
    document = world.ok("PUT", f"{A}/traits", body)
    assert document == {"traits": ["HW_CPU_X86_AVX", "CUSTOM_T"], "resource_provider_generation": 1}
    assert changes(before, all_rows(world.engine))["provider_traits"] == (
        [],
        [("a", "CUSTOM_T"), ("a", "HW_CPU_X86_AVX")],
    )
    assert stamps(world.engine)["a"] > old["a"]
    error = world.refused(400, "PUT", f"{A}/traits", {"resource_provider_generation": 1, "traits": ["CUSTOM_NO"]})
    assert "No such trait CUSTOM_NO" in error["detail"]
    error = world.refused(409, "DELETE", "/traits/CUSTOM_T")
    assert "in use" in error["detail"]
    world.ok("DELETE", f"{A}/traits")
    assert world.changed_by("DELETE", "/traits/CUSTOM_T") == {"traits": ([("CUSTOM_T",)], [])}


def test_traits_themselves(world: World) -> None:
    assert world.call("PUT", "/traits/CUSTOM_T").status_code == 201
    assert world.call("PUT", "/traits/CUSTOM_T").status_code == 204
    assert world.call("GET", "/traits/CUSTOM_T").status_code == 204
    assert world.ok("GET", "/traits?name=in:CUSTOM_T,HW_CPU_X86_AVX,NO")["traits"] == ["HW_CPU_X86_AVX", "CUSTOM_T"]
    assert world.ok("GET", "/traits?name=startswith:CUSTOM")["traits"] == ["CUSTOM_T"]
    assert world.ok("GET", "/traits?name=startswith:CUSTOM%25")["traits"] == []
    assert world.ok("GET", "/traits?associated=true")["traits"] == []
    assert "CUSTOM_T" in world.ok("GET", "/traits?associated=False")["traits"]
    for method, path, words in (
        ("GET", "?associated=1", "only accepts"),
        ("GET", "?name=x", "Badly formatted name parameter"),
        ("PUT", "/custom", "The trait is invalid"),
        ("PUT", "/CUSTOM_" + "A" * 249, "The trait is invalid"),
        ("DELETE", "/HW_CPU_X86_AVX", "Cannot delete standard trait"),
    ):
        assert words in world.refused(400, method, f"/traits{path}")["detail"]
    world.refused(404, "DELETE", "/traits/CUSTOM_NO")


def test_aggregates_guard_the_generation_from_1_19(world: World) -> None:
    world.provider("a")
    one, two = uuid_of("1"), uuid_of("2")
    old = stamps(world.engine)
    changed = world.changed_by("PUT", f"{A}/aggregates", [one], version="1.18")
    assert changed == {"provider_aggregates": ([], [("a", one)])}
    assert stamps(world.engine)["a"] > old["a"]
    body = {"resource_provider_generation": 0, "aggregates": [two]}
    changed = world.changed_by("PUT", f"{A}/aggregates", body)
    assert changed == {
        "providers": ([("a", 0, None, "a")], [("a", 1, None, "a")]),
        "provider_aggregates": ([("a", one)], [("a", two)]),
    }


def test_names_end_where_the_line_ends(world: World) -> None:
    world.refused(400, "PUT", "/resource_classes/CUSTOM_A\n")
    world.refused(400, "PUT", "/traits/CUSTOM_A\n")
    world.refused(400, "POST", "/resource_classes", {"name": "CUSTOM_A\n"})


def test_resource_classes(world: World) -> None:
    assert world.call("PUT", "/resource_classes/CUSTOM_X", version="1.7").status_code == 201
    assert world.call("PUT", "/resource_classes/CUSTOM_X", version="1.7").status_code == 204
    assert world.call("POST", "/resource_classes", {"name": "CUSTOM_Y"}).status_code == 201
    assert (
        "Conflicting resource class already exists"
        in world.refused(409, "POST", "/resource_classes", {"name": "CUSTOM_X"})["detail"]
    )
    assert "pattern" in world.refused(400, "PUT", "/resource_classes/VCPU")["detail"]
    rename = {"name": "CUSTOM_Y"}
    assert "already exists" in world.refused(409, "PUT", "/resource_classes/CUSTOM_X", rename, version="1.6")["detail"]
    assert (
        "Cannot update standard" in world.refused(400, "PUT", "/resource_classes/VCPU", rename, version="1.6")["detail"]
    )
    names = [one["name"] for one in world.ok("GET", "/resource_classes")["resource_classes"]]
    assert (names[:3], names[-2:]) == (["VCPU", "MEMORY_MB", "DISK_GB"], ["CUSTOM_X", "CUSTOM_Y"])
    world.provider("a", CUSTOM_X=1)
    assert "Class is in use in inventory" in world.refused(409, "DELETE", "/resource_classes/CUSTOM_X")["detail"]
    old = stamps(world.engine)
    world.ok("PUT", "/resource_classes/CUSTOM_X", {"name": "CUSTOM_Z"}, version="1.2")
    assert stamps(world.engine)["a"] > old["a"]
    assert world.changed_by("DELETE", "/resource_classes/CUSTOM_Y") == {"classes": ([("CUSTOM_Y",)], [])}
    assert "Cannot delete standard" in world.refused(400, "DELETE", "/resource_classes/VCPU")["detail"]
    assert "No such resource class CUSTOM_Y" in world.refused(404, "GET", "/resource_classes/CUSTOM_Y")["detail"]
