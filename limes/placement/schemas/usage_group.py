"""Queries about usage groups, our extension."""

from limes.placement.objects.usage_group import GroupBy
from limes.placement.schemas.common import OWNER, Schema, object_of

QUERY = Schema(
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
