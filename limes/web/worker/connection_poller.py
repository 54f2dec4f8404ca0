"""Connections without a thread: their request is incomplete, their client reads slowly, or they are being closed.

gunicorn's main thread looks after all of them and never waits for a single one. Connections that take too long are
refused: the server itself answers, with JSON and a request id instead of gunicorn's HTML.
"""

import contextlib
import enum
import logging
import selectors
import ssl
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import orjson
from gunicorn.http import errors
from gunicorn.workers.gthread import TConn

from limes.web.errors import shortened
from limes.web.worker.client_socket import ClientSocket, Limits, SpoolFull
from limes.web.worker.framing import HeadTooLarge, Stage
from limes.web.worker.plain_request import Reader

log = logging.getLogger(__name__)

_STATUS: dict[type[Exception], int] = {
    errors.LimitRequestLine: 414,
    errors.LimitRequestHeaders: 431,
    errors.ExpectationFailed: 417,
    errors.ForbiddenProxyRequest: 403,
    errors.UnsupportedTransferCoding: 501,
    # gunicorn is configured to serve below a path, and a client asks for another one
    errors.ConfigurationProblem: 404,
    # our own mistakes, which gunicorn reports like those of clients
    errors.InvalidResponseHeader: 500,
    errors.InvalidResponseHeaderName: 500,
    errors.ParseException: 400,
    ssl.SSLError: 400,
}
_RETRY_SECONDS = {429: 1, 503: 5}
_LINGER_SECONDS = 2.0
_CHECK_SECONDS = 0.25
_STOP_SECONDS = 5.0


class Refusal(Exception):
    """A request is refused before any app sees it."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def refuse(client: Any, address: Any, error: BaseException) -> None:
    """Answers on the socket. The connection is not used any more."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)
    if isinstance(error, Refusal):
        status = error.status
    request_id = f"req-{uuid4()}"
    peer = (address or ["-"])[0] if isinstance(address, tuple) else "-"
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("a request from %s failed (%s)", peer, request_id, exc_info=error)
        detail = "internal server error"
    else:
        log.warning("a request from %s was refused with %d: %s (%s)", peer, status, error, request_id)
        detail = shortened(str(error))
    title = HTTPStatus(status).phrase
    problem = {"status": status, "title": title, "detail": detail, "request_id": request_id}
    body = orjson.dumps({"errors": [problem]}, option=orjson.OPT_APPEND_NEWLINE)
    lines = [
        f"HTTP/1.1 {status} {title}",
        "connection: close",
        "content-type: application/json",
        f"content-length: {len(body)}",
        f"x-openstack-request-id: {request_id}",
        *([f"retry-after: {_RETRY_SECONDS[status]}"] if status in _RETRY_SECONDS else []),
    ]
    with contextlib.suppress(OSError):  # the client has gone away
        client.sendall("\r\n".join([*lines, "", ""]).encode() + body)


class Wait(enum.Enum):
    REQUEST = enum.auto()
    READER = enum.auto()
    CLOSE = enum.auto()


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's, with what the waiting room has to know about it."""

    sock: ClientSocket

    def __init__(self, cfg: Any, sock: ClientSocket, client: Any, server: Any) -> None:
        super().__init__(cfg, sock, client, server)
        self.data_ready = True  # a thread gets the connection only when that is true
        self.waits_for = Wait.REQUEST
        self.deadline = 0.0
        self.stage: Stage | None = None
        """The part of the request that the deadline is for; None before the first byte."""
        self.was_told_to_continue = False
        self.is_kept = False
        """Whether it stays open once the client has taken its answer."""

    def init(self) -> None:
        """As gunicorn's, with a reader of our own."""
        if not self.initialized:
            super().init()
            self.parser = Reader(self)

    @property
    def peer(self) -> str | None:
        return self.client[0] if isinstance(self.client, tuple) else None


