"""The bytes of the answer at the microversions at which its form changes."""

import json
import tracemalloc
from typing import Any

from limes.placement.search.render import render
from tests.placement.search.clouds import cloud_of, find, identity, node

CLOUD = cloud_of(
    node("cn", DISK_GB=(100, 5), traits=["HW_SSE", "CUSTOM_A"]),
    node("numa", "cn", VCPU=4, MEMORY_MB=16),
    node("empty", "cn"),
    node("other", VCPU=4),
)
CN, NUMA, EMPTY = map(identity, ("cn", "numa", "empty"))


def body(query: str, minor: int) -> Any:
    return json.loads(b"".join(render(find(CLOUD, query, minor), CLOUD, minor)))


def test_a_list_at_first() -> None:
    assert body("resources=VCPU:1,MEMORY_MB:2", 10) == {
        "allocation_requests": [
            {"allocations": [{"resource_provider": {"uuid": NUMA}, "resources": {"VCPU": 1, "MEMORY_MB": 2}}]}
        ],
        "provider_summaries": {
            NUMA: {"resources": {"VCPU": {"capacity": 4, "used": 0}, "MEMORY_MB": {"capacity": 16, "used": 0}}}
        },
    }


def test_a_dict_from_1_12() -> None:
    [request] = body("resources=VCPU:1,MEMORY_MB:2", 12)["allocation_requests"]
    assert request == {"allocations": {NUMA: {"resources": {"VCPU": 1, "MEMORY_MB": 2}}}}


def test_summaries_grow_with_the_versions() -> None:
    query = "resources=DISK_GB:10"
    disk = {"DISK_GB": {"capacity": 100, "used": 5}}
    cores = {"VCPU": {"capacity": 4, "used": 0}, "MEMORY_MB": {"capacity": 16, "used": 0}}
    assert body(query, 16)["provider_summaries"] == {CN: {"resources": disk}}
    assert body(query, 17)["provider_summaries"] == {CN: {"resources": disk, "traits": ["HW_SSE", "CUSTOM_A"]}}
    below = {"root_provider_uuid": CN, "parent_provider_uuid": CN, "traits": []}
    assert body(query, 29)["provider_summaries"] == {
        CN: {
            "resources": disk,
            "traits": ["HW_SSE", "CUSTOM_A"],
            "root_provider_uuid": CN,
            "parent_provider_uuid": None,
        },
        NUMA: {"resources": cores, **below},
        EMPTY: {"resources": {}, **below},
    }


def test_all_classes_from_1_27() -> None:
    assert list(body("resources=VCPU:1,MEMORY_MB:1", 26)["provider_summaries"][NUMA]["resources"]) == [
        "VCPU",
        "MEMORY_MB",
    ]
    assert list(body("resources1=VCPU:1", 26)["provider_summaries"][NUMA]["resources"]) == ["VCPU"]
    assert list(body("resources1=VCPU:1", 27)["provider_summaries"][NUMA]["resources"]) == ["VCPU", "MEMORY_MB"]


def test_mappings_from_1_34() -> None:
    query = "resources=DISK_GB:1,VCPU:1&resources_x=VCPU:2&required_y=HW_SSE&same_subtree=_x,_y&group_policy=none"
    [request] = body(query, 36)["allocation_requests"]
    assert request == {
        "allocations": {CN: {"resources": {"DISK_GB": 1}}, NUMA: {"resources": {"VCPU": 3}}},
        "mappings": {"": [CN, NUMA], "_x": [NUMA], "_y": [CN]},
    }
    assert "mappings" not in body("resources=VCPU:1", 33)["allocation_requests"][0]


def test_nothing_found() -> None:
    assert body("resources=VCPU:100", 39) == {"allocation_requests": [], "provider_summaries": {}}


def test_the_text_of_a_large_answer_is_never_there_as_a_whole() -> None:
    """Without that, eight such answers at once left a worker with some hundred MB."""
    cloud = cloud_of(node("cn"), *(node(f"n{number}", "cn", VCPU=64) for number in range(10)))
    query = "&".join(f"resources{number}=VCPU:1" for number in range(4)) + "&group_policy=none"
    found = find(cloud, query)
    assert len(found.candidates) == 10_000
    tracemalloc.start()
    try:
        size = sum(len(part) for part in render(found, cloud, 39))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 3_000_000
    assert peak < size / 2
    requests = json.loads(b"".join(render(found, cloud, 39)))["allocation_requests"]
    assert len({json.dumps(request) for request in requests}) == 10_000
