"""Bodies about resource providers."""

from limes.placement.schemas.common import UUID, Schema, object_of

_NAME = {"type": "string", "maxLength": 200}
_PARENT = {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}

_POST = Schema(object_of({"name": _NAME, "uuid": UUID}, ["name"]))
_POST_14 = Schema(object_of({"name": _NAME, "uuid": UUID, "parent_provider_uuid": _PARENT}, ["name"]))
_PUT = Schema(object_of({"name": _NAME}, ["name"]))
_PUT_14 = Schema(object_of({"name": _NAME, "parent_provider_uuid": _PARENT}, ["name"]))


def post(version: int) -> Schema:
    """The body of POST /resource_providers; with a parent from 1.14."""
    return _POST_14 if version >= 14 else _POST


def put(version: int) -> Schema:
    """The body of PUT /resource_providers/{uuid}; with a parent from 1.14."""
    return _PUT_14 if version >= 14 else _PUT
