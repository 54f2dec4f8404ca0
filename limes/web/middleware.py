"""What the HTTP apps do around every request: the client's address, request id, access log, metrics, one database
connection, token.

If an API may read from standbys, clients see what they have written. Each answer to a request that may have
changed something has the position of the database after it, in a header and in a cookie. A request that brings it back
is answered by a server that has this position. The cookie ends when every standby in use must have it. A position that
makes no sense is ignored: all that a made-up one does is to send its own requests to the primary.
"""

import ipaddress
import logging
import math
import re
from collections.abc import Callable, Container, Sequence
from functools import lru_cache
from typing import Any, Literal

import falcon
from msgspec import Struct
from prometheus_client import Gauge, Histogram

from limes.auth.context import Authenticator, Identity
from limes.db.engine import Engine
from limes.db.replicas import ReplicatedEngine
from limes.kernel import errors, logs, system
from limes.web.call import BodyStream

log = logging.getLogger(__name__)
access_log = logging.getLogger("limes.access")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Header = Literal["X-Forwarded-For", "Forwarded"]

_FOR = re.compile(r"""(?i)(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^\s;,"]+))""")
_ELEMENT = re.compile(r"""(?:[^,"]|"[^"]*")+""")
_MOST_HOPS = 50
_LABELS = ["app", "method", "status", "endpoint"]
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_BYTES = (256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)
FIRST_BYTE = Histogram(
    "httpmux_first_byte_seconds", "Time until the answer's first byte is ready", _LABELS, buckets=_SECONDS
)
DURATION = Histogram(
    "httpmux_response_duration_seconds", "Time until the whole answer is ready", _LABELS, buckets=_SECONDS
)
REQUEST_SIZE = Histogram("httpmux_request_size_bytes", "Size of the request's body", _LABELS, buckets=_BYTES)
RESPONSE_SIZE = Histogram("httpmux_response_size_bytes", "Size of the answer's body", _LABELS, buckets=_BYTES)
_POOL = {
    name: Gauge(f"go_sql_stats_connections_{name}", text, ["db_name"], multiprocess_mode="livesum")
    for name, text in (
        ("max_open", "Maximum number of database connections, over all workers"),
        ("open", "Open database connections"),
        ("in_use", "Database connections in use"),
        ("idle", "Idle database connections"),
    )
}
_REQUEST_ID = re.compile(r"req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z", re.IGNORECASE)
HEADER = "X-Limes-Position"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_POSITION = re.compile(r"[0-9A-F]{1,16}\Z", re.ASCII)


class ClientAddress:
    """Middleware that comes first: after it `req.remote_addr` is the client's address. The header is believed as far as
    trusted proxies have written it: from its end, up to the first address that is not one of theirs. What clients claim
    comes before that."""

    def __init__(self, trusted: Sequence[str] = (), header: Header = "X-Forwarded-For") -> None:
        self._trusted = [ipaddress.ip_network(network, strict=False) for network in trusted]
        self._variable = f"HTTP_{header.upper().replace('-', '_')}"
        self._hops = _forwarded if header == "Forwarded" else _x_forwarded_for

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        if self._trusted and self._variable in req.env and req.env.get("REMOTE_ADDR"):
            req.env["REMOTE_ADDR"] = self.of(req.env)

    def of(self, environ: dict[str, Any]) -> str:
        peer = str(environ.get("REMOTE_ADDR") or "")
        client = _address(peer)
        for hop in self._hops(str(environ.get(self._variable, ""))):
            is_trusted = client is not None and any(client in network for network in self._trusted)
            before = _address(hop) if is_trusted else None
            if before is None:
                break
            client = before
        return str(client) if client is not None else peer


def _x_forwarded_for(header: str) -> list[str]:
    return header.split(",")[: -_MOST_HOPS - 1 : -1]


def _forwarded(header: str) -> list[str]:
    matches = map(_FOR.search, _ELEMENT.findall(header)[: -_MOST_HOPS - 1 : -1])
    return [(match[1] or match[2] or "") if match else "" for match in matches]


