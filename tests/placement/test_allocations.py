"""Allocations: what fits, what it changes, and that all of a write happens or nothing."""

from datetime import timedelta
from email.utils import parsedate_to_datetime

import pytest

from tests.placement.world import World, all_rows, claim, stamps, uuid_of
from tests.support.rows import changes

pytestmark = pytest.mark.sql

C, D = uuid_of("c"), uuid_of("d")


def test_the_first_write_makes_the_consumer(world: World) -> None:
    world.provider("a", VCPU=8)
    assert world.changed_by("PUT", f"/allocations/{C}", claim(None, a={"VCPU": 3})) == {
        "providers": ([("a", 1, None, "a")], [("a", 2, None, "a")]),
        "consumers": ([], [(C, 1, "project", "user", "INSTANCE")]),
        "allocations": ([], [(C, "a", "VCPU", 3)]),
    }
    assert world.ok("GET", f"/allocations/{C}") == {
        "allocations": {uuid_of("a"): {"resources": {"VCPU": 3}, "generation": 2}},
        "project_id": "project",
        "user_id": "user",
        "consumer_generation": 1,
        "consumer_type": "INSTANCE",
    }


def test_a_move_stamps_both_providers_and_counts_up_the_one_that_gains(world: World) -> None:
    world.provider("a", VCPU=8)
    world.provider("b", VCPU=8)
    world.allocate("c", None, a={"VCPU": 3})
    old = stamps(world.engine)
    body = claim(1, project="other", kind="MIGRATION", b={"VCPU": 4})
    assert world.changed_by("PUT", f"/allocations/{C}", body) == {
        "providers": ([("b", 1, None, "b")], [("b", 2, None, "b")]),
        "consumers": ([(C, 1, "project", "user", "INSTANCE")], [(C, 2, "other", "user", "MIGRATION")]),
        "allocations": ([(C, "a", "VCPU", 3)], [(C, "b", "VCPU", 4)]),
    }
    new = stamps(world.engine)
    assert all(new[name] > old[name] for name in "ab")


def test_last_modified_of_a_provider_tells_of_the_generation_that_a_write_gives_it(world: World) -> None:
    provider = f"/resource_providers/{world.provider('a', VCPU=8)}"
    before = {path: world.call("GET", path).headers["last-modified"] for path in (provider, "/resource_providers")}
    world.clock.advance(seconds=60)
    assert world.allocate("c", None, a={"VCPU": 3}).status_code == 204
    for path, old in before.items():
        new = world.call("GET", path).headers["last-modified"]
        assert parsedate_to_datetime(new) - parsedate_to_datetime(old) == timedelta(seconds=60)


def test_emptying_removes_the_consumer_so_that_null_is_right_again(world: World) -> None:
    world.provider("a", VCPU=8)
    world.allocate("c", None, a={"VCPU": 3})
    assert world.changed_by("PUT", f"/allocations/{C}", claim(1)) == {
        "providers": ([("a", 2, None, "a")], [("a", 3, None, "a")]),
        "consumers": ([(C, 1, "project", "user", "INSTANCE")], []),
        "allocations": ([(C, "a", "VCPU", 3)], []),
    }
    assert world.ok("GET", f"/allocations/{C}") == {"allocations": {}}
    assert world.changed_by("PUT", f"/allocations/{C}", claim(None)) == {}
    assert world.allocate("c", None, a={"VCPU": 1}).status_code == 204


def test_delete_takes_everything_and_stamps(world: World) -> None:
    world.provider("a", VCPU=8)
    world.allocate("c", None, a={"VCPU": 3})
    old = stamps(world.engine)
    changed = world.changed_by("DELETE", f"/allocations/{C}")
    assert set(changed) == {"consumers", "allocations"}
    assert stamps(world.engine)["a"] > old["a"]
    error = world.refused(404, "DELETE", f"/allocations/{C}")
    assert f"No allocations for consumer '{C}'" in error["detail"]


