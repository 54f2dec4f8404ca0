"""What Placement does around each handler, in this order.

The operation's microversion (404, or 405 where clients are used to it), media types (406, 415), policy (403), the
handler.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import lru_cache

import falcon

from limes.placement.accept import accepts_json
from limes.placement.call import Answer, Call, root_path
from limes.placement.collaborators import PlacementCollaborators
from limes.placement.document import dump
from limes.placement.errors import NotAcceptable, UnsupportedMediaType
from limes.web import operation as web
from limes.web.call import identity_of


@dataclass(frozen=True, slots=True)
class Operation(web.Operation):
    """One method of one path."""

    since: int = 0
    """The first microversion that has the operation."""
    before: int = 404
    """What it answers below that: 404 as if the path did not exist, or 405 as if the method did not."""
    body: Callable[[int], bool] = lambda version: False
    """Whether it takes a JSON body at a microversion."""
    renders: bool = False
    """Whether it answers a document, so that the client has to accept JSON."""


class PlacementApi(web.Api[Operation, Call]):
    """Microversions, media types, and the headers of answers."""

    def __init__(self, deps: PlacementCollaborators) -> None:
        self._deps = deps

    def responder(self, operation: Operation, siblings: Mapping[str, Operation]) -> web.Responder:
        """Refuses with 404 or 405 below the operation's first microversion."""
        respond = super().responder(operation, siblings)
        if not operation.since:
            return respond
        refuse = self.refusal(siblings)

        def respond_since(req: falcon.Request, resp: falcon.Response, **params: str) -> None:
            if req.context.version >= operation.since:
                respond(req, resp, **params)
            elif operation.before == 405:
                refuse(req, resp)
            else:
                raise falcon.HTTPNotFound()

        return respond_since

    def refusal(self, operations: Mapping[str, Operation]) -> web.Responder:
        """Answers 405 for all methods that the path does not have, OPTIONS included."""

        def refuse(req: falcon.Request, resp: falcon.Response, **params: str) -> None:
            version: int = req.context.version
            raise falcon.HTTPMethodNotAllowed(
                sorted(
                    method
                    for method, operation in operations.items()
                    if operation.before != 405 or version >= operation.since
                )
            )

        return refuse

    def call(self, req: falcon.Request, operation: Operation, params: Mapping[str, str]) -> Call:
        """Raises `NotAcceptable` and `UnsupportedMediaType`."""
        version: int = req.context.version
        _check_media_types(req, operation, version)
        now = self._deps.clock.now().timestamp()
        return Call(req, self._deps, operation.rule, params, identity_of(req), version, now)

    def render(self, call: Call, resp: falcon.Response, answer: Answer) -> None:
        """JSON, the location as an absolute URL, and from 1.15 when it was last modified."""
        resp.status = falcon.code_to_http_status(answer.status)
        if answer.location is not None:
            req = call.req
            root = root_path(req, self._deps.settings.prefix)
            resp.set_header("location", f"{req.scheme}://{req.netloc}{root}{answer.location}")
        if answer.last_modified is not None and call.version >= 15:
            resp.set_header("last-modified", _http_date(int(answer.last_modified)))
            resp.set_header("cache-control", "no-cache")
        for name, value in answer.headers.items():
            resp.set_header(name, value)
        data = answer.data if answer.document is None else dump(answer.document)
        if data is not None or answer.stream is not None:
            resp.content_type = falcon.MEDIA_JSON
            resp.data, resp.stream = data, answer.stream


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
