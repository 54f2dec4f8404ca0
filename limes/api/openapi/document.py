"""The document itself: paths from the table of routes, summaries from the endpoints, schemas from types."""

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, TypeAdapter

from limes.api.openapi.operations import OPERATIONS, Operation
from limes.api.openapi.schemas import PARTS, path_parameters, schemas_of
from limes.api.parameters import CLUSTER, Parameter
from limes.api.policy import RULES

Json = dict[str, Any]

_METHODS = ("GET", "PUT", "POST", "DELETE", "PATCH")
_PLAIN = {"text/plain": {"schema": {"type": "string"}}}
_DESCRIPTION = """\
Quota, usage and commitments of a cloud: what docs/limes-api.md and docs/commitments.md say, for machines.

Every GET may be asked by HEAD as well. Errors are plain texts of one or more lines.
"""


def responders(routes: Iterable[tuple[str, Any, str | None]]) -> Iterator[tuple[str, str, Any]]:
    """(method, path, the endpoint's function for it) of everything that can be asked."""
    for path, endpoint, suffix in routes:
        for method in _METHODS:
            responder = getattr(endpoint, f"on_{method.lower()}" + (f"_{suffix}" if suffix else ""), None)
            if responder is not None:
                yield method, path, responder


def build(routes: Iterable[tuple[str, Any, str | None]], public_paths: frozenset[str]) -> Json:
    """The document."""
    paths: dict[str, Json] = {}
    for method, path, responder in responders(routes):
        operation = OPERATIONS.get((method, path))
        if operation is not None:
            item = paths.setdefault(path, {"parameters": path_parameters(path)} if "{" in path else {})
            item[method.lower()] = _operation(method, path, responder, operation, public=path in public_paths)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Limes Resource API", "version": "1", "description": _DESCRIPTION},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"}},
            "schemas": schemas_of(OPERATIONS.values()),
            "responses": _errors(OPERATIONS.values()),
            **PARTS,
        },
    }


def _operation(method: str, path: str, responder: Any, operation: Operation, *, public: bool) -> Json:
    summary, _, rest = (responder.__doc__ or "").strip().partition("\n")
    rules = [rule.name for rule in RULES if (method, path) in rule.operations]
    description = " ".join(rest.split()) + (f" Policy rules: {', '.join(rules)}." if rules else "")
    document: Json = {
        "operationId": responder.__qualname__,
        "tags": [operation.tag],
        "summary": summary,
        "parameters": [_parameter(one) for one in (*operation.parameters, CLUSTER)],
        "responses": _responses(operation, public=public),
    }
    if description:
        document["description"] = description.strip()
    if operation.body is not None:
        document["requestBody"] = {"required": True, "content": _json(operation.body)}
    return document | ({"security": []} if public else {})


def _responses(operation: Operation, *, public: bool) -> Json:
    errors = {400, *operation.errors}
    if not public:
        errors |= {401, 403, 500, 503}
    if operation.body is not None:
        errors.add(413)
    found: dict[str, Json] = {}
    for status in sorted({*operation.answers, *errors}):
        if status not in operation.answers:
            found[str(status)] = {"$ref": f"#/components/responses/{status}"}
            continue
        shape = operation.answers[status]
        content = {} if shape is None else _PLAIN if shape is str else _json(shape)
        if status in errors or status >= 400:
            content = content | _PLAIN
        headers = {"x-openstack-request-id": {"$ref": "#/components/headers/RequestId"}}
        if operation.tagged:
            headers["etag"] = {"$ref": "#/components/headers/ETag"}
        found[str(status)] = {"description": HTTPStatus(status).phrase, "headers": headers}
        if content:
            found[str(status)]["content"] = content
    return found


def _errors(operations: Iterable[Operation]) -> Json:
    """What goes wrong in the same way everywhere, by status."""
    found: Json = {}
    for status in sorted(
        {400, 401, 403, 413, 500, 503, *(one for operation in operations for one in operation.errors)}
    ):
        headers = {"x-openstack-request-id": {"$ref": "#/components/headers/RequestId"}}
        if status == 401:
            headers["www-authenticate"] = {"$ref": "#/components/headers/Challenge"}
        if status == 503:
            headers["retry-after"] = {"$ref": "#/components/headers/RetryAfter"}
        found[str(status)] = {"description": HTTPStatus(status).phrase, "headers": headers, "content": _PLAIN}
    return found


def _json(shape: Any) -> Json:
    name = getattr(shape, "__name__", "")
    is_named = isinstance(shape, type) and (issubclass(shape, BaseModel) or hasattr(shape, "__required_keys__"))
    schema: Mapping[str, Any] = (
        {"$ref": f"#/components/schemas/{name}"} if is_named else TypeAdapter(shape).json_schema()
    )
    return {"application/json": {"schema": schema}}


def _parameter(parameter: Parameter) -> Json:
    document: Json = {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.description,
        "schema": parameter.schema(),
    }
    return document | ({"allowEmptyValue": True} if parameter.place == "query" else {})
