"""Bodies about allocations, and the reshaper's. They grew with the microversions."""

from typing import Any

from limes.placement.schemas.common import CLASS_KEY, GENERATION, OWNER, UUID, UUID_KEY, map_of, object_of, versioned
from limes.placement.schemas.resource_provider import INVENTORIES

# no maximum: more than any inventory can give is a conflict, not a malformed body
_RESOURCES = map_of(CLASS_KEY, {"type": "integer", "minimum": 1}, 1)
_GENERATION = {"type": ["integer", "null"]}
_TYPE = {"type": "string", "pattern": "^[A-Z0-9_]+$", "minLength": 1, "maxLength": 255}
_MAPPINGS = {
    "type": "object",
    "minProperties": 1,
    "patternProperties": {"^[a-zA-Z0-9_-]{0,64}$": {"type": "array", "minItems": 1, "items": UUID}},
}
"""By suffix of the group. They are ignored, so any other keys are allowed."""

_LIST = {
    "type": "array",
    "minItems": 1,
    "items": object_of(
        {"resource_provider": object_of({"uuid": UUID}, ["uuid"]), "resources": _RESOURCES},
        ["resource_provider", "resources"],
    ),
}


def _claim(version: int, *, may_be_empty: bool) -> dict[str, Any]:
    """Returns one consumer's part: by provider, with owner, generation (1.28), mappings (1.34) and type (1.38)."""
    of_provider = object_of({"generation": {"type": "integer"}, "resources": _RESOURCES}, ["resources"])
    properties: dict[str, Any] = {
        "allocations": map_of(UUID_KEY, of_provider, 0 if may_be_empty else 1),
        "project_id": OWNER,
        "user_id": OWNER,
    }
    required = ["allocations", "project_id", "user_id"]
    if version >= 28:
        properties["consumer_generation"] = _GENERATION
        required.append("consumer_generation")
    if version >= 34:
        properties["mappings"] = _MAPPINGS
    if version >= 38:
        properties["consumer_type"] = _TYPE
        required.append("consumer_type")
    return object_of(properties, required)


def _put(since: int) -> dict[str, Any]:
    if since >= 12:
        return _claim(since, may_be_empty=since >= 28)
    properties = {"allocations": _LIST, **({"project_id": OWNER, "user_id": OWNER} if since >= 8 else {})}
    return object_of(properties, list(properties))


put = versioned(_put, 0, 8, 12, 28, 34, 38)
"""The body of PUT /allocations/{consumer_uuid}."""


def _by_consumer(since: int, minimum: int) -> dict[str, Any]:
    return map_of(UUID_KEY, _claim(since, may_be_empty=True), minimum)


post = versioned(lambda since: _by_consumer(since, 1), 13, 28, 34, 38)
"""The body of POST /allocations."""


def _post_reshape(since: int) -> dict[str, Any]:
    shape = {"resource_provider_generation": GENERATION, "inventories": INVENTORIES}
    shapes = map_of(UUID_KEY, object_of(shape, list(shape)), 1)
    properties = {"inventories": shapes, "allocations": _by_consumer(since, 0)}
    return object_of(properties, list(properties))


post_reshape = versioned(_post_reshape, 30, 34, 38)
"""The body of POST /reshaper."""
