"""JSON schemas, compiled once, with the wording of the jsonschema library: clients and their tests know it."""

import re
import uuid
from typing import Any

import jsonschema
from jsonschema.exceptions import best_match

_MAX_PROBLEM = 4000

_formats = jsonschema.FormatChecker(formats=())


@_formats.checks("uuid")
def _is_uuid(value: object) -> bool:
    return not isinstance(value, str) or normalized_uuid(value) is not None


def normalized_uuid(value: str) -> str | None:
    """The UUID in lower case with dashes, or None if it is not one. Dashes, braces and `urn:uuid:` may be there."""
    digits = value.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "")
    try:
        return str(uuid.UUID(digits))
    except ValueError:
        return None


class Schema:
    """A compiled JSON schema."""

    def __init__(self, document: dict[str, Any]) -> None:
        jsonschema.Draft202012Validator.check_schema(document)
        self.document = document
        self._validator = jsonschema.Draft202012Validator(document, format_checker=_formats)

    def problem(self, instance: Any) -> str | None:
        """What is wrong with the document, in one line, or None."""
        if self._validator.is_valid(instance):
            return None
        error = best_match(self._validator.iter_errors(instance))
        return " ".join(re.sub(r"\n", " ", str(error)).split(" "))[:_MAX_PROBLEM]


UUID = {"type": "string", "format": "uuid"}
UUID_KEY = "^[0-9a-fA-F-]{36}$"
CLASS_KEY = "^[A-Z0-9_]+$"
GENERATION = {"type": "integer"}
OWNER = {"type": "string", "minLength": 1, "maxLength": 255}
MAX_INT = 2147483647


def object_of(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    """The schema of an object that has these properties and no others."""
    document: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        document["required"] = required
    document["additionalProperties"] = False
    return document
