"""gunicorn's thread worker, but that a thread stays a moment with the connection that it has just answered.

gunicorn hands each request of a kept connection from its main thread to one of the pool and back, which costs more
than a small answer itself. Clients such as nova send their requests one after the other on one connection: the next
one is mostly there within a few milliseconds, and then the thread that is there already takes it
(docs/adr/0007-threads-stay-with-their-connection.md).
"""

import select
import threading
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

from limes.web.refusals import refuse

STAY_MILLISECONDS = 10


class StayingThreadWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Nobody waits for a thread that stays: at most half of them do, and none while a request is waiting."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lock = threading.Lock()
        self._waiting = 0
        """Requests that no thread has taken up yet."""
        self._staying = 0
        """Threads that wait for more on a connection."""

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """As gunicorn's, but for how a request that cannot be read is answered."""
        if not refuse(client, addr, exc):
            super().handle_error(req, client, addr, exc)

    def enqueue_req(self, conn: Any) -> None:
        """As gunicorn's: gives the connection, on which there is something to read, to the pool."""
        with self._lock:
            self._waiting += 1
        super().enqueue_req(conn)

    def handle(self, conn: Any) -> Any:
        """As gunicorn's, but for as many requests as come in quick succession. Runs in a thread of the pool."""
        with self._lock:
            self._waiting -= 1
        while True:
            result = super().handle(conn)
            if result is not True or conn.is_http2 or not self._comes_more(conn):
                return result

    def _comes_more(self, conn: Any) -> bool:
        """Whether the client sends its next request at once."""
        if not self.alive or conn.parser.unreader.buf.getvalue():  # gunicorn knows what to do with either
            return False
        with self._lock:
            if self._waiting or self._staying >= self.cfg.threads // 2:
                return False
            self._staying += 1
        try:
            poll = select.poll()
            poll.register(conn.sock, select.POLLIN)
            return bool(poll.poll(STAY_MILLISECONDS))
        finally:
            with self._lock:
                self._staying -= 1
