"""Project quotas, our extension: what is refused, what always passes, and that nothing changes without them."""

import pytest

from tests.placement.world import World, claim, uuid_of

pytestmark = pytest.mark.sql

Q = "/quotas/project"
C, D = uuid_of("c"), uuid_of("d")


def limits(**values: int | None) -> dict[str, object]:
    return {"quotas": {name: {"limit": limit} for name, limit in values.items()}}


def test_put_replaces_the_limits_and_get_counts_the_use(world: World) -> None:
    world.provider("a", VCPU=8, DISK_GB=8)
    world.allocate("c", None, a={"VCPU": 3, "DISK_GB": 2})
    assert world.changed_by("PUT", Q, limits(VCPU=2, MEMORY_MB=None)) == {
        "quotas": ([], [("project", "MEMORY_MB", None), ("project", "VCPU", 2)])
    }
    assert world.ok("GET", Q) == {
        "quotas": {
            "VCPU": {"limit": 2, "used": 3},
            "MEMORY_MB": {"limit": None, "used": 0},
            "DISK_GB": {"limit": None, "used": 2},
        }
    }
    given = world.ok("GET", Q)
    world.ok("PUT", Q, given)
    assert world.ok("GET", Q) == given
    assert set(world.changed_by("DELETE", Q)) == {"quotas"}
    assert world.refused(404, "DELETE", Q)["detail"].endswith("No quotas for project 'project'")


def test_bad_limits_are_refused(world: World) -> None:
    assert "No such resource class CUSTOM_NO" in world.refused(400, "PUT", Q, limits(CUSTOM_NO=1))["detail"]
    negative = world.refused(400, "PUT", Q, limits(VCPU=-1))["detail"]
    assert "-1 is less than the minimum of 0" in negative
    assert "On instance['quotas']['VCPU']['limit']" in negative
    world.refused(400, "PUT", Q, {"quotas": {"VCPU": {}}})
    world.refused(400, "PUT", Q, {})
    world.refused(400, "GET", "/quotas/" + "p" * 256)
    world.refused(403, "PUT", Q, limits(VCPU=1), token="user")


def test_what_would_exceed_a_limit_is_refused_and_named(world: World) -> None:
    world.provider("a", VCPU=80, DISK_GB=80)
    world.ok("PUT", Q, limits(VCPU=5, DISK_GB=None))
    assert world.allocate("c", None, a={"VCPU": 4, "DISK_GB": 70}).status_code == 204
    error = world.refused(409, "PUT", f"/allocations/{D}", claim(None, a={"VCPU": 2}))
    assert error["code"] == "placement.quota.exceeded"
    assert error["detail"].endswith("Quota exceeded for VCPU in project project: limit 5, used 4, requested 2 more.")
    both = {C: claim(1, a={"VCPU": 3}), D: claim(None, a={"VCPU": 3})}
    world.refused(409, "POST", "/allocations", both)
    assert world.allocate("d", None, a={"VCPU": 1}).status_code == 204
    other = claim(None, project="other", a={"VCPU": 50})
    world.ok("PUT", f"/allocations/{uuid_of('e')}", other)
    taken = claim(1, a={"VCPU": 1}, project="project")
    world.refused(409, "PUT", f"/allocations/{uuid_of('e')}", taken)


def test_what_does_not_raise_the_total_always_passes(world: World) -> None:
    world.provider("a", VCPU=80)
    world.provider("b", VCPU=80)
    world.allocate("c", None, a={"VCPU": 9})
    world.ok("PUT", Q, limits(VCPU=5))
    assert world.allocate("c", 1, b={"VCPU": 9}).status_code == 204
    assert world.allocate("c", 2, b={"VCPU": 8}).status_code == 204
    moved = {C: claim(3), D: claim(None, a={"VCPU": 8})}
    assert world.call("POST", "/allocations", moved).status_code == 204
    world.refused(409, "PUT", f"/allocations/{D}", claim(1, a={"VCPU": 9}))
    world.ok("PUT", f"/allocations/{D}", claim(1, project="other", a={"VCPU": 30}))


def test_a_reshape_passes_unless_it_raises_the_total(world: World) -> None:
    service = {"token": "s", "x_roles": "service"}
    world.provider("a", VCPU=80)
    world.provider("b", "a")
    world.allocate("c", None, a={"VCPU": 9})
    world.ok("PUT", Q, limits(VCPU=5))
    shapes = {
        uuid_of("a"): {"resource_provider_generation": 2, "inventories": {}},
        uuid_of("b"): {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 80}}},
    }
    more = {"inventories": shapes, "allocations": {C: claim(1, b={"VCPU": 10})}}
    error = world.refused(409, "POST", "/reshaper", more, **service)
    assert error["code"] == "placement.quota.exceeded"
    assert error["detail"].endswith("limit 5, used 9, requested 1 more.")
    moved = {"inventories": shapes, "allocations": {C: claim(1, b={"VCPU": 9})}}
    changed = world.changed_by("POST", "/reshaper", moved, **service)
    assert changed["allocations"] == ([(C, "a", "VCPU", 9)], [(C, "b", "VCPU", 9)])


def test_a_class_with_a_limit_can_be_deleted_with_it(world: World) -> None:
    world.ok("PUT", "/resource_classes/CUSTOM_X")
    world.ok("PUT", Q, limits(CUSTOM_X=1))
    assert set(world.changed_by("DELETE", "/resource_classes/CUSTOM_X")) == {"classes", "quotas"}


def test_the_version_document_announces_the_extension(world: World) -> None:
    assert world.ok("GET", "/")["versions"][0]["extensions"] == ["quotas", "usage_groups"]
