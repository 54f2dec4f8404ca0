"""What an HTTP server does between SIGTERM and its end, so that no request fails behind a proxy.

First `/healthcheck` says 503, while requests are still answered, each as the last one of its connection: a proxy that
asks for it stops sending requests, and uses no old connection any more. Only then does gunicorn stop.
"""

import logging
import mmap
import signal
from typing import Any

log = logging.getLogger(__name__)


class Drain:
    """Whether this server is about to stop: set by gunicorn's main process, seen by its workers."""

    def __init__(self) -> None:
        self._flag = mmap.mmap(-1, 1)  # shared with processes that are forked later

    @property
    def is_on(self) -> bool:
        """Whether SIGTERM has come."""
        return self._flag[0] != 0

    def begin(self) -> None:
        self._flag[0] = 1


DRAIN = Drain()


def drain_before_stop(server: Any, seconds: float) -> None:
    """Has gunicorn's main process wait for so long between SIGTERM and the stop. A second SIGTERM stops at once."""

    def begin(number: int, frame: Any) -> None:
        if DRAIN.is_on:
            server.signal(number, frame)
            return
        DRAIN.begin()
        signal.signal(signal.SIGALRM, lambda *_: server.signal(signal.SIGTERM, None))
        signal.setitimer(signal.ITIMER_REAL, seconds)

    signal.signal(signal.SIGTERM, begin)