@pytest.mark.parametrize(
    ("existing", "sent", "words"),
    [(False, 5, "expected null but got 5"), (True, None, "expected 1 but got None"), (True, 2, "expected 1 but got 2")],
)
def test_a_stale_consumer_generation_is_a_conflict(world: World, existing: bool, sent: int | None, words: str) -> None:
    world.provider("a", VCPU=8)
    if existing:
        world.allocate("c", None, a={"VCPU": 3})
    error = world.refused(409, "PUT", f"/allocations/{C}", claim(sent, a={"VCPU": 1}))
    assert error["code"] == "placement.concurrent_update"
    assert f"consumer generation conflict - {words}" in error["detail"]


@pytest.mark.parametrize(
    ("provider", "resources", "status", "words"),
    [
        ("a", {"VCPU": 9}, 409, "The requested amount would exceed the capacity."),
        ("a", {"DISK_GB": 3}, 409, "The requested amount would violate inventory constraints."),
        ("a", {"MEMORY_MB": 1}, 409, "Inventory for 'MEMORY_MB' on resource provider"),
        ("a", {"CUSTOM_NO": 1}, 400, "No such resource class CUSTOM_NO"),
        ("x", {"VCPU": 1}, 400, f"Allocation for resource provider '{uuid_of('x')}' that does not exist."),
        ("a", {"VCPU": 0}, 400, "0 is less than the minimum of 1"),
        ("a", {}, 400, "JSON does not validate"),
    ],
)
def test_what_does_not_fit(world: World, provider: str, resources: dict[str, int], status: int, words: str) -> None:
    world.provider("a", VCPU=8, DISK_GB=100)
    body = {"resource_provider_generation": 1, "total": 100, "min_unit": 10, "step_size": 10, "max_unit": 50}
    world.ok("PUT", f"/resource_providers/{uuid_of('a')}/inventories/DISK_GB", body)
    error = world.refused(status, "PUT", f"/allocations/{C}", claim(None, **{provider: resources}))
    assert words in error["detail"]


def test_a_write_of_several_consumers_is_judged_as_one(world: World) -> None:
    world.provider("a", VCPU=8)
    world.allocate("c", None, a={"VCPU": 8})
    both = {C: claim(1, a={"VCPU": 2}), D: claim(None, a={"VCPU": 6})}
    changed = world.changed_by("POST", "/allocations", both)
    assert changed["allocations"] == ([(C, "a", "VCPU", 8)], [(C, "a", "VCPU", 2), (D, "a", "VCPU", 6)])
    assert changed["providers"][1] == [("a", 3, None, "a")]
    too_much = {C: claim(2, a={"VCPU": 3}), D: claim(1, a={"VCPU": 6})}
    assert "Unable to allocate inventory" in world.refused(409, "POST", "/allocations", too_much)["detail"]
    swapped = {C: claim(2), D: claim(1, a={"VCPU": 8})}
    assert world.call("POST", "/allocations", swapped).status_code == 204


def test_a_consumer_named_twice_is_refused(world: World) -> None:
    world.provider("a", VCPU=8)
    name = "aaaaaaaa-0000-4000-8000-000000000000"
    twice = {name: claim(None, a={"VCPU": 1}), name.upper(): claim(None, a={"VCPU": 2})}
    assert "named twice" in world.refused(400, "POST", "/allocations", twice)["detail"]
    nonsense = {"-" * 36: claim(None, a={"VCPU": 1})}
    assert "Malformed consumer_uuid" in world.refused(400, "POST", "/allocations", nonsense)["detail"]


def test_a_provider_named_in_two_notations_is_refused(world: World) -> None:
    world.provider("a", VCPU=8)
    body = claim(None, a={"VCPU": 1})
    moved = uuid_of("a").replace("-", "", 1) + "-"
    body["allocations"][moved] = {"resources": {"VCPU": 2}}
    assert "named twice" in world.refused(400, "PUT", f"/allocations/{C}", body)["detail"]


