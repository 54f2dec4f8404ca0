"""Each parameter, field and route comes with its microversion, and is refused or missing just below."""

from typing import Any

import pytest

from tests.placement.world import World, uuid_of

A, B = uuid_of("a"), uuid_of("b")
ONE = "HW_CPU_X86_AVX"
CANDIDATES = "/allocation_candidates?resources=VCPU:1"
TWO = "resources1=VCPU:1&resources2=VCPU:1&group_policy=none"
ALLOCATIONS = f"/allocations/{uuid_of('c')}"

ROUTES = [
    (1, "GET", f"/resource_providers/{A}/aggregates"),
    (2, "GET", "/resource_classes"),
    (2, "GET", "/resource_classes/VCPU"),
    (6, "GET", "/traits"),
    (6, "GET", f"/traits/{ONE}"),
    (6, "GET", f"/resource_providers/{A}/traits"),
    (9, "GET", "/usages?project_id=p"),
    (10, "GET", CANDIDATES),
    (13, "POST", "/allocations"),
    (30, "POST", "/reshaper"),
]

PARAMETERS = [
    (3, f"/resource_providers?member_of={A}"),
    (4, "/resource_providers?resources=VCPU:1"),
    (14, f"/resource_providers?in_tree={A}"),
    (16, f"{CANDIDATES}&limit=1"),
    (17, f"{CANDIDATES}&required={ONE}"),
    (18, f"/resource_providers?required={ONE}"),
    (21, f"{CANDIDATES}&member_of={A}"),
    (21, f"{CANDIDATES}&member_of=in:{A},{B}"),
    (22, f"{CANDIDATES}&required=!{ONE}"),
    (22, f"/resource_providers?required=!{ONE}"),
    (24, f"{CANDIDATES}&member_of={A}&member_of={B}"),
    (24, f"/resource_providers?member_of={A}&member_of={B}"),
    (25, f"{CANDIDATES}&group_policy=none"),
    (25, f"/allocation_candidates?resources1=VCPU:1&required1={ONE}&member_of1={A}"),
    (25, f"/allocation_candidates?{TWO}"),
    (31, f"{CANDIDATES}&in_tree={A}"),
    (31, f"/allocation_candidates?resources1=VCPU:1&in_tree1={A}"),
    (32, f"{CANDIDATES}&member_of=!{A}"),
    (32, f"{CANDIDATES}&member_of=!in:{A},{B}"),
    (32, f"/resource_providers?member_of=!{A}"),
    (33, "/allocation_candidates?resources_A-b=VCPU:1"),
    (35, f"{CANDIDATES}&root_required={ONE}"),
    (36, f"/allocation_candidates?{TWO}&same_subtree=1,2"),
    (36, f"/allocation_candidates?resources1=VCPU:1&required2={ONE}&same_subtree=1,2&group_policy=none"),
    (38, "/usages?project_id=p&consumer_type=INSTANCE"),
    (39, f"{CANDIDATES}&required=in:{ONE},HW_CPU_X86_VMX"),
    (39, f"/resource_providers?required=in:{ONE},HW_CPU_X86_VMX"),
]


def version_of(number: int) -> str:
    return f"1.{number}"


def statuses(world: World, since: int, method: str, path: str, body: Any = None) -> tuple[int, int]:
    """Just below the version, and at it."""
    below, at = (world.call(method, path, body, version=version_of(one)).status_code for one in (since - 1, since))
    return below, at


def test_routes(world: World) -> None:
    world.provider("a", VCPU=8)
    for since, method, path in ROUTES:
        below, at = statuses(world, since, method, path, {} if method == "POST" else None)
        # an empty body is a mistake of the body, and the reshaper is for services alone
        assert (below, at in (200, 204, 400, 403)) == (404, True), (since, method, path, at)
    assert statuses(world, 5, "DELETE", f"/resource_providers/{A}/inventories") == (405, 204)


def test_parameters(world: World) -> None:
    world.provider("a", VCPU=8)
    found = {(since, path): statuses(world, since, "GET", path) for since, path in PARAMETERS}
    assert found == {(since, path): (400, 200) for since, path in PARAMETERS}


