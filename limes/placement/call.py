"""What Placement's handlers work with: the collaborators, one request, and their answer."""

import logging
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

import falcon
import orjson
import peewee
from msgspec import Struct, field

from limes.auth.context import Authenticator, Identity
from limes.auth.policy import Policy
from limes.db.engine import Engine
from limes.db.failures import first_line
from limes.kernel.errors import Forbidden
from limes.kernel.system import Clock, IdSource
from limes.placement import errors, schemas
from limes.placement.search import memory, values
from limes.placement.settings import PlacementSettings
from limes.web import call as web
from limes.web import middleware

if TYPE_CHECKING:  # its metrics begin with the import: gunicorn's main process first has to empty their folder
    from limes.placement.index import ProviderIndex

T = TypeVar("T")
log = logging.getLogger(__name__)
_TRIES = 5


class PlacementPolicy(Policy):
    """The rules in force, which `limes.placement.routes` has."""

    def check(self, rule: str, identity: Identity, project_id: str | None = None) -> None:
        """Raises `Forbidden` unless `identity` passes the rule. `project_id` is the project that is asked about, empty
        if there is none; None for operations that are about no project, where it is the identity's own."""
        target = {"project_id": identity.project_id if project_id is None else project_id}
        if identity.system_scope or identity.domain_id or not self.allows(rule, identity, target):
            raise Forbidden(f"Policy does not allow {rule} to be performed.")


class PlacementCollaborators(Struct, frozen=True):
    """Everything that handlers may use. `limes.app.composition` builds it from the configuration."""

    engine: Engine
    index: "ProviderIndex"
    authenticator: Authenticator
    policy: PlacementPolicy
    clock: Clock
    ids: IdSource
    settings: PlacementSettings
    client_address: middleware.ClientAddress = field(default_factory=middleware.ClientAddress)
    answers: memory.AnswerMemory = field(default_factory=memory.AnswerMemory)


class Answer(web.Answer, frozen=True):
    """What a handler answers: a `document`, or `data`, or nothing but a status."""

    location: str | None = None
    """A path of this API, which becomes an absolute URL."""
    last_modified: float | None = None
    """Seconds since the epoch. Sent from microversion 1.15, with `cache-control: no-cache`."""


class Call(web.Call[PlacementCollaborators]):
    """One request, with the microversion agreed on."""

    version: int
    now: float
    """When the request came in, in seconds since the epoch."""

    @property
    def engine(self) -> Engine:
        return self.deps.engine

    @property
    def prefix(self) -> str:
        """Where the API is mounted, by the server and by the settings: links and locations begin with it."""
        root, prefix = unquote(self.req.root_path), self.deps.settings.prefix
        return root if prefix and root.endswith(prefix) else root + prefix

    def transaction(self, work: Callable[[], T]) -> T:
        """Runs `work` in a transaction, as `Engine.atomic` does, and again if it violates a constraint. `work` looks
        before it writes, so a violation means that another request was faster. The next run sees what that request
        wrote. Raises `ConcurrentUpdate` if others are faster each time."""
        for _ in range(_TRIES):
            try:
                return self.engine.atomic(work)
            except peewee.IntegrityError as error:
                log.info("%s %s: another request was faster: %s", self.req.method, self.req.path, first_line(error))
        raise errors.ConcurrentUpdate("Others keep changing what this is about; try again.")

    def latest(self, items: Iterable[Any]) -> float:
        return max((item.updated for item in items), default=self.now)

    def authorize(self, project_id: str | None = None) -> None:
        """Raises `Forbidden` unless the caller may do this to what belongs to `project_id`."""
        assert self.rule is not None
        self.deps.policy.check(self.rule, self.identity, project_id)

    def body(self, schema: schemas.Schema) -> Any:
        """Returns the JSON body, valid by the schema. Raises `InvalidBody`, or 413."""
        bounds = self.deps.settings.bounds
        data = web.read_body(self.req, bounds.max_body_size)
        if data is None:
            raise falcon.HTTPContentTooLarge(description=f"The body may have at most {bounds.max_body_size} bytes.")
        if rb"\u0000" in data:
            raise errors.InvalidBody("Malformed JSON: the character NUL is not allowed")
        try:
            document = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise errors.InvalidBody(f"Malformed JSON: {error}") from None
        problem = schemas.oversize(document, bounds.max_items, bounds.max_keys, bounds.max_values) or schema.problem(
            document
        )
        if problem is not None:
            raise errors.InvalidBody(f"JSON does not validate: {problem}")
        return document

    def parameters(self) -> dict[str, str]:
        """Returns the query string's parameters. Where one is repeated, the last one counts."""
        return dict(values.parse_pairs(self.req.query_string))

    def query(self, schema: schemas.Schema) -> dict[str, str]:
        """Returns the query string's parameters, valid by the schema. Raises `InvalidBody`."""
        parameters = self.parameters()
        problem = schema.problem(parameters)
        if problem is not None:
            raise errors.InvalidBody(f"Invalid query string parameters: {problem}")
        return parameters


def transactional(handler: Callable[[Call], Answer]) -> Callable[[Call], Answer]:
    """For a handler whose whole work is a transaction, because it reads no body: see `Call.transaction`."""

    @wraps(handler)
    def handle(call: Call) -> Answer:
        return call.transaction(partial(handler, call))

    return handle
