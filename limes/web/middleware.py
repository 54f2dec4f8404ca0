"""What the HTTP apps do around every request: request id, access log, metrics, one database connection, token."""

import logging
import re
from collections.abc import Callable, Container
from dataclasses import KW_ONLY, dataclass

import falcon

from limes import logs
from limes.auth.context import Authenticator, Identity
from limes.db.engine import Engine
from limes.errors import Unauthorized
from limes.system import Clock, IdSource
from limes.web import metrics
from limes.web.call import BodyStream

log = logging.getLogger(__name__)
access_log = logging.getLogger("limes.access")

_REQUEST_ID = re.compile(r"req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RequestIdMiddleware:
    """Gives each request an id of its own, and adds a well-formed global one to the log lines.

    The answer's `x-openstack-request-id` is always our own. A malformed global id is ignored.
    """

    ids: IdSource

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        local = f"req-{self.ids.uuid()}"
        client_request_id = req.get_header("X-Openstack-Request-Id") or ""
        req.context.request_id = local
        logs.request_id.set(f"{client_request_id} {local}" if _REQUEST_ID.match(client_request_id) else local)
        resp.set_header("x-openstack-request-id", local)


@dataclass(frozen=True, slots=True)
class AccessLogMiddleware:
    """One log line and one count for each answered request. Query strings are left out: they may carry secrets."""

    app_name: str
    clock: Clock
    quiet_paths: frozenset[str] = frozenset()

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        req.context.started = self.clock.monotonic()

    def process_response(self, req: falcon.Request, resp: falcon.Response, resource: object, ok: bool) -> None:
        stream = resp.stream
        if isinstance(stream, BodyStream):
            first = self._seconds(req)
            stream.on_close(lambda: self._record_answer(req, resp, (first, stream.sent)))
        else:
            self._record_answer(req, resp, None)

    def _seconds(self, req: falcon.Request) -> float:
        now = self.clock.monotonic()
        # falcon refuses the method WEBSOCKET before it asks any middleware
        return now - float(getattr(req.context, "started", now))

    def _record_answer(self, req: falcon.Request, resp: falcon.Response, streamed: tuple[float, int] | None) -> None:
        seconds = self._seconds(req)
        status = resp.status_code
        metrics.observe(self.app_name, req, resp, seconds, streamed)
        if req.path in self.quiet_paths and status < 500:
            return
        identity: Identity | None = getattr(req.context, "identity", None)
        access_log.log(
            logging.ERROR if status >= 500 else logging.INFO,
            '%s "%s %s" %d %.3fs user=%s project=%s',
            req.remote_addr,
            req.method,
            req.path,
            status,
            seconds,
            identity.user_id if identity else "-",
            identity.project_id or "-" if identity else "-",
        )


class ConnectionMiddleware:
    """Holds one pooled database connection during a request, except on the paths that need none.

    A body that is made while it is sent keeps it until it is sent.
    """

    def __init__(self, engine: Engine, db_name: str, without: Container[str] = frozenset()) -> None:
        """`db_name` is the name of the database in the metrics."""
        self._engine = engine
        self._without = without
        self._gauges = metrics.PoolGauges(db_name, engine)

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        if req.path in self._without:
            return
        connection = self._engine.connection()
        connection.__enter__()
        req.context.held = connection

    def process_response(self, req: falcon.Request, resp: falcon.Response, resource: object, ok: bool) -> None:
        connection = getattr(req.context, "held", None)
        stream = resp.stream
        if isinstance(stream, BodyStream):
            if connection is not None:
                stream.on_close(lambda: connection.__exit__(None, None, None))
            if req.method == "HEAD" or not ok:  # falcon sends another body, or none, and forgets this one
                stream.close()
        elif connection is not None:
            connection.__exit__(None, None, None)
            self._gauges.update()
        req.context.held = None


@dataclass(frozen=True, slots=True)
class AuthMiddleware:
    """Validates the token of each request and puts its identity into `req.context.identity`."""

    authenticator: Authenticator
    is_public: Callable[[str], bool]
    refusal: str | None = None
    """All that a 401 says; with None it says the reason. The log has the reason either way."""
    _: KW_ONLY
    cache_control: str | None = "no-store"
    """For each answer behind a token: nothing that stands between may keep it, on disk or for others."""

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        if self.is_public(req.path):
            return
        if self.cache_control is not None:
            resp.set_header("cache-control", self.cache_control)
        try:
            req.context.identity = self.authenticator.authenticate(req.env)
        except Unauthorized as error:
            resp.set_header("WWW-Authenticate", self.authenticator.challenge())
            log.info("%s %s: not let in: %s", req.method, req.path, error)
            if self.refusal is None:
                raise
            raise Unauthorized(self.refusal) from None