def test_mappings_are_ignored(world: World) -> None:
    """The reference bounds neither the length of a suffix nor what else is in it."""
    world.provider("a", VCPU=8)
    for number, suffix in enumerate(("", "1", "_NET" * 40, "a.b")):
        body = claim(None, a={"VCPU": 1}) | {"mappings": {suffix: [uuid_of("a")]}}
        changed = world.changed_by("PUT", f"/allocations/{uuid_of(f'm{number}')}", body, version="1.38")
        assert changed["allocations"][1] == [(uuid_of(f"m{number}"), "a", "VCPU", 1)]
    for bad in ({}, {"1": []}, {"1": ["x"]}, {"1": uuid_of("a")}, None):
        body = claim(None, a={"VCPU": 1}) | {"mappings": bad}
        world.refused(400, "PUT", f"/allocations/{C}", body)
    del body["consumer_type"]
    world.refused(400, "PUT", f"/allocations/{C}", body | {"mappings": {"": [uuid_of("a")]}}, version="1.33")
    world.ok("PUT", f"/allocations/{C}", body | {"mappings": {"": [uuid_of("a")]}}, version="1.34")


def test_where_inventory_was_lowered_below_use_nothing_that_makes_it_better_is_refused(world: World) -> None:
    world.provider("a", VCPU=8)
    world.allocate("c", None, a={"VCPU": 5})
    world.allocate("d", None, a={"VCPU": 3})
    world.inventories("a", VCPU=4)
    assert world.allocate("c", 1, a={"VCPU": 4}).status_code == 204
    assert world.allocate("c", 2, a={"VCPU": 4}).status_code == 204
    world.refused(409, "PUT", f"/allocations/{C}", claim(3, a={"VCPU": 5}))


def test_old_forms_of_the_body(world: World) -> None:
    world.provider("a", VCPU=8)
    entry = {"resource_provider": {"uuid": uuid_of("a")}, "resources": {"VCPU": 1}}
    nobody = world.settings.incomplete_consumer_project_id
    changed = world.changed_by("PUT", f"/allocations/{C}", {"allocations": [entry]}, version="1.0")
    assert changed["consumers"] == ([], [(C, 1, nobody, nobody, None)])
    last = {**entry, "resources": {"VCPU": 3}}
    body = {"allocations": [{**entry, "resources": {"VCPU": 2, "DISK_GB": 1}}, last], "project_id": "p", "user_id": "u"}
    changed = world.changed_by("PUT", f"/allocations/{C}", body, version="1.8")
    assert changed["allocations"][1] == [(C, "a", "VCPU", 3)]
    given = world.ok("GET", f"/allocations/{C}", version="1.12")
    world.ok("PUT", f"/allocations/{C}", given, version="1.12")
    assert world.ok("GET", f"/allocations/{C}")["consumer_type"] == "unknown"
    body = {"allocations": [], "project_id": "p", "user_id": "u"}
    world.refused(400, "PUT", f"/allocations/{C}", body, version="1.8")
    assert (
        "Malformed consumer_uuid" in world.refused(400, "PUT", "/allocations/x", claim(None, a={"VCPU": 1}))["detail"]
    )


def test_usages(world: World) -> None:
    world.provider("a", VCPU=8, DISK_GB=8)
    world.allocate("c", None, a={"VCPU": 3})
    world.ok("PUT", f"/allocations/{D}", claim(None, user="v", kind="MIGRATION", a={"VCPU": 1, "DISK_GB": 2}))
    usages = world.ok("GET", f"/resource_providers/{uuid_of('a')}/usages")
    assert usages == {"resource_provider_generation": 3, "usages": {"VCPU": 4, "DISK_GB": 2}}
    query = "/usages?project_id=project"
    assert world.ok("GET", query, version="1.37") == {"usages": {"VCPU": 4, "DISK_GB": 2}}
    assert world.ok("GET", f"{query}&user_id=v", version="1.9") == {"usages": {"VCPU": 1, "DISK_GB": 2}}
    instance = {"VCPU": 3, "consumer_count": 1}
    assert world.ok("GET", query)["usages"]["INSTANCE"] == instance
    assert world.ok("GET", f"{query}&consumer_type=INSTANCE") == {"usages": {"INSTANCE": instance}}
    assert world.ok("GET", f"{query}&consumer_type=all") == {
        "usages": {"all": {"VCPU": 4, "DISK_GB": 2, "consumer_count": 2}}
    }
    assert world.ok("GET", f"{query}&consumer_type=unknown") == {"usages": {}}
    allocations = world.ok("GET", f"/resource_providers/{uuid_of('a')}/allocations")
    assert allocations["allocations"][C] == {"resources": {"VCPU": 3}, "consumer_generation": 1}
    assert "'project_id' is a required property" in world.refused(400, "GET", "/usages")["detail"]


