"""Queries about usages and usage groups, and the body of project quotas."""

from limes.placement.objects.usage import GroupBy
from limes.placement.schemas.common import CLASS_KEY, OWNER, Schema, map_of, object_of, versioned

_FIELDS = {"project_id": OWNER, "user_id": OWNER}
_TYPE = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[A-Z0-9_]+$|^all$|^unknown$"}
query = versioned(
    lambda since: object_of({**_FIELDS, "consumer_type": _TYPE} if since >= 38 else _FIELDS, ["project_id"]), 0, 38
)
"""The query of GET /usages."""

GROUPS_QUERY = Schema(
    object_of(
        {
            "group_by": {"enum": [choice.value for choice in GroupBy]},
            "project_id": OWNER,
            "resource_classes": {"type": "string", "pattern": "^[A-Z0-9_]+(,[A-Z0-9_]+)*$"},
            "member_of": {"type": "string", "minLength": 1},
            "limit": {"type": "string", "pattern": "^[1-9][0-9]{0,8}$"},
            "marker": OWNER,
        },
        ["group_by"],
    )
)
"""The query of GET /usage_groups."""

_QUOTA = object_of(
    {
        # one schema instead of two alternatives, because errors in alternatives are reported without their place
        "limit": {"type": ["integer", "null"], "minimum": 0, "maximum": 2**63 - 1},
        "used": {"type": "integer"},
    },
    ["limit"],
)

PUT_QUOTAS = Schema(object_of({"quotas": map_of(CLASS_KEY, _QUOTA)}, ["quotas"]))
"""The body of PUT /quotas/{project_id}. `used` is ignored: clients may send what they got."""
