"""Request bodies: from JSON to frozen values, or `BadRequest` that says where and what is wrong."""

from typing import TypeVar

import falcon
import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from limes.errors import BadRequest
from limes.web.call import read_body


class RequestBody(BaseModel):
    """A document, or a part of one. Keys that are not known are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


Body = TypeVar("Body", bound=RequestBody)


def read_document(req: falcon.Request, model: type[Body], max_size: int) -> Body:
    """The document in a request's body. Raises `BadRequest`, and falcon's 413 for a body above `max_size` bytes."""
    data = read_body(req, max_size)
    if data is None:
        raise falcon.HTTPContentTooLarge(description=f"request body is too large: the limit is {max_size} bytes")
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"request body is not valid JSON: {error}") from None
    try:
        return model.model_validate(document)
    except ValidationError as error:
        problems = "; ".join(
            _problem(item["loc"], item["type"], item["msg"]) for item in error.errors(include_url=False)
        )
        raise BadRequest(f"request body is not valid JSON: {problems}") from None


_EXPECTED = {"model_type": "expected an object", "tuple_type": "expected a list"}


def _problem(path: tuple[int | str, ...], kind: str, message: str) -> str:
    """Where and what, in the terms of JSON instead of those of our classes."""
    return f"{'.'.join(str(part) for part in path) or 'document'}: {_EXPECTED.get(kind, message)}"
