"""Writes of providers: what they are called, where they are in the tree, their traits and aggregates."""

from typing import Any

from tests.placement.random_story.draw import Draw


def _place(draw: Draw, uuid: str) -> dict[str, Any]:
    name = f"{draw.seed}-{draw.providers.index(uuid) if uuid in draw.providers else 'odd'}"
    if draw.chance(0.1):
        name = f"{draw.seed}-{draw.rng.randrange(8)}"
    body: dict[str, Any] = {"name": name}
    if draw.chance(0.6 if draw.version >= 14 else 0.05):
        body["parent_provider_uuid"] = draw.rng.choice([*draw.providers, draw.uuid("nobody"), "x", None, None])
    return body


def post(draw: Draw) -> Any:
    uuid = draw.provider()
    return "POST", "/resource_providers", _place(draw, uuid) | {"uuid": uuid}


def put(draw: Draw) -> Any:
    uuid = draw.provider()
    return "PUT", f"/resource_providers/{uuid}", _place(draw, uuid)


def delete(draw: Draw) -> Any:
    return "DELETE", f"/resource_providers/{draw.provider()}"


def put_traits(draw: Draw) -> Any:
    uuid = draw.provider()
    path = f"/resource_providers/{uuid}/traits"
    if draw.chance(0.1):
        return "DELETE", path
    body = {"resource_provider_generation": draw.generation(uuid), "traits": draw.some(draw.trait, 3)}
    return "PUT", path, body


def put_aggregates(draw: Draw) -> Any:
    uuid = draw.provider()
    some: Any = draw.some(lambda: draw.rng.choice(draw.aggregates), 3)
    if draw.version >= 19 or draw.chance(0.03):
        some = {"resource_provider_generation": draw.generation(uuid), "aggregates": some}
    return "PUT", f"/resource_providers/{uuid}/aggregates", some
