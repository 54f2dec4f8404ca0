"""Request bodies: from JSON to frozen types, or `BadRequest` that says where and what is wrong.

Lenient where the original is: unknown keys, `null` and `{}` are accepted, and a repeated service or resource replaces
the earlier one. Strict where a mistake would change quota: a missing amount is not zero.
"""

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

import falcon
import orjson
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from limes.actions.quota import QuotaChange
from limes.errors import BadRequest


class RequestBody(BaseModel):
    """A part of a document. What clients send beyond it is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class ResourceBody(RequestBody):
    """A wanted quota. No unit, `null` or `UNSPECIFIED` mean the resource's own; the empty string means "counted"."""

    name: StrictStr
    quota: Annotated[StrictInt, Field(ge=0)]
    unit: StrictStr | None = None


class ServiceBody(RequestBody):
    """Wanted quotas of a service."""

    type: StrictStr
    resources: tuple[ResourceBody, ...] | None = None


class BurstingBody(RequestBody):
    """Whether bursting is wanted."""

    enabled: Annotated[bool, Field(strict=True)]


class DomainScopeBody(RequestBody):
    """What is wanted of a domain."""

    services: tuple[ServiceBody, ...] | None = None


class DomainQuotaBody(RequestBody):
    """The document of PUT and simulate-put of a domain."""

    domain: DomainScopeBody | None = None


class ProjectScopeBody(DomainScopeBody):
    """What is wanted of a project: quotas or bursting."""

    bursting: BurstingBody | None = None


class ProjectQuotaBody(RequestBody):
    """The document of PUT and simulate-put of a project."""

    project: ProjectScopeBody | None = None


def read_json(req: falcon.Request, max_size: int) -> Any:
    """The document in a request's body. Raises `BadRequest`, and falcon's 413 for a body above `max_size` bytes."""
    if (req.content_length or 0) > max_size:
        raise falcon.HTTPContentTooLarge(description=f"request body is too large: the limit is {max_size} bytes")
    # a body in chunks comes without its length, and falcon takes that for an empty one
    chunked = req.content_length is None and "HTTP_TRANSFER_ENCODING" in req.env
    stream: Any = req.env["wsgi.input"] if chunked else req.bounded_stream
    raw = stream.read(max_size + 1)
    if len(raw) > max_size:
        raise falcon.HTTPContentTooLarge(description=f"request body is too large: the limit is {max_size} bytes")
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"request body is not valid JSON: {error}") from None


Body = TypeVar("Body", bound=BaseModel)


def read_domain_quotas(document: Any) -> DomainScopeBody:
    """What is wanted of a domain; nothing if the document does not say. Raises `BadRequest`."""
    return parse_body(DomainQuotaBody, {} if document is None else document).domain or DomainScopeBody()


def read_project_quotas(document: Any) -> ProjectScopeBody:
    """What is wanted of a project; nothing if the document does not say. Raises `BadRequest`."""
    return parse_body(ProjectQuotaBody, {} if document is None else document).project or ProjectScopeBody()


def parse_body(model: type[Body], document: Any) -> Body:
    """The document as a frozen value. Raises `BadRequest`, which says where and what is wrong."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        lines = "; ".join(_problem(item["loc"], item["type"], item["msg"]) for item in error.errors(include_url=False))
        raise BadRequest(f"request body is not valid JSON: {lines}") from None


_EXPECTED = {"model_type": "expected an object", "tuple_type": "expected a list"}


def _problem(path: tuple[int | str, ...], kind: str, message: str) -> str:
    """Where and what, in the terms of JSON and not in those of our classes."""
    return f"{'.'.join(str(part) for part in path) or 'document'}: {_EXPECTED.get(kind, message)}"


def quota_changes(services: Iterable[ServiceBody]) -> list[QuotaChange]:
    """The wanted quotas, the last one where a service or resource is repeated."""
    last = {service.type: service for service in services}
    changes = {}
    for service in last.values():
        for resource in service.resources or ():
            ref = (service.type, resource.name)
            unit = None if resource.unit == "UNSPECIFIED" else resource.unit
            changes[ref] = QuotaChange(ref, resource.quota, unit)
    return list(changes.values())
