"""Bodies about resource providers and their aggregates, and the query of the list of providers."""

from functools import cache
from typing import Any

from limes.placement.schemas.common import GENERATION, UUID, Schema, object_of

_NAME = {"type": "string", "maxLength": 200}
_PARENT = {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}

_POST = Schema(object_of({"name": _NAME, "uuid": UUID}, ["name"]))
_POST_14 = Schema(object_of({"name": _NAME, "uuid": UUID, "parent_provider_uuid": _PARENT}, ["name"]))
_PUT = Schema(object_of({"name": _NAME}, ["name"]))
_PUT_14 = Schema(object_of({"name": _NAME, "parent_provider_uuid": _PARENT}, ["name"]))


def post(version: int) -> Schema:
    """Returns the body of POST /resource_providers; with a parent from 1.14."""
    return _POST_14 if version >= 14 else _POST


def put(version: int) -> Schema:
    """Returns the body of PUT /resource_providers/{uuid}; with a parent from 1.14."""
    return _PUT_14 if version >= 14 else _PUT


_STRING = {"type": "string"}
_QUERY_CHANGES = (0, 3, 4, 14, 18)
"""The microversions that changed the parameters of the list."""


def list_query(version: int) -> Schema:
    """Returns the query of GET /resource_providers."""
    return _list_query(max(change for change in _QUERY_CHANGES if change <= version))


@cache
def _list_query(version: int) -> Schema:
    properties: dict[str, Any] = {"name": _STRING, "uuid": UUID}
    if version >= 3:
        properties["member_of"] = _STRING
    if version >= 4:
        properties["resources"] = _STRING
    if version >= 14:
        properties["in_tree"] = UUID
    if version >= 18:
        properties["required"] = _STRING
    return Schema(object_of(properties))


_AGGREGATES = {"type": "array", "items": UUID, "uniqueItems": True}

_PUT_AGGREGATES = Schema(_AGGREGATES)
_PUT_AGGREGATES_19 = Schema(
    object_of(
        {"aggregates": _AGGREGATES, "resource_provider_generation": GENERATION},
        ["aggregates", "resource_provider_generation"],
    )
)


def put_aggregates(version: int) -> Schema:
    """Returns the body of PUT /resource_providers/{uuid}/aggregates: a list; from 1.19 an object with generation."""
    return _PUT_AGGREGATES_19 if version >= 19 else _PUT_AGGREGATES