class ConnectionPoller:
    """Hands each connection over when its request is ready, and closes ones that take too long."""

    def __init__(
        self,
        poller: Any,
        limits: Limits,
        keepalive: float,
        hand_over: Callable[[Any], None],
        on_closed: Callable[[], None],
    ) -> None:
        """`keepalive` is how long a connection is kept without a request, in seconds."""
        self._poller = poller
        self._limits = limits
        self._keepalive = keepalive
        self._hand_over = hand_over
        self._on_closed = on_closed
        self._waiting: dict[Connection, None] = {}
        self._peers: Counter[str] = Counter()
        self._next_check = 0.0
        self._is_stopping = False

    # -- taking connections

    def admit(self, conn: Connection) -> None:
        """Takes a new connection, unless its peer has too many."""
        peer, most = conn.peer, self._limits.connections_per_peer
        if peer is not None:
            self._peers[peer] += 1
            if 0 < most < self._peers[peer]:
                self._refuse(conn, Refusal(429, f"there may be {most} connections from one address at a time"))
                return
        if self._has_arrived(conn):
            self._hand_over(conn)
            return
        self._wait_for_request(conn, self._limits.header_timeout)

    def _has_arrived(self, conn: Connection) -> bool:
        """Returns whether the request of a new connection is already there, as it mostly is under load."""
        with contextlib.suppress(OSError, HeadTooLarge, SpoolFull):  # the next attempt reports it
            return conn.sock.receive() and bool(conn.sock.received)
        return False

    def keep(self, conn: Connection) -> None:
        if conn.sock.is_ready:
            self._hand_over(conn)
            return
        self._wait_for_request(conn, self._keepalive)

    def _wait_for_request(self, conn: Connection, seconds: float) -> None:
        self._wait(conn, Wait.REQUEST, seconds)
        try:
            self._set_deadline(conn, 0)
        except OSError:  # the client has gone away
            self._close(conn)

    def wait_for_reader(self, conn: Connection, *, is_kept: bool) -> None:
        conn.is_kept = is_kept
        self._wait(conn, Wait.READER, self._limits.send_timeout)

    def close_gracefully(self, conn: Connection) -> None:
        """Ends the sending and waits a moment for the client to do the same (RFC 9112, 9.6)."""
        try:
            conn.sock.end_answers()
        except OSError:
            self._close(conn)
        else:
            self._wait(conn, Wait.CLOSE, _LINGER_SECONDS)

    def _wait(self, conn: Connection, wait: Wait, seconds: float) -> None:
        event = selectors.EVENT_WRITE if wait is Wait.READER else selectors.EVENT_READ
        if conn in self._waiting:
            self._poller.modify(conn.sock, event, partial(self._on_event, conn))
        else:
            self._waiting[conn] = None
            self._poller.register(conn.sock, event, partial(self._on_event, conn))
        conn.waits_for, conn.stage = wait, None
        conn.deadline = time.monotonic() + seconds
        if self._is_stopping:
            self._shorten_deadline(conn)

    # -- events

    def _on_event(self, conn: Connection, _: Any) -> None:
        try:
            if conn.waits_for is Wait.REQUEST:
                self._on_request(conn)
            elif conn.waits_for is Wait.READER:
                self._on_reader(conn)
            elif not conn.sock.discard():
                self._close(conn)
        except HeadTooLarge:
            self._refuse(conn, Refusal(431, "the head of the request is too large"))
        except SpoolFull:
            self._refuse(conn, Refusal(503, "too many large requests are under way, try again later"))
        except OSError:  # the client has gone away
            self._close(conn)
        except Exception:
            log.exception("a connection is closed")
            self._close(conn)

    def _on_request(self, conn: Connection) -> None:
        sock = conn.sock
        before = sock.received
        if not sock.receive():
            self._set_deadline(conn, sock.received - before)
        elif sock.ended and not sock.received:
            self._close(conn)
        else:
            self._leave(conn)
            self._hand_over(conn)

    def _set_deadline(self, conn: Connection, came: int) -> None:
        sock, now = conn.sock, time.monotonic()
        if not sock.received:
            return
        stage, limits = sock.framing.stage, self._limits
        if conn.stage is not stage:
            conn.stage = stage
            conn.deadline = now + (limits.header_timeout if stage is Stage.HEAD else limits.body_timeout)
            if stage is Stage.BODY and sock.framing.expects_continue:
                conn.was_told_to_continue = True
                sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        elif stage is Stage.BODY:
            conn.deadline = min(conn.deadline + came / limits.min_rate, now + limits.body_timeout)
        if self._is_stopping:
            self._shorten_deadline(conn)

    def _on_reader(self, conn: Connection) -> None:
        taken = conn.sock.drain()
        if not conn.sock.is_sent:
            patience = _STOP_SECONDS if self._is_stopping else self._limits.send_timeout
            conn.deadline = min(conn.deadline + taken / self._limits.min_rate, time.monotonic() + patience)
        elif conn.is_kept:
            if conn.sock.is_ready:
                self._leave(conn)
            self.keep(conn)
        else:
            self.close_gracefully(conn)

    # -- letting connections go

    def _leave(self, conn: Connection) -> None:
        if self._waiting.pop(conn, conn) is None:
            with contextlib.suppress(OSError, KeyError, ValueError):  # it is closed already
                self._poller.unregister(conn.sock)

    def _refuse(self, conn: Connection, refusal: Refusal) -> None:
        refuse(conn.sock, conn.client, refusal)
        self.close_gracefully(conn)

    def _close(self, conn: Connection) -> None:
        self._leave(conn)
        conn.sock.close()
        if conn.peer is not None:
            self._peers[conn.peer] -= 1
            if not self._peers[conn.peer]:
                del self._peers[conn.peer]
        self._on_closed()

    def close_expired(self) -> None:
        """Ends what takes too long. Cheap enough to be called after every event."""
        now = time.monotonic()
        if now < self._next_check:
            return
        self._next_check = now + _CHECK_SECONDS
        for conn in [conn for conn in self._waiting if conn.deadline <= now]:
            self._expire(conn)

    def _expire(self, conn: Connection) -> None:
        if conn.waits_for is Wait.REQUEST and conn.stage is not None:
            part = "head" if conn.stage is Stage.HEAD else "body"
            self._refuse(conn, Refusal(408, f"the {part} of the request took too long to arrive"))
            return
        if conn.waits_for is Wait.READER:
            log.warning("a client at %s was too slow in taking its answer, which was broken off", conn.peer or "-")
        self._close(conn)

    def make_room(self) -> None:
        """Closes the connection that has been idle for longest."""
        idle = (conn for conn in self._waiting if conn.waits_for is Wait.REQUEST and conn.stage is None)
        if (oldest := next(idle, None)) is not None:
            self._close(oldest)

    def stop(self) -> None:
        self._is_stopping = True
        for conn in self._waiting:
            self._shorten_deadline(conn)

    def _shorten_deadline(self, conn: Connection) -> None:
        is_idle = conn.waits_for is Wait.REQUEST and conn.stage is None
        conn.deadline = min(conn.deadline, time.monotonic() + (_LINGER_SECONDS if is_idle else _STOP_SECONDS))

    def close(self) -> None:
        for conn in list(self._waiting):
            self._close(conn)
