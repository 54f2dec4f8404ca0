"""Requests to an API that may read from standbys: whoever has written sees what was written.

Each answer to a request that may have changed something has the position of the database after it, in a header and in a
cookie. A request that brings it back is answered by a server that has this position. The cookie ends when every standby
in use must have it. A position that makes no sense is ignored: all that a made-up one does is to send its own requests
to the primary.
"""

import math
import re
from collections.abc import Container

import falcon

from limes.db.engine import Engine
from limes.db.replicas import ReplicatedEngine
from limes.web.middleware import ConnectionMiddleware

HEADER = "X-Limes-Position"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_POSITION = re.compile(r"[0-9A-F]{1,16}\Z", re.ASCII)


class ReplicaConnectionMiddleware(ConnectionMiddleware):
    """Lets GET requests read from standbys, and says which position the others have led to."""

    def __init__(self, engine: ReplicatedEngine, db_name: str, without: Container[str] = frozenset()) -> None:
        super().__init__(engine, db_name, without)
        self._replicated = engine
        self._cookie = f"limes-position-{db_name}"
        self._max_age = math.ceil(engine.max_lag) + 1

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        if req.method not in _READING:
            super().process_request(req, resp)
        elif req.path not in self._without:
            reading = self._replicated.reading(self._position_of(req))
            reading.__enter__()
            req.context.held = reading

    def process_response(self, req: falcon.Request, resp: falcon.Response, resource: object, ok: bool) -> None:
        is_held = getattr(req.context, "held", None) is not None
        if is_held and (req.method not in _READING or self._replicated.has_written):
            position = self._replicated.take_position()
            if position is not None:
                resp.set_header(HEADER, f"{position:X}")
                resp.set_cookie(
                    self._cookie, f"{position:X}", max_age=self._max_age, path="/", secure=False, same_site="Lax"
                )
        super().process_response(req, resp, resource, ok)

    def _position_of(self, req: falcon.Request) -> int:
        given = [req.get_header(HEADER) or "", *(req.get_cookie_values(self._cookie) or ())]
        return max((int(text, 16) for text in given if _POSITION.match(text)), default=0)


def connection_middleware(engine: Engine, db_name: str, without: Container[str]) -> ConnectionMiddleware:
    """Returns the middleware for an engine, with standbys or without."""
    if isinstance(engine, ReplicatedEngine):
        return ReplicaConnectionMiddleware(engine, db_name, without)
    return ConnectionMiddleware(engine, db_name, without)
