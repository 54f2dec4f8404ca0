"""Connections that gunicorn reads by itself, in a thread: TLS, the PROXY protocol, HTTP/2.

What arrives on them is not a request yet, so the waiting room cannot tell when one is whole. They get a thread with
their first byte, and are cut off where the head of a request takes too long; slow bodies and slow readers hold their
thread. Let a proxy do these things where clients are not to be trusted.
"""

import contextlib
import socket
import threading
import time
from typing import Any

from gunicorn.workers.gthread import TConn


class BlockingConnection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's, but that nobody waits for it to part."""

    def close(self, graceful: bool = False) -> None:
        """gunicorn would wait for the client in its main thread."""
        if graceful:
            threading.Thread(target=self._part, daemon=True).start()
        else:
            super().close()

    def _part(self) -> None:
        with contextlib.suppress(OSError):  # the client has gone away
            super().close(True)


class HeadWatch:
    """Cuts off those whose threads have waited for the head of a request for too long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadlines: dict[Any, float] = {}

    def begin(self, conn: Any) -> None:
        """A thread begins to read."""
        self._deadlines[conn] = time.monotonic() + self._seconds

    def end(self, conn: Any) -> None:
        """It has the head, or has given up."""
        self._deadlines.pop(conn, None)

    def look(self) -> None:
        """To be called again and again."""
        now = time.monotonic()
        for conn, deadline in list(self._deadlines.items()):
            if deadline <= now:
                with contextlib.suppress(OSError):  # it is closed already
                    socket.socket.shutdown(conn.sock, socket.SHUT_RDWR)  # also where TLS is not ready for it
