"""Every number that can be stored can be answered: capacities beyond 64 bits, as upstream answers them."""

import json
from typing import Any

import pytest
import requests

from tests.placement.world import World, uuid_of
from tests.support.upstream_placement import UpstreamPlacement

pytestmark = pytest.mark.sql

MAX_INT = 2**31 - 1
LARGE = {
    "VCPU": {"total": 8, "allocation_ratio": 2.4e18},
    "MEMORY_MB": {"total": MAX_INT, "allocation_ratio": 3.4e38},
    "DISK_GB": {"total": MAX_INT, "allocation_ratio": 2**62 + 1},
    "PCPU": {"total": 1, "reserved": 1, "allocation_ratio": 3.4e38},
    "SRIOV_NET_VF": {"total": 3, "allocation_ratio": 1e-320},
}


def requests_of(name: str) -> list[tuple[str, str, Any]]:
    """A large provider with an ordinary child, consumers that take all they can, and every way to look at them."""
    root, child = uuid_of(name), uuid_of(f"{name}c")
    inventories = {"resource_provider_generation": 0, "inventories": LARGE}
    steps: list[tuple[str, str, Any]] = [
        ("POST", "/resource_providers", {"name": name, "uuid": root}),
        ("POST", "/resource_providers", {"name": f"{name}c", "uuid": child, "parent_provider_uuid": root}),
        ("PUT", f"/resource_providers/{root}/inventories", inventories),
        ("PUT", f"/resource_providers/{child}/inventories", {**inventories, "inventories": {"PCPU": {"total": 4}}}),
    ]
    for consumer in range(3):
        amounts = {root: {"resources": {"VCPU": MAX_INT, "MEMORY_MB": MAX_INT}}}
        owner = {"project_id": name, "user_id": name, "consumer_generation": None, "consumer_type": "INSTANCE"}
        steps.append(("PUT", f"/allocations/{uuid_of(f'{name}{consumer}')}", {"allocations": amounts, **owner}))
    looks = [
        f"/resource_providers/{root}/inventories",
        f"/resource_providers/{root}/inventories/MEMORY_MB",
        f"/resource_providers/{root}/usages",
        f"/resource_providers/{root}/allocations",
        f"/allocations/{uuid_of(f'{name}0')}",
        f"/usages?project_id={name}",
        f"/resource_providers?in_tree={root}&resources=MEMORY_MB:{MAX_INT}",
        f"/allocation_candidates?resources=MEMORY_MB:{MAX_INT},VCPU:1&in_tree={root}",
        f"/allocation_candidates?resources=PCPU:1&in_tree={root}",
        "/allocation_candidates?resources=VCPU:1,PCPU:1",
    ]
    return steps + [("GET", look, None) for look in looks]


@pytest.mark.parametrize("version", ["1.10", "1.26", "1.27", "1.29", "1.39"])
def test_as_upstream(world: World, upstream_placement: UpstreamPlacement, version: str) -> None:
    name = f"l{version.replace('.', '')}{world.engine.dialect[0]}"
    seen: list[str] = []
    headers = {"x-auth-token": "admin", "content-type": "application/json"}
    with requests.Session() as session:
        session.trust_env = False
        for method, path, body in requests_of(name):
            spoken = version if method == "GET" else "1.39"
            ours = world.call(method, path, body, version=spoken)
            data = None if body is None else json.dumps(body)
            theirs = session.request(
                method,
                upstream_placement.url + path,
                headers=headers | {"openstack-api-version": f"placement {spoken}"},
                data=data,
                timeout=30,
            )
            assert (ours.status_code, len(ours.content) > 0) == (theirs.status_code, len(theirs.content) > 0), path
            if method == "GET" and ours.status_code == 200 and look_is_own(path):
                assert ours.json == theirs.json(), path
                seen.append(ours.text)
    largest = "730144439979999955896768294183834654343050559488"  # 2^31 - 1 times 3.4e38, digit by digit
    assert any(f'"capacity":{largest},' in text for text in seen) or version < "1.31"  # where in_tree began


def look_is_own(path: str) -> bool:
    """Whether the answer names the providers of this test alone, though others use the same upstream server."""
    return "resources=VCPU:1,PCPU:1" not in path


def test_one_inventory_spoils_nothing(world: World) -> None:
    for name in ("small", "large", "other"):
        world.provider(name, VCPU=4)
    body = {"resource_provider_generation": 1, "inventories": LARGE}
    world.ok("PUT", f"/resource_providers/{uuid_of('large')}/inventories", body)
    for version in ("1.10", "1.28", "1.39"):
        answer = world.ok("GET", "/allocation_candidates?resources=VCPU:1", version=version)
        capacities = {uuid: one["resources"]["VCPU"] for uuid, one in answer["provider_summaries"].items()}
        assert capacities == {
            uuid_of("small"): {"capacity": 4, "used": 0},
            uuid_of("large"): {"capacity": 19_200_000_000_000_000_000, "used": 0},
            uuid_of("other"): {"capacity": 4, "used": 0},
        }
