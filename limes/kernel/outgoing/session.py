"""Sessions for requests to other servers: plain ones, and those of keystoneauth1.

All requests to Keystone, backends and other Placements go through these, so redirects and endless answers are handled
here. `tests/kernel/test_one_place.py` refuses other ways to make a request.

Answers have a deadline. The timeouts of `requests` are between two bytes: a server that sends a header or a byte of the
body now and then would hold a thread for ever. Here, each read waits for what is left of the time for the whole answer.
"""

import contextlib
import http.client
import io
import socket
import time
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import requests
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session, TCPKeepAliveAdapter
from urllib3 import connection, connectionpool
from urllib3.exceptions import HTTPError, NewConnectionError

from limes.kernel import errors, redaction
from limes.kernel.outgoing import answers
from limes.kernel.outgoing.answers import DEFAULT_LIMITS, AnswerLimits, printable_url

deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
"""When the answer to the request that this thread sends has to be complete, on the clock `time.monotonic`."""


pinned: ContextVar[Sequence[str] | None] = ContextVar("pinned", default=None)
"""The addresses that this thread connects to, whatever the name resolves to by now."""


class _DeadlineReader(io.RawIOBase):
    """Reads from a socket until the deadline. Raises `TimeoutError` then."""

    def __init__(self, raw: io.RawIOBase, sock: Any, until: float) -> None:
        self._raw = raw
        self._sock = sock
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        remaining = self._until - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("this answer took too long")
        with contextlib.suppress(OSError):  # it is closed: the next line says so
            self._sock.settimeout(remaining)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    def __init__(self, sock: Any, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        until = deadline.get()
        if until is not None:
            self.fp = io.BufferedReader(_DeadlineReader(self.fp.detach(), sock, until))


# Their names stand in urllib3's messages, so these keep them.


class HTTPConnection(connection.HTTPConnection):
    response_class = _Answer

    def _new_conn(self) -> socket.socket:
        """Connects to the first of the addresses that answers. Whose certificate is expected stays as it is: the
        name's."""
        addresses, name = pinned.get(), self.host
        if addresses is None:
            return super()._new_conn()
        problem: HTTPError | None = None
        for address in addresses:
            self.host = address
            try:
                return super()._new_conn()
            except HTTPError as error:
                problem = error
            finally:
                self.host = name
        raise problem or NewConnectionError(self, "there is no address to connect to")


class HTTPSConnection(HTTPConnection, connection.HTTPSConnection):
    pass


class HTTPConnectionPool(connectionpool.HTTPConnectionPool):
    ConnectionCls = HTTPConnection


class HTTPSConnectionPool(connectionpool.HTTPSConnectionPool):
    ConnectionCls = HTTPSConnection


_POOLS = {"http": HTTPConnectionPool, "https": HTTPSConnectionPool}


class DeadlineAdapter(TCPKeepAliveAdapter):
    """The transport of keystoneauth1, with connections that know the deadline."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:
        manager = super().proxy_manager_for(*args, **options)
        manager.pool_classes_by_scheme = _POOLS
        return manager


class GuardedSession(requests.Session):
    """Reads each answer whole, within its limits, and goes where a redirect leads only if nothing is given away. Raises
    `BackendError` for answers that go too far. The `timeout` of a request is for the whole of it."""

    def __init__(self, limits: AnswerLimits = DEFAULT_LIMITS) -> None:
        super().__init__()
        self._limits = limits
        self.headers["Accept-Encoding"] = "gzip, deflate"  # formats that can be decompressed step by step
        adapter = DeadlineAdapter()
        for scheme in [*self.adapters]:
            self.mount(scheme, adapter)

    def get_redirect_target(self, resp: requests.Response) -> None:
        """None: `requests` would read the answer to look where it leads. `send` does that."""

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Sends as `requests` does, except for the above. Answers are always read at once, whatever `stream` says."""
        asked = options.get("timeout")  # one time, or several that make one
        parts = asked if isinstance(asked, tuple) else (asked,)
        seconds = float(sum(part for part in parts if part)) or self._limits.timeout
        until = time.monotonic() + seconds
        options |= {"allow_redirects": False, "stream": True}
        for _ in range(answers.MAX_HOPS + 1):
            options["timeout"] = max(0.001, until - time.monotonic())
            token = deadline.set(until)
            try:
                response = super().send(request, **options)
            finally:
                deadline.reset(token)
            try:
                body, share = answers.read_body(response, self._limits, until, seconds)
            except BaseException:
                response.close()
                raise
            body = answers.without_secrets(body, response.status_code, request)
            response._content, response._content_consumed = body, True  # type: ignore[attr-defined]  # as requests does
            if response.status_code >= 400:  # of errors, little is left
                share.free()
            response.share = share  # type: ignore[attr-defined]  # for as long as the answer is used
            response.encoding = "utf-8"  # as `Contents` has read it: what other encodings hide it has not seen
            response.reason = redaction.redact(response.reason or "")
            response.raw.release_conn()
            target = answers.next_url(response)
            if target is None:
                return response
            request = request.copy()
            request.url = target
        raise errors.BackendError(
            f"{request.method} {printable_url(str(request.url))}: more than {answers.MAX_HOPS} redirects in a row"
        )


class PinnedSession(GuardedSession):
    """Connects to these addresses, which were checked, and to nothing else: no other answer of a name server, no proxy,
    and no password from the environment has an effect."""

    def __init__(self, addresses: Sequence[str], limits: AnswerLimits = DEFAULT_LIMITS) -> None:
        super().__init__(limits)
        self._addresses = tuple(addresses)
        self.trust_env = False

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        token = pinned.set(self._addresses)
        try:
            return super().send(request, **options)
        finally:
            pinned.reset(token)


def keystone_session(auth: Any = None, *, limits: AnswerLimits = DEFAULT_LIMITS, **options: Any) -> Session:
    """Returns a session of keystoneauth1, with its `options` (`verify`, `cert`, `timeout`, `user_agent`, ...)."""
    return Session(auth, session=GuardedSession(limits), redirect=False, **options)


class TimedAdapter(Adapter):
    """Sessions know one timeout for all services; this adapter has its own, in seconds."""

    def __init__(self, session: Session, timeout: float | None, **options: Any) -> None:
        super().__init__(session, **options)
        self._timeout = timeout

    def request(self, url: str, method: str, **options: Any) -> Any:
        if self._timeout is not None:
            options.setdefault("timeout", self._timeout)
        return super().request(url, method, **options)
