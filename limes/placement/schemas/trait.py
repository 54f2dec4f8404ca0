"""Bodies and queries about traits."""

from limes.placement.schemas.common import GENERATION, Schema, object_of

NAME = Schema({"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^CUSTOM_[A-Z0-9_]+\Z"})
"""The name of a custom trait."""

PUT_OF_PROVIDER = Schema(
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

LIST_QUERY = Schema(object_of({"name": {"type": "string"}, "associated": {"type": "string"}}))