def _address(text: str) -> Address | None:
    """Returns the address in `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`; else None."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


class PoolGauges:
    def __init__(self, db_name: str, engine: Engine) -> None:
        self._engine = engine
        self._max_open, self._open, self._in_use, self._idle = (gauge.labels(db_name) for gauge in _POOL.values())
        self._shown: tuple[int, int] | None = None

    def update(self) -> None:
        """Shows the present state. Called after each request, by the worker whose pool it is."""
        in_use, idle = use = self._engine.pool_use()
        if use == self._shown:  # mostly so; setting a value costs as much as the rest of this method
            return
        self._shown = use
        self._max_open.set(self._engine.pool_size)
        self._open.set(in_use + idle)
        self._in_use.set(in_use)
        self._idle.set(idle)


@lru_cache(maxsize=4096)
def _series(*labels: str) -> list[Histogram]:
    return [histogram.labels(*labels) for histogram in (FIRST_BYTE, DURATION, REQUEST_SIZE, RESPONSE_SIZE)]


def observe(
    app: str, req: falcon.Request, resp: falcon.Response, seconds: float, streamed: tuple[float, int] | None = None
) -> None:
    """Counts one request and the seconds until its answer. Of an answer that was made while it was sent, `streamed` is
    when its first byte was ready, and its size. The first byte of any other is ready when the last one is."""
    # clients can make up any number of methods and paths, and each label is kept for ever
    method = req.method if req.method in falcon.HTTP_METHODS else "other"
    first_byte, duration, request_size, response_size = _series(
        app, method, str(resp.status_code), req.uri_template or "-"
    )
    first_byte.observe(seconds if streamed is None else streamed[0])
    duration.observe(seconds)
    request_size.observe(req.content_length or 0)
    body = resp.render_body() if streamed is None else None
    response_size.observe(streamed[1] if streamed else len(body or b""))


class RequestIdMiddleware(Struct, frozen=True):
    """Gives each request an id of its own, and adds a well-formed global one to the log lines. The answer's
    `x-openstack-request-id` is always our own. A malformed global id is ignored."""

    ids: system.IdSource

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        local = f"req-{self.ids.uuid()}"
        client_request_id = req.get_header("X-Openstack-Request-Id") or ""
        req.context.request_id = local
        logs.request_id.set(f"{client_request_id} {local}" if _REQUEST_ID.match(client_request_id) else local)
        resp.set_header("x-openstack-request-id", local)


class AccessLogMiddleware(Struct, frozen=True):
    """One log line and one count for each answered request. Query strings are left out: they may carry secrets."""

    app_name: str
    clock: system.Clock
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
        observe(self.app_name, req, resp, seconds, streamed)
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
    """Holds one pooled database connection during a request, except on the paths that need none. A body that is made
    while it is sent keeps it until it is sent."""

    def __init__(self, engine: Engine, db_name: str, without: Container[str] = frozenset()) -> None:
        self._engine = engine
        self._without = without
        self._gauges = PoolGauges(db_name, engine)

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


class AuthMiddleware(Struct, frozen=True):
    """Validates the token of each request and puts its identity into `req.context.identity`."""

    authenticator: Authenticator
    is_public: Callable[[str], bool]
    refusal: str | None = None
    """All that a 401 says; with None it says the reason. The log has the reason either way."""
    cache_control: str | None = "no-store"
    """For each answer behind a token: nothing that stands between may keep it, on disk or for others."""

    def process_request(self, req: falcon.Request, resp: falcon.Response) -> None:
        if self.is_public(req.path):
            return
        if self.cache_control is not None:
            resp.set_header("cache-control", self.cache_control)
        try:
            req.context.identity = self.authenticator.authenticate(req.env)
        except errors.Unauthorized as error:
            resp.set_header("WWW-Authenticate", self.authenticator.challenge())
            log.info("%s %s: not let in: %s", req.method, req.path, error)
            if self.refusal is None:
                raise
            raise errors.Unauthorized(self.refusal) from None


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
            given = [req.get_header(HEADER) or "", *(req.get_cookie_values(self._cookie) or ())]
            position = max((int(text, 16) for text in given if _POSITION.match(text)), default=0)
            reading = self._replicated.reading(position)
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


def connection_middleware(engine: Engine, db_name: str, without: Container[str]) -> ConnectionMiddleware:
    if isinstance(engine, ReplicatedEngine):
        return ReplicaConnectionMiddleware(engine, db_name, without)
    return ConnectionMiddleware(engine, db_name, without)
