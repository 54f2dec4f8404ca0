"""Bodies about inventory."""

from limes.placement.schemas.common import CLASS_KEY, GENERATION, MAX_INT, Schema, object_of

_POSITIVE = {"type": "integer", "minimum": 1, "maximum": MAX_INT}
_ANY = {"type": "integer", "minimum": 0, "maximum": MAX_INT}

_FIELDS = {
    "total": _POSITIVE,
    "reserved": _ANY,
    "min_unit": _POSITIVE,
    "max_unit": _POSITIVE,
    "step_size": _POSITIVE,
    "allocation_ratio": {"type": "number", "minimum": 0, "maximum": 3.40282e38},
}
ONE = object_of({"resource_provider_generation": GENERATION, **_FIELDS}, ["total"])
"""One inventory among several, as in PUT of all and in the reshaper."""

POST = Schema(
    object_of(
        {
            "resource_class": {"type": "string", "pattern": CLASS_KEY},
            "resource_provider_generation": GENERATION,
            **_FIELDS,
        },
        ["resource_class", "total"],
    )
)
PUT_ONE = Schema(
    object_of({"resource_provider_generation": GENERATION, **_FIELDS}, ["resource_provider_generation", "total"])
)
BY_CLASS = {"type": "object", "patternProperties": {CLASS_KEY: ONE}, "additionalProperties": False}
PUT_ALL = Schema(
    object_of(
        {"resource_provider_generation": GENERATION, "inventories": BY_CLASS},
        ["resource_provider_generation", "inventories"],
    )
)
