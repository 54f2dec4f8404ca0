"""Bodies about project quotas, our extension."""

from limes.placement.schemas.common import CLASS_KEY, Schema, object_of

_ONE = object_of(
    {
        # one schema instead of two alternatives: what is wrong with an alternative would be told without its place
        "limit": {"type": ["integer", "null"], "minimum": 0, "maximum": 2**63 - 1},
        "used": {"type": "integer"},
    },
    ["limit"],
)

PUT = Schema(
    object_of(
        {"quotas": {"type": "object", "patternProperties": {CLASS_KEY: _ONE}, "additionalProperties": False}},
        ["quotas"],
    )
)
"""The body of PUT /quotas/{project_id}. `used` may be there, as in what GET answers, and is ignored."""
