"""JSON schemas of bodies and answers, and the other parts that operations share."""

import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, TypeAdapter

from limes.api.openapi.operations import Operation

Json = dict[str, Any]

PARTS: Json = {
    "headers": {
        "RequestId": {"description": "The id of this request in the log.", "schema": {"type": "string"}},
        "ETag": {
            "description": "Stands for all quotas, and bursting; not for usage.",
            "schema": {"type": "string", "pattern": '^"[0-9a-f]+"$'},
        },
        "RetryAfter": {"description": "Seconds to wait.", "schema": {"type": "string", "pattern": "^[0-9]+$"}},
        "Challenge": {"description": "Where tokens are given out.", "schema": {"type": "string"}},
    }
}

_PATH = {
    "domain_id": "Id of a domain in Keystone.",
    "project_id": "Id of a project in Keystone.",
    "service_type": "Type of a service.",
    "resource_name": "Name of a resource.",
}
_REFERENCE = "#/components/schemas/{model}"


def path_parameters(path: str) -> list[Json]:
    """Those that the path names."""
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PATH.get(name, "Number of a commitment."),
            "schema": {"type": "integer", "minimum": 1} if name == "id" else {"type": "string", "minLength": 1},
        }
        for name in re.findall(r"{(\w+)}", path)
    ]


def schemas_of(operations: Iterable[Operation]) -> Json:
    """Schemas by the names of the types. What an answer holds is all listed: nothing else may be in it."""
    bodies: dict[str, type[BaseModel]] = {}
    answers: dict[str, Any] = {}
    for operation in operations:
        if operation.body is not None:
            bodies[operation.body.__name__] = operation.body
        for shape in operation.answers.values():
            if hasattr(shape, "__required_keys__"):
                answers[shape.__name__] = shape
    schemas: Json = {}
    for shape in answers.values():
        schemas |= _definitions(TypeAdapter(shape), shape.__name__)
    for schema in schemas.values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    for body in bodies.values():
        schemas |= _definitions(TypeAdapter(body), body.__name__)
    return dict(sorted(schemas.items()))


def _definitions(adapter: TypeAdapter[Any], name: str) -> Json:
    schema = adapter.json_schema(ref_template=_REFERENCE)
    definitions: Json = schema.pop("$defs", {})
    return definitions | ({} if "$ref" in schema else {name: schema})
