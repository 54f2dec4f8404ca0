"""Queries about usages."""

from limes.placement.schemas.common import OWNER, Schema, object_of

_FIELDS = {"project_id": OWNER, "user_id": OWNER}
_TYPE = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[A-Z0-9_]+$|^all$|^unknown$"}

_QUERY = Schema(object_of(_FIELDS, ["project_id"]))
_QUERY_38 = Schema(object_of({**_FIELDS, "consumer_type": _TYPE}, ["project_id"]))


def query(version: int) -> Schema:
    """The query of GET /usages; with a consumer type from 1.38."""
    return _QUERY_38 if version >= 38 else _QUERY