def bodies() -> list[tuple[int, str, str, Any, tuple[int, int]]]:
    """(since, method, path, body, statuses) in an order in which each is possible."""
    resources = {"resources": {"VCPU": 1}}
    listed = {"allocations": [{"resource_provider": {"uuid": A}, **resources}]}
    owner = {"project_id": "p", "user_id": "u"}
    mine = {"allocations": {A: resources}, **owner}
    none_yet = {**mine, "consumer_generation": None}
    typed = {**none_yet, "consumer_type": "INSTANCE"}
    provider, other = f"/resource_providers/{A}", "/resource_providers"
    child = {"name": "child", "uuid": uuid_of("child"), "parent_provider_uuid": A}
    all_reserved = {"resource_class": "DISK_GB", "total": 2, "reserved": 2}
    return [
        (14, "POST", other, child, (400, 201)),
        (14, "PUT", provider, {"name": "a", "parent_provider_uuid": None}, (400, 200)),
        (37, "PUT", f"{other}/{child['uuid']}", {"name": "child", "parent_provider_uuid": None}, (400, 200)),
        (20, "POST", other, {"name": "d"}, (201, 409)),
        (26, "POST", f"{provider}/inventories", all_reserved, (400, 201)),
        (19, "PUT", f"{provider}/aggregates", [A], (200, 400)),
        (19, "PUT", f"{provider}/aggregates", {"aggregates": [A], "resource_provider_generation": 2}, (400, 200)),
        (7, "PUT", "/resource_classes/CUSTOM_NEW", None, (415, 201)),
        (8, "PUT", ALLOCATIONS, listed, (204, 400)),
        (8, "PUT", ALLOCATIONS, {**listed, **owner}, (400, 204)),
        (12, "PUT", ALLOCATIONS, {**listed, **owner}, (204, 400)),
        (12, "PUT", ALLOCATIONS, mine, (400, 204)),
        (28, "PUT", ALLOCATIONS, mine, (204, 400)),
        (28, "PUT", ALLOCATIONS, {**mine, "allocations": {}}, (400, 400)),
        (28, "PUT", ALLOCATIONS, {**mine, "allocations": {}, "consumer_generation": 5}, (400, 204)),
        (34, "PUT", ALLOCATIONS, {**none_yet, "mappings": {"": [A]}}, (400, 204)),
        (38, "PUT", ALLOCATIONS, {**none_yet, "consumer_generation": 1}, (204, 400)),
        (38, "PUT", ALLOCATIONS, {**typed, "consumer_generation": 2}, (400, 204)),
        (38, "POST", "/allocations", {uuid_of("d"): typed}, (400, 204)),
        (38, "POST", "/allocations", {uuid_of("e"): none_yet}, (204, 400)),
    ]


def test_bodies(world: World) -> None:
    world.provider("a", VCPU=8)
    for since, method, path, body, expected in bodies():
        found = statuses(world, since, method, path, body)
        assert found == expected, (since, method, path, body)


ANSWERS = [
    (1, "/resource_providers", "resource_providers.0.links.3"),
    (6, "/resource_providers", "resource_providers.0.links.4"),
    (11, "/resource_providers", "resource_providers.0.links.5"),
    (14, f"/resource_providers/{A}", "root_provider_uuid"),
    (14, f"/resource_providers/{A}", "parent_provider_uuid"),
    (19, f"/resource_providers/{A}/aggregates", "resource_provider_generation"),
    (12, CANDIDATES, f"allocation_requests.0.allocations.{A}"),
    (12, ALLOCATIONS, "project_id"),
    (12, ALLOCATIONS, "user_id"),
    (17, CANDIDATES, f"provider_summaries.{A}.traits"),
    (23, "/resource_providers?nonsense=1", "errors.0.code"),
    (27, CANDIDATES, f"provider_summaries.{A}.resources.DISK_GB"),
    (28, ALLOCATIONS, "consumer_generation"),
    (28, f"/resource_providers/{A}/allocations", f"allocations.{uuid_of('c')}.consumer_generation"),
    (29, CANDIDATES, f"provider_summaries.{A}.root_provider_uuid"),
    (29, CANDIDATES, f"provider_summaries.{A}.parent_provider_uuid"),
    (34, CANDIDATES, "allocation_requests.0.mappings"),
    (38, ALLOCATIONS, "consumer_type"),
    (38, "/usages?project_id=project", "usages.INSTANCE.consumer_count"),
]


def has(document: Any, path: str) -> bool:
    """Whether the document has something at a path of keys and indexes."""
    for step in path.split("."):
        try:
            document = document[int(step) if isinstance(document, list) else step]
        except (KeyError, IndexError, ValueError):
            return False
    return True


@pytest.fixture
def used(world: World) -> World:
    world.provider("a", VCPU=8, DISK_GB=8)
    assert world.allocate("c", None, a={"VCPU": 1}).status_code == 204
    return world


def test_answers(used: World) -> None:
    for since, path, field in ANSWERS:
        below, at = (used.call("GET", path, version=version_of(one)).json for one in (since - 1, since))
        assert (has(below, field), has(at, field)) == (False, True), (since, path, field)


@pytest.mark.parametrize("path", ["/resource_providers", f"/resource_providers/{A}/usages", ALLOCATIONS, "/traits"])
def test_times_of_change(used: World, path: str) -> None:
    below, at = (used.call("GET", path, version=version).headers for version in ("1.14", "1.15"))
    assert {"last-modified", "cache-control"}.isdisjoint(below)
    assert at["cache-control"] == "no-cache"
    assert "last-modified" in at
