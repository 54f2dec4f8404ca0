"""Connections whose answers have a deadline.

The timeouts of `requests` are between two bytes: a server that sends a header or a byte of the body now and then would
hold a thread for ever. Here, each read waits for what is left of the time for the whole answer.
"""

import contextlib
import http.client
import io
import time
from contextvars import ContextVar
from typing import Any

import requests
from keystoneauth1.session import TCPKeepAliveAdapter
from urllib3 import connection, connectionpool

deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
"""When the answer to the request that this thread sends has to be complete, on the clock `time.monotonic`."""


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
            raise TimeoutError("the time for this answer is over")
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


class HTTPSConnection(connection.HTTPSConnection):
    response_class = _Answer


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


def mount_on(session: requests.Session) -> None:
    """Has the session use this transport for all addresses."""
    adapter = DeadlineAdapter()
    for scheme in list(session.adapters):
        session.mount(scheme, adapter)
