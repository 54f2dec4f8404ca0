"""Writes of inventory."""

from typing import Any

from tests.placement.random_story.draw import Draw


def _inventory(draw: Draw) -> dict[str, Any]:
    rng = draw.rng
    one: dict[str, Any] = {"total": rng.choice([1, 2, 4, 8, 16, 100])}
    if draw.chance(0.3):
        one["reserved"] = rng.choice([0, 1, 2, one["total"], one["total"] + 1])
    if draw.chance(0.2) and one.get("reserved", 0) <= one["total"]:
        one["allocation_ratio"] = rng.choice([0.5, 1, 1.5, 2.0, 16.0, 0.0])
    if draw.chance(0.2):
        one["min_unit"] = rng.choice([1, 2, 10])
    if draw.chance(0.2):
        one["max_unit"] = rng.choice([1, 4, 100])
    if draw.chance(0.2):
        one["step_size"] = rng.choice([1, 2, 3])
    return one


def some_inventories(draw: Draw) -> dict[str, Any]:
    return {name: _inventory(draw) for name in draw.some(draw.resource_class, 4)}


def put_all(draw: Draw) -> Any:
    uuid = draw.provider()
    body = {"resource_provider_generation": draw.generation(uuid), "inventories": some_inventories(draw)}
    return "PUT", f"/resource_providers/{uuid}/inventories", body


def put(draw: Draw) -> Any:
    uuid = draw.provider()
    body = {"resource_provider_generation": draw.generation(uuid), **_inventory(draw)}
    return "PUT", f"/resource_providers/{uuid}/inventories/{draw.resource_class()}", body


def post(draw: Draw) -> Any:
    body = {"resource_class": draw.resource_class(), **_inventory(draw)}
    return "POST", f"/resource_providers/{draw.provider()}/inventories", body


def delete(draw: Draw) -> Any:
    path = f"/resource_providers/{draw.provider()}/inventories"
    return "DELETE", path if draw.chance(0.3) else f"{path}/{draw.resource_class()}"
