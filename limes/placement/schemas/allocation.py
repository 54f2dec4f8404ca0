"""Bodies about allocations, and the reshaper's. They grew with the microversions; each form is compiled once."""

from functools import cache
from typing import Any

from limes.placement.schemas import inventory
from limes.placement.schemas.common import CLASS_KEY, GENERATION, OWNER, UUID, UUID_KEY, Schema, object_of

# no maximum: more than any inventory can give is a conflict, not a malformed body
_AMOUNT = {"type": "integer", "minimum": 1}
_RESOURCES = {
    "type": "object",
    "minProperties": 1,
    "patternProperties": {CLASS_KEY: _AMOUNT},
    "additionalProperties": False,
}
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


def _by_provider(minimum: int) -> dict[str, Any]:
    of_provider = object_of({"generation": {"type": "integer"}, "resources": _RESOURCES}, ["resources"])
    return {
        "type": "object",
        "minProperties": minimum,
        "patternProperties": {UUID_KEY: of_provider},
        "additionalProperties": False,
    }


def _claim(version: int, *, may_be_empty: bool) -> dict[str, Any]:
    """Returns one consumer's part: from 1.12 by provider, with its owner, generation (1.28), mappings (1.34), type
    (1.38)."""
    properties: dict[str, Any] = {
        "allocations": _by_provider(0 if may_be_empty else 1),
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


def _step(version: int) -> int:
    """Returns the version that introduced the form which is valid at `version`."""
    return max(step for step in (0, 8, 12, 13, 28, 34, 38) if step <= version)


@cache
def _put(step: int) -> Schema:
    if step >= 12:
        return Schema(_claim(step, may_be_empty=step >= 28))
    if step >= 8:
        properties = {"allocations": _LIST, "project_id": OWNER, "user_id": OWNER}
        return Schema(object_of(properties, ["allocations", "project_id", "user_id"]))
    return Schema(object_of({"allocations": _LIST}, ["allocations"]))


def put(version: int) -> Schema:
    """Returns the body of PUT /allocations/{consumer_uuid}."""
    return _put(_step(version))


def _by_consumer(version: int, minimum: int) -> dict[str, Any]:
    """Returns the claims of at least `minimum` consumers, by UUID."""
    return {
        "type": "object",
        "minProperties": minimum,
        "patternProperties": {UUID_KEY: _claim(version, may_be_empty=True)},
        "additionalProperties": False,
    }


@cache
def _post(step: int) -> Schema:
    return Schema(_by_consumer(step, 1))


def post(version: int) -> Schema:
    """Returns the body of POST /allocations."""
    return _post(_step(version))


_SHAPES = {
    "type": "object",
    "minProperties": 1,
    "patternProperties": {
        UUID_KEY: object_of(
            {"resource_provider_generation": GENERATION, "inventories": inventory.BY_CLASS},
            ["resource_provider_generation", "inventories"],
        )
    },
    "additionalProperties": False,
}


@cache
def _post_reshape(step: int) -> Schema:
    properties = {"inventories": _SHAPES, "allocations": _by_consumer(step, 0)}
    return Schema(object_of(properties, ["inventories", "allocations"]))


def post_reshape(version: int) -> Schema:
    """Returns the body of POST /reshaper, which exists from 1.30; with mappings from 1.34, consumer types from 1.38."""
    return _post_reshape(38 if version >= 38 else 34 if version >= 34 else 30)
