"""Bodies and queries about traits and resource classes."""

from limes.placement.schemas.common import GENERATION, Schema, object_of

TRAIT_NAME = Schema({"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^CUSTOM_[A-Z0-9_]+\Z"})
"""The name of a custom trait."""

PUT_TRAITS = Schema(
    object_of(
        {
            "traits": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 255},
            },
            "resource_provider_generation": GENERATION,
        },
        ["traits", "resource_provider_generation"],
    )
)

TRAITS_QUERY = Schema(object_of({"name": {"type": "string"}, "associated": {"type": "string"}}))


_CLASS_NAME = {"type": "string", "pattern": r"^CUSTOM\_[A-Z0-9_]+\Z", "maxLength": 255}

CLASS = Schema(object_of({"name": _CLASS_NAME}, ["name"]))
"""The body of POST /resource_classes, of PUT /resource_classes/{name} below 1.7; and what its URL says from 1.7."""
