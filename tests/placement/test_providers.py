"""Providers: the tree they stand in, their names, and what refuses to go."""

from tests.placement.world import World, all_rows, stamps, uuid_of


def parent_body(name: str, parent: str | None) -> dict[str, str | None]:
    return {"name": name, "parent_provider_uuid": uuid_of(parent) if parent else None}


def test_create_adds_one_row_and_answers_where_it_is(world: World) -> None:
    before = all_rows(world.engine)
    answer = world.call("POST", "/resource_providers", {"name": "a", "uuid": uuid_of("a").replace("-", "")})
    assert answer.status_code == 200
    assert answer.json["uuid"] == answer.json["root_provider_uuid"] == uuid_of("a")
    assert answer.headers["location"].endswith(f"/resource_providers/{uuid_of('a')}")
    assert all_rows(world.engine)["providers"] - before["providers"] == {("a", 0, None, "a"): 1}


def test_below_1_20_create_answers_without_a_body_or_a_type(world: World) -> None:
    answer = world.call("POST", "/resource_providers", {"name": "a"}, version="1.19")
    assert (answer.status_code, answer.text) == (201, "")
    assert "content-type" not in answer.headers


def test_names_and_uuids_are_unique(world: World) -> None:
    world.provider("a")
    world.provider("b")
    error = world.refused(409, "POST", "/resource_providers", {"name": "a"})
    assert error["code"] == "placement.duplicate_name"
    assert "Conflicting resource provider name: a already exists" in error["detail"]
    error = world.refused(409, "POST", "/resource_providers", {"name": "c", "uuid": uuid_of("a")})
    assert f"Conflicting resource provider uuid: {uuid_of('a')}" in error["detail"]
    error = world.refused(409, "PUT", f"/resource_providers/{uuid_of('b')}", {"name": "a"})
    assert error["code"] == "placement.duplicate_name"


def test_rename_leaves_the_generation_alone(world: World) -> None:
    world.provider("a", VCPU=1)
    changed = world.changed_by("PUT", f"/resource_providers/{uuid_of('a')}", {"name": "b"})
    assert changed["providers"] == ([("a", 1, None, "a")], [("b", 1, None, "b")])


def test_a_move_takes_all_descendants_to_the_new_root(world: World) -> None:
    for name, parent in (("r", None), ("a", "r"), ("b", "a"), ("c", "b"), ("s", None), ("d", "s")):
        world.provider(name, parent)
    before = stamps(world.engine)
    changed = world.changed_by("PUT", f"/resource_providers/{uuid_of('a')}", parent_body("a", "d"))
    assert changed == {
        "providers": (
            [("a", 0, "r", "r"), ("b", 0, "a", "r"), ("c", 0, "b", "r")],
            [("a", 0, "d", "s"), ("b", 0, "a", "s"), ("c", 0, "b", "s")],
        )
    }
    after = stamps(world.engine)
    assert {name for name in before if after[name] != before[name]} == {"a", "b", "c"}
    changed = world.changed_by("PUT", f"/resource_providers/{uuid_of('b')}", parent_body("b", None))
    assert changed["providers"][1] == [("b", 0, None, "b"), ("c", 0, "b", "b")]


def test_what_cannot_be_moved(world: World) -> None:
    for name, parent in (("r", None), ("a", "r"), ("b", "a")):
        world.provider(name, parent)
    world.provider("s")
    for parent, version, words in (
        ("b", "1.39", "creating loop in the provider tree is not allowed."),
        ("a", "1.39", "creating loop in the provider tree is not allowed."),
        ("x", "1.39", "parent provider UUID does not exist"),
        (None, "1.36", "un-parenting a provider is not currently allowed"),
        ("s", "1.36", "re-parenting a provider is not currently allowed"),
    ):
        url, body = f"/resource_providers/{uuid_of('a')}", parent_body("a", parent)
        assert words in world.refused(400, "PUT", url, body, version=version)["detail"]
    error = world.refused(404, "PUT", f"/resource_providers/{uuid_of('x')}", {"name": "x"})
    assert f"No resource provider with uuid {uuid_of('x')} found" in error["detail"]


def test_below_1_37_a_root_may_get_a_parent(world: World) -> None:
    world.provider("r")
    world.provider("a")
    world.ok("PUT", f"/resource_providers/{uuid_of('a')}", parent_body("a", "r"), version="1.14")
    assert all_rows(world.engine)["providers"][("a", 0, "r", "r")] == 1


def test_creating_below_what_does_not_exist(world: World) -> None:
    error = world.refused(400, "POST", "/resource_providers", parent_body("a", "x"))
    assert "parent provider UUID does not exist" in error["detail"]
    body = {"name": "a", "uuid": uuid_of("a"), "parent_provider_uuid": uuid_of("a")}
    error = world.refused(400, "POST", "/resource_providers", body)
    assert (
        f'Unable to create resource provider "a", {uuid_of("a")}: Object action create failed because: parent provider'
        in (error["detail"])
    )


def test_delete_takes_the_provider_with_all_that_is_its_own(world: World) -> None:
    world.provider("a", VCPU=1)
    world.put("a", aggregates=[uuid_of("agg")], traits=["HW_CPU_X86_AVX"])
    changed = world.changed_by("DELETE", f"/resource_providers/{uuid_of('a')}")
    assert {kind: come for kind, (_, come) in changed.items()} == {
        "providers": [],
        "inventories": [],
        "provider_traits": [],
        "provider_aggregates": [],
    }
    with world.engine.connection():
        assert len(world.engine.rows("SELECT provider_id FROM placement_provider_tombstones")) == 1
    error = world.refused(404, "DELETE", f"/resource_providers/{uuid_of('a')}")
    assert "found for delete" in error["detail"]


def test_what_cannot_be_deleted(world: World) -> None:
    world.provider("r")
    world.provider("a", "r", VCPU=1)
    error = world.refused(409, "DELETE", f"/resource_providers/{uuid_of('r')}")
    assert error["code"] == "placement.resource_provider.cannot_delete_parent"
    assert world.allocate("c", None, a={"VCPU": 1}).status_code == 204
    error = world.refused(409, "DELETE", f"/resource_providers/{uuid_of('a')}")
    assert error["code"] == "placement.resource_provider.inuse"
    assert f"Unable to delete resource provider {uuid_of('a')}" in error["detail"]
