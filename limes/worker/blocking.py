"""Connections that gunicorn reads by itself, in a thread: TLS, the PROXY protocol, HTTP/2.

What arrives on them has to be decoded first, so the waiting room cannot tell when a request is complete. They get a
thread with their first byte and are cut off if the head of a request takes too long; slow bodies and slow readers hold
their thread. Let a proxy do these things if clients cannot be trusted.
"""

import contextlib
import socket
import threading
import time
from typing import Any

from gunicorn.workers.gthread import TConn


class BlockingConnection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's, except that closing it never waits for the client."""

    def close(self, graceful: bool = False) -> None:
        """Closes in a thread of its own: gunicorn would wait for the client in its main thread."""
        if graceful:
            threading.Thread(target=self._close_gracefully, daemon=True).start()
        else:
            super().close()

    def _close_gracefully(self) -> None:
        with contextlib.suppress(OSError):  # the client has gone away
            super().close(True)


class HeadWatch:
    """Cuts off connections whose threads have waited too long for the head of a request."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadlines: dict[Any, float] = {}

    def begin(self, conn: Any) -> None:
        self._deadlines[conn] = time.monotonic() + self._seconds

    def end(self, conn: Any) -> None:
        """Notes that the thread has the head, or gives up."""
        self._deadlines.pop(conn, None)

    def cut_off_late(self) -> None:
        """Ends the connections whose time is up. Called regularly."""
        now = time.monotonic()
        for conn, deadline in list(self._deadlines.items()):
            if deadline <= now:
                with contextlib.suppress(OSError):  # it is closed already
                    socket.socket.shutdown(conn.sock, socket.SHUT_RDWR)  # also where TLS is not ready for it
