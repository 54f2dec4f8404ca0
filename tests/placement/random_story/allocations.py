"""Writes of allocations, and of inventory with allocations (`/reshaper`)."""

from typing import Any

from tests.placement.random_story.draw import Draw
from tests.placement.random_story.inventories import some_inventories


def _resources(draw: Draw) -> Any:
    amounts = {
        draw.provider(): {name: draw.rng.choice([1, 1, 2, 3, 4, 10]) for name in draw.some(draw.resource_class, 2)}
        for _ in range(draw.rng.choice([0, 1, 1, 1, 2]))
    }
    amounts = {uuid: found for uuid, found in amounts.items() if found or draw.chance(0.1)}
    if draw.version < 12:
        return [{"resource_provider": {"uuid": uuid}, "resources": found} for uuid, found in amounts.items()]
    more = {"generation": 1} if draw.chance(0.1) else {}
    return {uuid: {"resources": found, **more} for uuid, found in amounts.items()}


def _claim(draw: Draw, uuid: str) -> dict[str, Any]:
    rng = draw.rng
    body: dict[str, Any] = {"allocations": _resources(draw)}
    if draw.version >= 8:
        body |= {"project_id": rng.choice(draw.projects), "user_id": rng.choice(["u1", "u2"])}
    if draw.version >= 28:
        body["consumer_generation"] = draw.consumer_generation(uuid)
    if draw.version >= 34 and draw.chance(0.2):
        body["mappings"] = {rng.choice(["", "1", "_x"]): [draw.provider()]}
    if draw.version >= 38:
        body["consumer_type"] = rng.choice(["INSTANCE", "MIGRATION", "INSTANCE", "odd", "unknown"])
    return body


def _claims(draw: Draw) -> dict[str, Any]:
    return {uuid: _claim(draw, uuid) for uuid in draw.some(draw.consumer, 3)}


def put(draw: Draw) -> Any:
    uuid = draw.consumer()
    return "PUT", f"/allocations/{uuid}", _claim(draw, uuid)


def post(draw: Draw) -> Any:
    draw.version = max(draw.version, draw.rng.choice([0, 13, 13, 13]))
    return "POST", "/allocations", _claims(draw)


def delete(draw: Draw) -> Any:
    return "DELETE", f"/allocations/{draw.consumer()}"


def reshape(draw: Draw) -> Any:
    draw.version = max(draw.version, draw.rng.choice([0, 30, 30, 30]))
    shapes = {}
    for uuid in draw.some(draw.provider, 3):
        found = draw.look(f"/resource_providers/{uuid}/inventories") or {"inventories": {}}
        inventories = {
            name: {key: value for key, value in one.items() if key != "resource_provider_generation"}
            for name, one in found["inventories"].items()
            if draw.chance(0.8)
        } | (some_inventories(draw) if draw.chance(0.5) else {})
        shapes[uuid] = {"resource_provider_generation": draw.generation(uuid), "inventories": inventories}
    return "POST", "/reshaper", {"inventories": shapes, "allocations": _claims(draw)}
