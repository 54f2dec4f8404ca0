"""The OpenAPI document of the Limes API: paths from the table, summaries from docstrings, schemas from types."""

import re
from collections.abc import Collection, Iterable, Mapping
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, TypeAdapter

from limes.api.call import Operation
from limes.api.parameters import CLUSTER
from limes.auth.policy import Rule
from limes.kernel.validation.shape import Shape
from limes.web.call import Html
from limes.web.operation import Table, operations_of

Json = dict[str, Any]
_PLAIN, _CSV, _PAGE = ({f"text/{kind}": {"schema": {"type": "string"}}} for kind in ("plain", "csv", "html"))
_TEXTS: Mapping[Any, Json] = {str: _PLAIN, Html: _PAGE}
_DESCRIPTION = """\
Quota, usage and commitments of a cloud: what docs/limes-api.md and docs/commitments.md say, for machines.

Every GET may be asked by HEAD as well. Errors are plain texts of one or more lines.
"""
_PARTS: Json = {
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

_PATH_VARIABLES = {
    "domain_id": "Id of a domain in Keystone.",
    "project_id": "Id of a project in Keystone.",
    "service_type": "Type of a service.",
    "resource_name": "Name of a resource.",
}


def build(sections: Mapping[str, Table[Operation]], rules: Collection[Rule]) -> Json:
    """Returns the document. `sections` become tags; `rules` say which requests they guard."""
    paths: dict[str, Json] = {}
    for tag, table in sections.items():
        for path, operations in table.items():
            item = paths[path] = {"parameters": _path_parameters(path)} if "{" in path else {}
            for method, operation in operations.items():
                guards = [rule.name for rule in rules if (method, path) in rule.operations]
                item[method.lower()] = _operation(tag, operation, guards)
    every_operation = [operation for table in sections.values() for _, _, operation in operations_of(table)]
    return {
        "openapi": "3.1.0",
        "info": {"title": "Limes Resource API", "version": "1", "description": _DESCRIPTION},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"}},
            "schemas": _schemas(every_operation),
            "responses": _errors(every_operation),
            **_PARTS,
        },
    }


def _operation(tag: str, operation: Operation, rules: Collection[str]) -> Json:
    handler = operation.handler
    summary, _, details = (operation.summary or handler.__doc__ or "").strip().partition("\n")
    description = " ".join(details.split()) + (f" Policy rules: {', '.join(rules)}." if rules else "")
    document: Json = {
        "operationId": f"{tag}.{operation.name or handler.__name__}",
        "tags": [tag],
        "summary": summary,
        "parameters": [
            {
                "name": parameter.name,
                "in": parameter.place,
                "description": parameter.description,
                "schema": parameter.schema(),
                **({"allowEmptyValue": True} if parameter.place == "query" else {}),
            }
            for parameter in (*operation.parameters, CLUSTER)
        ],
        "responses": _responses(operation),
    }
    if description:
        document["description"] = description.strip()
    if operation.body is not None:
        document["requestBody"] = {"required": True, "content": _json(operation.body)}
    return document | ({"security": []} if operation.public else {})


def _responses(operation: Operation) -> Json:
    errors = {400, *operation.errors}
    if not operation.public:
        errors |= {401, 403, 500, 503}
    if operation.body is not None:
        errors.add(413)
    responses: dict[str, Json] = {}
    for status in sorted({*operation.answers, *errors}):
        if status not in operation.answers:
            responses[str(status)] = {"$ref": f"#/components/responses/{status}"}
            continue
        shape = operation.answers[status]
        content = {} if shape is None else _TEXTS.get(shape) or _json(shape)
        if operation.csv and status == 200:
            content = content | _CSV
        if status in errors or status >= 400:
            content = content | _PLAIN
        headers = {"x-openstack-request-id": {"$ref": "#/components/headers/RequestId"}}
        if operation.tagged:
            headers["etag"] = {"$ref": "#/components/headers/ETag"}
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "headers": headers}
        if content:
            responses[str(status)]["content"] = content
    return responses


def _errors(operations: Iterable[Operation]) -> Json:
    responses: Json = {}
    of_operations = {status for operation in operations for status in operation.errors}
    for status in sorted({400, 401, 403, 413, 500, 503} | of_operations):
        headers = {"x-openstack-request-id": {"$ref": "#/components/headers/RequestId"}}
        if status == 401:
            headers["www-authenticate"] = {"$ref": "#/components/headers/Challenge"}
        if status == 503:
            headers["retry-after"] = {"$ref": "#/components/headers/RetryAfter"}
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "headers": headers, "content": _PLAIN}
    return responses


def _json(shape: Any) -> Json:
    name = getattr(shape, "__name__", "")
    is_named = _is_shape(shape) or (isinstance(shape, type) and issubclass(shape, BaseModel))
    schema: Mapping[str, Any] = (
        {"$ref": f"#/components/schemas/{name}"} if is_named else TypeAdapter(shape).json_schema()
    )
    return {"application/json": {"schema": schema}}


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, Shape)


def _path_parameters(path: str) -> list[Json]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PATH_VARIABLES.get(name, "Number of a commitment."),
            "schema": {"type": "integer", "minimum": 1} if name == "id" else {"type": "string", "minLength": 1},
        }
        for name in re.findall(r"{(\w+)}", path)
    ]


def _schemas(operations: Collection[Operation]) -> Json:
    """Schemas by the names of the types. Answers have only the fields that are listed."""
    answers = [shape for operation in operations for shape in operation.answers.values() if _is_shape(shape)]
    schemas: Json = {}
    for shape in dict.fromkeys(answers):
        schemas |= _definitions(shape)
    for schema in schemas.values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    for body in dict.fromkeys(operation.body for operation in operations if operation.body is not None):
        schemas |= _definitions(body)
    return dict(sorted(schemas.items()))


def _definitions(shape: Any) -> Json:
    schema = TypeAdapter(shape).json_schema(ref_template="#/components/schemas/{model}")
    definitions: Json = schema.pop("$defs", {})
    return definitions | ({} if "$ref" in schema else {shape.__name__: schema})
