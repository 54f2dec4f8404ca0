"""What `GET /resource_providers` has for parameters at each microversion."""

from functools import cache
from typing import Any

from limes.placement.schemas.common import UUID, Schema, object_of

_STRING = {"type": "string"}
_CHANGES = (0, 3, 4, 14, 18)
"""The microversions that changed the parameters."""


def query(version: int) -> Schema:
    """The schema of the query string at a microversion."""
    return _since(max(change for change in _CHANGES if change <= version))


@cache
def _since(version: int) -> Schema:
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
