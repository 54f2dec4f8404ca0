"""gunicorn's thread worker, but that a thread stays a moment with the connection that it has just answered.

gunicorn hands each request of a kept connection from its main thread to one of the pool and back, which costs more
than a small answer itself. Clients such as nova send their requests one after the other on one connection: the next
one mostly comes soon, and then the thread that is there already takes it
(docs/adr/0007-threads-stay-with-their-connection.md). And the head of an answer leaves together with its body, so that
a small one is one packet, for which the client wakes up once.
"""

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

from limes.web.refusals import refuse

STAY_SECONDS = 0.2
_HOLD_BACK: int | None = getattr(socket, "TCP_CORK", None)  # Linux has it


class StayingThreadWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Nobody waits for a thread that stays: at most half of them do, and one leaves as soon as a request needs it."""

    wsgi: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lock = threading.Lock()
        self._waiting = 0
        """Requests that no thread has taken up yet."""
        self._working = 0
        """Threads that have a connection, whether they answer or stay."""
        self._staying = 0
        """Threads that wait for more on theirs."""

    def init_process(self) -> None:
        """As gunicorn's, in the worker's process. A byte in the pipe calls one of those that stay away."""
        self._called, self._call = os.pipe()
        for end in (self._called, self._call):
            os.set_blocking(end, False)
        super().init_process()

    def load_wsgi(self) -> None:
        """As gunicorn's; the app's answers are held back until they are whole, unless they are made while sent."""
        super().load_wsgi()
        app = self.wsgi

        def gathered(environ: dict[str, Any], start_response: Any) -> Any:
            body = app(environ, start_response)
            if isinstance(body, list) and environ.get("HTTP_VERSION") != "2":
                _hold_back(environ["gunicorn.socket"], True)
            return body

        self.wsgi = gathered

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """As gunicorn's, but for how a request that cannot be read is answered."""
        if not refuse(client, addr, exc):
            super().handle_error(req, client, addr, exc)

    def enqueue_req(self, conn: Any) -> None:
        """As gunicorn's: gives the connection, on which there is something to read, to the pool."""
        with self._lock:
            self._waiting += 1
            needed = self._staying > 0 and self._working + self._waiting > self.cfg.threads
        super().enqueue_req(conn)
        if needed:
            with contextlib.suppress(BlockingIOError):  # then enough of them are called already
                os.write(self._call, b"\0")

    def handle(self, conn: Any) -> Any:
        """As gunicorn's, but for as many requests as come in quick succession. Runs in a thread of the pool."""
        with self._lock:
            self._waiting -= 1
            self._working += 1
        try:
            while True:
                result = super().handle(conn)
                if result is not True or conn.is_http2 or not self._comes_more(conn):
                    return result
        finally:
            with self._lock:
                self._working -= 1

    def handle_request(self, req: Any, conn: Any) -> Any:
        """As gunicorn's; afterwards the whole answer is on its way, whatever the client has still to send."""
        try:
            return super().handle_request(req, conn)
        finally:
            _hold_back(conn.sock, False)

    def _comes_more(self, conn: Any) -> bool:
        """Whether the client sends its next request while this thread can wait for it."""
        if not self.alive or conn.parser.unreader.buf.getvalue():  # gunicorn knows what to do with either
            return False
        with self._stay() as may_stay:
            return may_stay and self._wait(conn.sock)

    @contextlib.contextmanager
    def _stay(self) -> Iterator[bool]:
        with self._lock:
            may_stay = not self._waiting and self._staying < self.cfg.threads // 2
            self._staying += may_stay
        try:
            yield may_stay
        finally:
            with self._lock:
                self._staying -= may_stay

    def _wait(self, sock: Any) -> bool:
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        poll.register(self._called, select.POLLIN)
        until = time.monotonic() + STAY_SECONDS
        while self.alive and (left := until - time.monotonic()) > 0:
            ready = {file for file, _ in poll.poll(left * 1000)}
            if sock.fileno() in ready:
                return True
            if self._called in ready:
                with contextlib.suppress(BlockingIOError):  # then another one has heard it
                    os.read(self._called, 1)
                    return False
        return False


def _hold_back(sock: Any, on: bool) -> None:
    """Has the kernel send only full packets, or all that is left."""
    if _HOLD_BACK is not None and sock.family != socket.AF_UNIX:
        with contextlib.suppress(OSError):  # it is closed already
            sock.setsockopt(socket.IPPROTO_TCP, _HOLD_BACK, int(on))
