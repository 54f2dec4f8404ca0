"""No refusal of Placement repeats much of a large request; names of a usual length are in it as with upstream."""

from typing import Any

import pytest

from tests.placement.world import World, uuid_of

MEGABYTE = "A" * 1_000_000
BOUND = 8_000
"""Bytes of an answer."""


def _requests(text: str) -> list[tuple[str, str, Any]]:
    """Bodies with the text in the place of a name, of a key, and of a value of another type."""
    provider, consumer = f"/resource_providers/{uuid_of('p')}", f"/allocations/{uuid_of('c')}"
    owner = {"project_id": "p", "user_id": "u", "consumer_generation": None, "consumer_type": "INSTANCE"}
    amounts = {"allocations": {uuid_of("p"): {"resources": {"VCPU": 1}}}}
    inventory = {"resource_provider_generation": 0, "inventories": {text: {"total": 1}}}
    return [
        ("POST", "/resource_providers", {"name": text}),
        ("POST", "/resource_providers", {"name": "n", "uuid": text}),
        ("POST", "/resource_providers", {"name": "n", text: 1}),
        ("PUT", provider, {"name": text}),
        ("PUT", provider, {"name": "p", "parent_provider_uuid": text}),
        ("PUT", f"{provider}/inventories", inventory),
        ("PUT", f"{provider}/inventories", inventory | {"inventories": {"VCPU": {"total": text}}}),
        ("POST", f"{provider}/inventories", {"resource_class": text, "total": 1}),
        ("PUT", f"{provider}/traits", {"resource_provider_generation": 0, "traits": [text]}),
        ("PUT", f"{provider}/aggregates", {"resource_provider_generation": 0, "aggregates": [text]}),
        ("POST", "/resource_classes", {"name": text}),
        ("PUT", consumer, owner | amounts | {"project_id": text}),
        ("PUT", consumer, owner | {"allocations": {text: {"resources": {"VCPU": 1}}}}),
        ("PUT", consumer, owner | {"allocations": {uuid_of("p"): {"resources": {text: 1}}}}),
        ("PUT", consumer, owner | amounts | {"consumer_type": text}),
        ("POST", "/allocations", {text: owner | amounts}),
        ("POST", "/allocations", {uuid_of("c"): {text: 1}}),
        ("POST", "/reshaper", {"inventories": {text: {}}, "allocations": {}}),
        ("PUT", "/quotas/p", {"quotas": {text: {"limit": 1}}}),
    ]


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_bodies(world: World) -> None:
    world.provider("p", VCPU=1)
    for text in (MEGABYTE[:50_000], "A " * 25_000, "\n" * 25_000):
        for method, path, body in _requests(text):
            answer = world.call(method, path, body)
            assert 400 <= answer.status_code < 500, (method, path, answer.text[:300])
            assert len(answer.content) < BOUND, (method, path, answer.text[:300])


@pytest.mark.parametrize("accept", ["application/json", "text/html", "text/plain"])
@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_in_each_form(world: World, accept: str) -> None:
    answer = world.call("DELETE", f"/resource_providers/{MEGABYTE[:7000]}", accept=accept)
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (404, accept)
    assert len(answer.content) < 2000


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_paths_and_queries(world: World) -> None:
    text = "A" * 7_000
    paths = [f"/{one}/{text}" for one in ("resource_providers", "resource_classes", "traits")]
    paths += [f"/resource_providers/{text}/{one}" for one in ("inventories", "usages", "allocations", "traits")]
    paths += [f"/resource_providers?{one}={text}" for one in ("uuid", "member_of", "resources", "required", "in_tree")]
    paths += [f"/allocation_candidates?resources=VCPU:1&{one}={text}" for one in ("required", "limit", "in_tree", text)]
    paths += [f"/usages?project_id={text}", f"/traits?name={text}", f"/usage_groups?group_by={text}", f"/{text}"]
    for path in paths:
        answer = world.call("GET", path)
        assert 400 <= answer.status_code < 500, (path[:60], answer.text[:300])
        assert len(answer.content) < BOUND, (path[:60], answer.text[:300])
    version = world.call("GET", "/resource_providers", version=text)
    assert version.status_code == 400
    assert len(version.content) < BOUND


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_names_of_a_usual_length_are_there_in_full(world: World) -> None:
    name = "CUSTOM_" + "A" * 249
    answer = world.call("POST", "/resource_classes", {"name": name})
    assert f"'{name}'" in answer.json["errors"][0]["detail"]
    cut = world.call("POST", "/resource_classes", {"name": MEGABYTE}).json["errors"][0]["detail"]
    assert f"'{'A' * 299}... " in cut
    assert "Failed validating" in cut
