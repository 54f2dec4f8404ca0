"""One request as handlers see it, and their answer. Handlers know nothing else of HTTP: they answer or raise."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import unquote

import falcon
import orjson
import peewee

from limes.auth.context import Identity
from limes.db.engine import Engine
from limes.db.failures import first_line
from limes.placement.collaborators import PlacementCollaborators
from limes.placement.errors import ConcurrentUpdate, InvalidBody, TooLarge
from limes.placement.schemas.common import Schema, oversize
from limes.placement.search.querystring import last_values, parse_pairs

T = TypeVar("T")
log = logging.getLogger(__name__)
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler answers. Without a document the answer has no body."""

    status: int = 200
    document: Any = None
    data: bytes | None = None
    """The body, for those who render JSON themselves; instead of `document`."""
    location: str | None = None
    """A path of this API, which becomes an absolute URL."""
    last_modified: float | None = None
    """Seconds since the epoch. Sent from microversion 1.15, with `cache-control: no-cache`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What else clients are told."""


@dataclass(slots=True)
class Call:
    """One request: the microversion agreed on, who asks, and what for."""

    req: falcon.Request
    deps: PlacementCollaborators
    version: int
    identity: Identity
    params: Mapping[str, str]
    """The variable parts of the path."""
    rule: str
    """The policy rule that belongs to the operation."""
    now: float = field(default=0.0)
    """When the request came in, in seconds since the epoch."""

    @property
    def engine(self) -> Engine:
        """The database."""
        return self.deps.engine

    @property
    def prefix(self) -> str:
        """What links and locations begin with: where the API is mounted."""
        return root_path(self.req, self.deps.settings.prefix)

    def transaction(self, work: Callable[[], T]) -> T:
        """Runs `work` in a transaction, as `Engine.atomic` does, and again if it violates a constraint.

        It looks before it writes, so somebody else was faster: the next run finds what they did, and says so. Raises
        `ConcurrentUpdate` if somebody is faster each time.
        """
        for _ in range(_TRIES):
            try:
                return self.engine.atomic(work)
            except peewee.IntegrityError as error:
                log.info("%s %s: somebody was faster: %s", self.req.method, self.req.path, first_line(error))
        raise ConcurrentUpdate("Others keep changing what this is about; try again.")

    def authorize(self, project_id: str | None = None) -> None:
        """Raises `Forbidden` unless the policy lets the identity do this to what belongs to `project_id`."""
        self.deps.policy.check(self.rule, self.identity, project_id)

    def body(self, schema: Schema) -> Any:
        """The JSON body, valid by the schema. Raises `InvalidBody` or `TooLarge`."""
        document = self.json()
        bounds = self.deps.settings.bounds
        problem = oversize(document, bounds.max_items, bounds.max_keys, bounds.max_values) or schema.problem(document)
        if problem is not None:
            raise InvalidBody(f"JSON does not validate: {problem}")
        return document

    def json(self) -> Any:
        """The JSON body. Raises `InvalidBody` or `TooLarge`."""
        data = read_body(self.req, self.deps.settings.bounds.max_body_size)
        if rb"\u0000" in data:
            raise InvalidBody("Malformed JSON: the character NUL is not allowed")
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise InvalidBody(f"Malformed JSON: {error}") from None

    def parameters(self) -> dict[str, str]:
        """The query string's parameters. Where one is repeated, the last one counts."""
        return last_values(parse_pairs(self.req.query_string))

    def query(self, schema: Schema) -> dict[str, str]:
        """The query string's parameters, valid by the schema. Raises `InvalidBody`."""
        found = self.parameters()
        problem = schema.problem(found)
        if problem is not None:
            raise InvalidBody(f"Invalid query string parameters: {problem}")
        return found


def read_body(req: falcon.Request, limit: int) -> bytes:
    """At most `limit` bytes of body. Raises `TooLarge` beyond. A body in chunks comes without its length."""
    length = req.content_length
    if length is not None and length > limit:
        raise TooLarge(f"The body may have at most {limit} bytes.")
    chunked = length is None and "HTTP_TRANSFER_ENCODING" in req.env
    stream: Any = req.env["wsgi.input"] if chunked else req.bounded_stream
    data: bytes = stream.read(limit + 1)
    if len(data) > limit:
        raise TooLarge(f"The body may have at most {limit} bytes.")
    return data


def root_path(req: falcon.Request, prefix: str) -> str:
    """Where the API is mounted, as links have to begin with: the server's mount point and the configured prefix."""
    root = unquote(req.root_path)
    return root if prefix and root.endswith(prefix) else root + prefix
