"""How aggregates are spelled."""

from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import pytest
import requests

from tests.placement.world import World, uuid_of
from tests.support.upstream_placement import UpstreamPlacement

pytestmark = pytest.mark.sql

A = f"/resource_providers/{uuid_of('a')}"
DASHED = "a22e1a0c-6d97-436d-aff9-901cd1fa0179"
HEX = DASHED.replace("-", "")


@pytest.mark.parametrize("spelling", [HEX, DASHED, DASHED.upper(), HEX.upper(), f"{HEX[:8]}-{HEX[8:]}"])
def test_aggregates_stay_as_they_were_put(world: World, upstream_placement: UpstreamPlacement, spelling: str) -> None:
    """Two spellings of a UUID are two aggregates, for upstream and so for us."""
    name = f"{spelling}-{world.engine.dialect}"
    uuid = str(uuid5(NAMESPACE_DNS, name))

    def theirs(method: str, path: str, body: object = None) -> Any:
        headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
        url = upstream_placement.url + path
        answer = requests.request(method, url, json=body, headers=headers, timeout=30)
        return answer.json() if answer.ok and answer.content else answer.status_code

    answers = []
    for send in (theirs, world.ok):
        send("POST", "/resource_providers", {"name": name, "uuid": uuid})
        total = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 1}}}
        send("PUT", f"/resource_providers/{uuid}/inventories", total)
        put = {"resource_provider_generation": 1, "aggregates": [spelling]}
        answer = [
            send("PUT", f"/resource_providers/{uuid}/aggregates", put),
            send("GET", f"/resource_providers/{uuid}/aggregates"),
        ]
        for asked in (HEX, DASHED, DASHED.upper(), f"!{HEX}", f"!in:{DASHED},{HEX}", f"in:{DASHED},{HEX}"):
            listed = send("GET", f"/resource_providers?member_of={asked}&in_tree={uuid}")["resource_providers"]
            query = f"resources=VCPU:1&in_tree={uuid}&member_of={asked}"
            candidates = send("GET", f"/allocation_candidates?{query}")["allocation_requests"]
            suffixed = send("GET", f"/allocation_candidates?{query.replace('=', '_A=')}")["allocation_requests"]
            answer.append((asked, len(listed), len(candidates), len(suffixed)))
        answers.append(answer)
    assert answers[0] == answers[1]
    assert answers[1][1]["aggregates"] == [spelling]


def test_aggregates_in_longer_forms_are_answered_in_the_usual_one(world: World) -> None:
    world.provider("a")
    body = {"resource_provider_generation": 0, "aggregates": [f"urn:uuid:{DASHED.upper()}", f"{{{DASHED}}}"]}
    assert world.ok("PUT", f"{A}/aggregates", body)["aggregates"] == [DASHED]
    assert len(world.ok("GET", f"/resource_providers?member_of=urn:uuid:{HEX}")["resource_providers"]) == 1
    odd = {"resource_provider_generation": 1, "aggregates": [f"{HEX[:-2]}_1"]}
    world.refused(400, "PUT", f"{A}/aggregates", odd)
