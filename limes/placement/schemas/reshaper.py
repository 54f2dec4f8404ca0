"""The body of the reshaper."""

from functools import cache

from limes.placement.schemas import allocation, inventory
from limes.placement.schemas.common import GENERATION, UUID_KEY, Schema, object_of

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
def _post(step: int) -> Schema:
    properties = {"inventories": _SHAPES, "allocations": allocation.by_consumer(step, 0)}
    return Schema(object_of(properties, ["inventories", "allocations"]))


def post(version: int) -> Schema:
    """The body of POST /reshaper, which exists from 1.30; with mappings from 1.34, consumer types from 1.38."""
    return _post(38 if version >= 38 else 34 if version >= 34 else 30)
