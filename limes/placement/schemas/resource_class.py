"""Bodies about resource classes."""

from limes.placement.schemas.common import Schema, object_of

_NAME = {"type": "string", "pattern": r"^CUSTOM\_[A-Z0-9_]+\Z", "maxLength": 255}

NAMED = Schema(object_of({"name": _NAME}, ["name"]))
"""The body of POST /resource_classes, of PUT /resource_classes/{name} below 1.7; and what its URL says from 1.7."""
