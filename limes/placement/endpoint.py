"""From a row of the table of routes to a Falcon resource: what is done around each handler, in this order.

The operation's microversion (404, or 405 where that is how it is known), media types (406, 415), policy (403), handler.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import lru_cache
from typing import Any

import falcon
from falcon.constants import COMBINED_METHODS

from limes.auth.context import Identity
from limes.placement.accept import accepts_json
from limes.placement.call import Answer, Call, root_path
from limes.placement.collaborators import PlacementCollaborators
from limes.placement.document import dump
from limes.placement.errors import NotAcceptable, UnsupportedMediaType

Handler = Callable[[Call], Answer]
Responder = Callable[..., None]

_ANYBODY = Identity(user_id="")


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    handler: Handler
    rule: str | None
    """The policy rule, or None for what is open to all."""
    since: int = 0
    """The first microversion that has the operation."""
    before: int = 404
    """What it answers below that: 404 as if the path did not exist, or 405 as if the method did not."""
    body: Callable[[int], bool] = lambda version: False
    """Whether it takes a JSON body at a microversion."""
    asks_target: bool = False
    """Whether the handler itself asks the policy, because the rule wants to know the project asked about."""
    renders: bool = False
    """Whether it answers a document, so that the client has to accept JSON."""


class Endpoint:
    """The Falcon resource of one path. All methods that its operations do not have are answered with 405."""

    def __init__(self, deps: PlacementCollaborators, operations: Mapping[str, Operation]) -> None:
        self._deps = deps
        self._operations = operations
        for method in COMBINED_METHODS:
            operation = operations.get(method)
            responder = self._refuse if operation is None else self._responder(operation)
            setattr(self, f"on_{method.lower()}", responder)

    def _refuse(self, req: falcon.Request, resp: falcon.Response, **params: str) -> None:
        version: int = req.context.version
        allowed = [method for method, one in self._operations.items() if one.before != 405 or version >= one.since]
        raise falcon.HTTPMethodNotAllowed(sorted(allowed))

    def _responder(self, operation: Operation) -> Responder:
        def respond(req: falcon.Request, resp: falcon.Response, **params: str) -> None:
            version: int = req.context.version
            if version < operation.since:
                if operation.before == 405:
                    self._refuse(req, resp)
                raise falcon.HTTPNotFound()
            _check_media_types(req, operation, version)
            identity = getattr(req.context, "identity", _ANYBODY)
            now = self._deps.clock.now().timestamp()
            call = Call(req, self._deps, version, identity, params, operation.rule or "", now)
            if operation.rule is not None and not operation.asks_target:
                call.authorize()
            self._render(req, resp, version, operation.handler(call))

        return respond

    def _render(self, req: falcon.Request, resp: falcon.Response, version: int, answer: Answer) -> None:
        resp.status = falcon.code_to_http_status(answer.status)
        if answer.location is not None:
            root = root_path(req, self._deps.settings.prefix)
            resp.set_header("location", f"{req.scheme}://{req.netloc}{root}{answer.location}")
        if answer.last_modified is not None and version >= 15:
            resp.set_header("last-modified", _http_date(int(answer.last_modified)))
            resp.set_header("cache-control", "no-cache")
        for name, value in answer.headers.items():
            resp.set_header(name, value)
        data = answer.data if answer.document is None else dump(answer.document)
        if data is not None:
            resp.content_type = falcon.MEDIA_JSON
            resp.data = data


@lru_cache(maxsize=1024)  # many rows were written in the same second
def _http_date(seconds: int) -> str:
    return format_datetime(datetime.fromtimestamp(seconds, UTC), usegmt=True)


def _check_media_types(req: falcon.Request, operation: Operation, version: int) -> None:
    if operation.renders and not accepts_json(req.accept):
        raise NotAcceptable("Only application/json is provided")
    if operation.body(version):
        media_type = (req.content_type or "").split(";")[0].strip().lower() or None
        if media_type != "application/json":
            raise UnsupportedMediaType(f"The media type {media_type} is not supported, use application/json")


def every_version(version: int) -> bool:
    """For operations that always take a body."""
    return True


Routes = Mapping[str, Mapping[str, Operation]]
"""By path and method."""


def add_routes(app: falcon.App[Any, Any], deps: PlacementCollaborators, routes: Routes) -> None:
    """Adds all paths of a table to an app."""
    for path, operations in routes.items():
        app.add_route(path, Endpoint(deps, operations))
