"""Bodies and queries about resource providers and what belongs to them, and about resource classes and traits."""

from typing import Any

from limes.placement.schemas.common import CLASS_KEY, GENERATION, MAX_INT, UUID, Schema, map_of, object_of, versioned

_STRING = {"type": "string"}
_NAME = {"type": "string", "maxLength": 200}
_PARENT = {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}


def _parent(since: int) -> dict[str, Any]:
    return {"parent_provider_uuid": _PARENT} if since >= 14 else {}


post = versioned(lambda since: object_of({"name": _NAME, "uuid": UUID, **_parent(since)}, ["name"]), 0, 14)
"""The body of POST /resource_providers."""
put = versioned(lambda since: object_of({"name": _NAME, **_parent(since)}, ["name"]), 0, 14)
"""The body of PUT /resource_providers/{uuid}."""


def _list_query(since: int) -> dict[str, Any]:
    properties: dict[str, Any] = {"name": _STRING, "uuid": UUID}
    if since >= 3:
        properties["member_of"] = _STRING
    if since >= 4:
        properties["resources"] = _STRING
    if since >= 14:
        properties["in_tree"] = UUID
    if since >= 18:
        properties["required"] = _STRING
    return object_of(properties)


list_query = versioned(_list_query, 0, 3, 4, 14, 18)
"""The query of GET /resource_providers."""

# -- what belongs to a provider ----------------------------------------------------------------------------------------


def _with_generation(name: str, value: dict[str, Any]) -> dict[str, Any]:
    return object_of({name: value, "resource_provider_generation": GENERATION}, [name, "resource_provider_generation"])


_AGGREGATES = {"type": "array", "items": UUID, "uniqueItems": True}
put_aggregates = versioned(
    lambda since: _with_generation("aggregates", _AGGREGATES) if since >= 19 else _AGGREGATES, 0, 19
)
"""The body of PUT /resource_providers/{uuid}/aggregates: a list; from 1.19 an object with generation."""

PUT_TRAITS = Schema(
    _with_generation("traits", {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 255}})
)

_POSITIVE = {"type": "integer", "minimum": 1, "maximum": MAX_INT}
_INVENTORY = {
    "resource_provider_generation": GENERATION,
    "total": _POSITIVE,
    "reserved": {"type": "integer", "minimum": 0, "maximum": MAX_INT},
    "min_unit": _POSITIVE,
    "max_unit": _POSITIVE,
    "step_size": _POSITIVE,
    "allocation_ratio": {"type": "number", "minimum": 0, "maximum": 3.40282e38},
}
_CLASS = {"resource_class": {"type": "string", "pattern": CLASS_KEY}}
POST_INVENTORY = Schema(object_of({**_CLASS, **_INVENTORY}, ["resource_class", "total"]))
PUT_INVENTORY = Schema(object_of(_INVENTORY, ["resource_provider_generation", "total"]))
INVENTORIES = map_of(CLASS_KEY, object_of(_INVENTORY, ["total"]))
"""By class, as in PUT of all and in the reshaper."""
PUT_INVENTORIES = Schema(
    object_of(
        {"resource_provider_generation": GENERATION, "inventories": INVENTORIES},
        ["resource_provider_generation", "inventories"],
    )
)

# -- resource classes and traits ---------------------------------------------------------------------------------------

TRAIT_NAME = Schema({"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^CUSTOM_[A-Z0-9_]+\Z"})
"""The name of a custom trait."""
TRAITS_QUERY = Schema(object_of({"name": _STRING, "associated": _STRING}))

_CLASS_NAME = {"type": "string", "pattern": r"^CUSTOM\_[A-Z0-9_]+\Z", "maxLength": 255}
CLASS = Schema(object_of({"name": _CLASS_NAME}, ["name"]))
"""The body of POST /resource_classes, of PUT /resource_classes/{name} below 1.7; and what its URL says from 1.7."""
