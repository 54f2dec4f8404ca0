"""A request as handlers see it, its body, and their answer. They know nothing else of HTTP: they answer or raise."""

import itertools
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, Generic, TypeVar

import falcon
import orjson
from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict, ValidationError

from limes.auth.context import Identity
from limes.kernel.errors import BadRequest

Deps = TypeVar("Deps")
_ANYBODY = Identity(user_id="")
_EXPECTED = {"model_type": "expected an object", "dict_type": "expected an object", "tuple_type": "expected a list"}


class Call(Struct, Generic[Deps]):
    """One request. Each API has a subclass, with what else its handlers need."""

    req: falcon.Request
    deps: Deps
    rule: str | None
    """The policy rule of the operation; None if there is none."""
    params: Mapping[str, str]
    identity: Identity

    @abstractmethod
    def authorize(self) -> None:
        """Raises `Forbidden` unless the caller passes the operation's rule."""


def identity_of(req: falcon.Request) -> Identity:
    """Returns the caller, from the token; an empty identity where no token is needed."""
    return getattr(req.context, "identity", _ANYBODY)


class Html(str):
    """Stands in tables of operations for a page."""


class Answer(Struct, frozen=True):
    """What a handler answers: one of `document`, `data`, `stream`, `text` and `page`, or nothing but a status."""

    status: int = 200
    document: Any = None
    """Becomes JSON."""
    data: bytes | None = None
    """JSON that the handler has rendered itself."""
    stream: "BodyStream | None" = None
    """A body that is rendered while it is sent: JSON, or of another `media_type`."""
    media_type: str = falcon.MEDIA_JSON
    """Of `stream`."""
    text: str | None = None
    page: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class BodyStream:
    """An answer's body that is made while it is sent, because it is too large for memory.

    The first part is made at once, so an early failure gets a status of its own. A later failure breaks the connection
    off: the client sees an answer without an end and never takes it for a whole one.

    The server always calls `close()`: after the last part, after an error, and when the client has gone away. Until
    then the parts may use what `on_close` gives back, such as the request's database connection."""

    def __init__(self, parts: Generator[bytes, None, None]) -> None:
        self._parts = parts
        self._closers: list[Callable[[], object]] = []
        self._is_closed = False
        self._encoding: Callable[[Iterator[bytes]], Iterator[bytes]] = iter
        self.sent = 0
        """How many bytes the server has taken."""
        self._first = next(parts, b"")

    def __iter__(self) -> Iterator[bytes]:
        for part in self._encoding(itertools.chain([self._first], self._parts)):
            self.sent += len(part)
            yield part

    def encode(self, encoding: Callable[[Iterator[bytes]], Iterator[bytes]]) -> None:
        """Sends what `encoding` makes of the parts. To be called before anything is read."""
        self._encoding = encoding

    def on_close(self, action: Callable[[], object]) -> None:
        """Runs `action` when nothing more will be read; at once if that is already so."""
        if self._is_closed:
            action()
        else:
            self._closers.append(action)

    def close(self) -> None:
        self._is_closed = True
        closers, self._closers = self._closers, []
        try:
            self._parts.close()
        finally:
            for action in closers:
                action()


def read_body(req: falcon.Request, limit: int) -> bytes | None:
    """Returns the request's body, or None if it has more than `limit` bytes."""
    length = req.content_length
    if length is not None and length > limit:
        return None
    # a chunked body has no length, which Falcon takes for an empty body
    is_chunked = length is None and "HTTP_TRANSFER_ENCODING" in req.env
    stream: Any = req.env["wsgi.input"] if is_chunked else req.bounded_stream
    data: bytes = stream.read(limit + 1)
    return data if len(data) <= limit else None


class RequestBody(BaseModel):
    """A document, or a part of one. Keys that are not known are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


Body = TypeVar("Body", bound=RequestBody)


def read_document(req: falcon.Request, model: type[Body], max_size: int) -> Body:
    """Returns the document in a request's body. Raises `BadRequest`, and falcon's 413 above `max_size` bytes."""
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
        # in the terms of JSON instead of those of our classes
        problems = [
            f"{'.'.join(map(str, item['loc'])) or 'document'}: {_EXPECTED.get(item['type'], item['msg'])}"
            for item in error.errors(include_url=False)
        ]
        raise BadRequest(f"request body is not valid JSON: {'; '.join(problems)}") from None
