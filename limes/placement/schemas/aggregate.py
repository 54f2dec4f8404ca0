"""Bodies about aggregates."""

from limes.placement.schemas.common import GENERATION, UUID, Schema, object_of

_LIST = {"type": "array", "items": UUID, "uniqueItems": True}

_PUT = Schema(_LIST)
_PUT_19 = Schema(
    object_of(
        {"aggregates": _LIST, "resource_provider_generation": GENERATION},
        ["aggregates", "resource_provider_generation"],
    )
)


def put(version: int) -> Schema:
    """The body of PUT /resource_providers/{uuid}/aggregates: a list, from 1.19 an object with the generation."""
    return _PUT_19 if version >= 19 else _PUT