def reshape_body(
    generations: dict[str, int], inventories: dict[str, dict[str, int]], allocations: dict[str, object]
) -> dict[str, object]:
    return {
        "inventories": {
            uuid_of(name): {
                "resource_provider_generation": generation,
                "inventories": {one: {"total": total} for one, total in inventories[name].items()},
            }
            for name, generation in generations.items()
        },
        "allocations": allocations,
    }


def test_the_reshaper_moves_inventory_with_its_allocations(world: World) -> None:
    world.provider("a", VCPU=8, DISK_GB=8)
    world.provider("b", "a")
    world.allocate("c", None, a={"VCPU": 3, "DISK_GB": 1})
    body = reshape_body(
        {"a": 2, "b": 0}, {"a": {"DISK_GB": 8}, "b": {"VCPU": 8}}, {C: claim(1, a={"DISK_GB": 1}, b={"VCPU": 3})}
    )
    changed = world.changed_by("POST", "/reshaper", body, token="s", x_roles="service")
    assert changed["inventories"] == (
        [("a", "VCPU", 8, 0, 1, 2147483647, 1, 1.0)],
        [("b", "VCPU", 8, 0, 1, 2147483647, 1, 1.0)],
    )
    assert changed["allocations"] == ([(C, "a", "VCPU", 3)], [(C, "b", "VCPU", 3)])
    assert changed["providers"][1] == [("a", 5, None, "a"), ("b", 3, "a", "a")]


def test_a_reshape_that_fails_leaves_no_trace(world: World) -> None:
    world.provider("a", VCPU=8)
    world.provider("b", "a")
    world.allocate("c", None, a={"VCPU": 3})
    before = all_rows(world.engine)
    service = {"token": "s", "x_roles": "service"}
    left_behind = reshape_body({"a": 2, "b": 0}, {"a": {}, "b": {"VCPU": 8}}, {})
    error = world.refused(409, "POST", "/reshaper", left_behind, **service)
    assert error["code"] == "placement.inventory.inuse"
    stale = reshape_body({"a": 1}, {"a": {"VCPU": 8}}, {})
    assert "actual: 2, given: 1" in world.refused(409, "POST", "/reshaper", stale, **service)["detail"]
    unknown = reshape_body({"x": 1}, {"x": {"VCPU": 8}}, {})
    error = world.refused(400, "POST", "/reshaper", unknown, **service)
    assert error["code"] == "placement.resource_provider.not_found"
    too_much = reshape_body({"b": 0}, {"b": {"VCPU": 2}}, {C: claim(1, b={"VCPU": 3})})
    assert "Unable to allocate inventory" in world.refused(409, "POST", "/reshaper", too_much, **service)["detail"]
    bad_class = reshape_body({"b": 0}, {"b": {"CUSTOM_NO": 2}}, {})
    assert "No such resource class CUSTOM_NO" in world.refused(400, "POST", "/reshaper", bad_class, **service)["detail"]
    assert changes(before, all_rows(world.engine)) == {}


def test_no_number_stands_for_any_generation(world: World) -> None:
    world.provider("a", VCPU=8)
    assert world.allocate("c", None, a={"VCPU": 1}).status_code == 204
    for generation in (-1, 0, 2, -(2**63), 2**63):
        error = world.refused(409, "PUT", f"/allocations/{uuid_of('c')}", claim(generation, a={"VCPU": 2}))
        assert error["code"] == "placement.concurrent_update"
        assert world.allocate("new", generation, a={"VCPU": 1}).status_code == 409
