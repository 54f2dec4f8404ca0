"""gunicorn's thread worker, except that its threads never wait for a client.

A connection gets a thread only when its request is complete. It leaves the thread once the answer is made, even if the
client has not taken all of it. Before and after that it is in the waiting room, where it costs no thread
(docs/adr/0015-slow-clients.md).

A thread stays for a moment with the connection that it has just answered: gunicorn hands each request of a kept
connection from its main thread to one of the pool and back, which costs more than a small answer itself. Clients such
as nova send one request after the other on one connection. The next one mostly comes soon, and the thread that is still
there takes it (docs/adr/0007-threads-stay-with-their-connection.md).

TLS, the PROXY protocol and HTTP/2 are read by gunicorn itself, in a thread: what arrives on such a connection has to be
decoded first, so the waiting room cannot tell when a request is complete. It gets a thread with its first byte and is
cut off if the head of a request takes too long; slow bodies and slow readers hold their thread. Let a proxy do these
things if clients cannot be trusted.
"""

import contextlib
import errno
import logging
import os
import resource
import select
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

from limes.web.server import DRAIN
from limes.web.worker.client_socket import ClientSocket, Limits, SpoolBudget, SpoolFull
from limes.web.worker.connection_poller import Connection, ConnectionPoller, refuse
from limes.web.worker.framing import HeadTooLarge, Stage
from limes.web.worker.plain_request import PlainAnswer, PlainRequest

log = logging.getLogger(__name__)

STAY_SECONDS = 0.2


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


class KeepAliveWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """At most half of the threads stay with a connection, and one leaves it as soon as another request needs it."""

    wsgi: Any
    limits = Limits()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lock = threading.Lock()
        self._waiting = 0
        """Requests that no thread has taken yet."""
        self._working = 0
        """Threads that have a connection, whether they answer or wait for its next request."""
        self._staying = 0
        """Threads that wait for more on their connection."""
        self._budget = SpoolBudget(self.limits.spool_size)
        self._is_plain = _is_plain(self.cfg)
        self._heads: dict[Any, float] = {}
        """Until when each thread waits for the head of a request on a connection that gunicorn reads by itself."""

    def init_process(self) -> None:
        """As gunicorn's, in the worker's process. A byte in the pipe makes one staying thread leave its connection."""
        self._wake_reader, self._wake_writer = os.pipe()
        for end in (self._wake_reader, self._wake_writer):
            os.set_blocking(end, False)
        _allow_files(2 * self.worker_connections)
        super().init_process()

    def run(self) -> None:
        self._room = ConnectionPoller(self.poller, self.limits, self.cfg.keepalive, self.enqueue_req, self._forget)
        super().run()

    def _forget(self) -> None:
        self.nr_conns -= 1

    # -- in the main thread: connections come and go

    def accept(self, listener: Any) -> None:
        """As gunicorn's, except that a connection gets no thread before there is a request."""
        try:
            sock, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                log.error("no more connections can be opened: %s", error)
                self._room.make_room()
                time.sleep(0.05)  # gunicorn calls again at once
            elif error.errno not in (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK):
                raise
            return
        self.nr_conns += 1
        if self._is_plain:
            sock = ClientSocket(sock, self.limits, self._budget)
            sock.may_wait = self._wait_for_reader
            self._room.admit(Connection(self.cfg, sock, address, listener.getsockname()))
        else:
            conn = BlockingConnection(self.cfg, sock, address, listener.getsockname())
            conn.timeout = time.monotonic() + self.limits.header_timeout
            self.pending_conns.append(conn)
            self.poller.register(sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def enqueue_req(self, conn: Any) -> None:
        with self._lock:
            self._waiting += 1
            needed = self._staying > 0 and self._working + self._waiting > self.cfg.threads
        super().enqueue_req(conn)
        if needed:
            with contextlib.suppress(BlockingIOError):  # the pipe is full: enough threads are woken already
                os.write(self._wake_writer, b"\0")

    def finish_request(self, conn: Any, fs: Any) -> None:
        if not isinstance(conn, Connection):
            super().finish_request(conn, fs)
            return
        is_kept = not fs.cancelled() and fs.exception() is None and fs.result() is True
        if not conn.sock.is_sent:
            self._room.wait_for_reader(conn, is_kept=is_kept)
        elif is_kept:
            self._room.keep(conn)
        else:
            self._room.close_gracefully(conn)

    def murder_keepalived(self, force: bool = False) -> None:
        """As gunicorn's: closes what takes too long. Called after each event, and each second."""
        super().murder_keepalived(force)
        if force:
            self._room.close()
        self._room.close_expired()
        now = time.monotonic()
        for conn, deadline in list(self._heads.items()):
            if deadline <= now:
                with contextlib.suppress(OSError):  # it is closed already
                    socket.socket.shutdown(conn.sock, socket.SHUT_RDWR)  # also where TLS is not ready for it
        if self.nr_conns >= self.worker_connections:
            self._room.make_room()

    def _cap_keepalive(self, deadline: float) -> None:
        """As gunicorn's, which keeps listening to the end: clients would connect, and be cut off then. Here clients
        that wait to be accepted are taken, and the addresses are let go."""
        for listener in self.sockets:
            accepted = -1
            while accepted != self.nr_conns and self.nr_conns < self.worker_connections:
                accepted = self.nr_conns
                self.accept(listener)
            listener.close()
        super()._cap_keepalive(deadline)
        self._room.stop()

    # -- in a thread of the pool

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        refuse(client, addr, exc)

    def handle(self, conn: Any) -> Any:
        """As gunicorn's, but for all requests that come in quick succession."""
        with self._lock:
            self._waiting -= 1
            self._working += 1
        if not isinstance(conn, Connection):
            self._heads[conn] = time.monotonic() + self.limits.header_timeout
        try:
            while True:
                result = super().handle(conn)
                if result is not True or not isinstance(conn, Connection) or not self._receive_next(conn):
                    return result
        finally:
            self._heads.pop(conn, None)
            with self._lock:
                self._working -= 1

    def handle_request(self, req: Any, conn: Any) -> Any:
        """As gunicorn's; afterwards the whole answer is sent, or waits for the client."""
        if not isinstance(conn, Connection):
            self._heads.pop(conn, None)
            return super().handle_request(req, conn)
        if conn.was_told_to_continue:
            req._expected_100_continue = conn.was_told_to_continue = False
        if conn.sock.framing.stage is not Stage.WHOLE:  # it is unknown where the next request begins
            req.force_close()
            conn.sock.read_until = time.monotonic() + self.limits.body_timeout
        if DRAIN.is_on:
            req.force_close()
        return self._answer(req, conn) if isinstance(req, PlainRequest) else super().handle_request(req, conn)

    def _answer(self, req: PlainRequest, conn: Connection) -> bool:
        """As gunicorn's `handle_request`, but for its hooks and its access log, which nothing uses here."""
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False
        if not self.alive or not self.cfg.keepalive:
            req.force_close()
        answer = PlainAnswer(req, conn.sock, self.cfg)
        body = self.wsgi(req.environ, answer.start)
        try:
            answer.send(body)
        finally:
            if hasattr(body, "close"):
                body.close()
        return not req.must_close

    def _receive_next(self, conn: Connection) -> bool:
        """Returns whether the client sent its next request while this thread could wait for it."""
        if conn.sock.next_request() or not self.alive or not conn.sock.is_sent:  # the waiting room takes it from here
            return False
        with self._staying_thread() as may_stay:
            if not may_stay or not self._wait(conn.sock, select.POLLIN, STAY_SECONDS):
                return False
            with contextlib.suppress(OSError, HeadTooLarge, SpoolFull):  # the waiting room will see it as well
                return conn.sock.receive()
        return False

    def _wait_for_reader(self, sock: ClientSocket) -> bool:
        """Returns whether the client took more of its answer while this thread could wait for it."""
        with self._staying_thread() as may_stay:
            if not may_stay or sock.wait_seconds <= 0:
                return False
            began = time.monotonic()
            takes_more = self._wait(sock, select.POLLOUT, sock.wait_seconds)
            sock.wait_seconds -= time.monotonic() - began
            return takes_more

    @contextlib.contextmanager
    def _staying_thread(self) -> Iterator[bool]:
        with self._lock:
            may_stay = not self._waiting and self._staying < self.cfg.threads // 2
            self._staying += may_stay
        try:
            yield may_stay
        finally:
            with self._lock:
                self._staying -= may_stay

    def _wait(self, sock: Any, event: int, seconds: float) -> bool:
        poll = select.poll()
        poll.register(sock, event)
        poll.register(self._wake_reader, select.POLLIN)
        until = time.monotonic() + seconds
        while self.alive and (remaining := until - time.monotonic()) > 0:
            ready = {file for file, _ in poll.poll(remaining * 1000)}
            if sock.fileno() in ready:
                return True
            if self._wake_reader in ready:
                with contextlib.suppress(BlockingIOError):  # another thread has read it
                    os.read(self._wake_reader, 1)
                    return False
        return False


def with_limits(limits: Limits) -> type[KeepAliveWorker]:
    return type("KeepAliveWorker", (KeepAliveWorker,), {"limits": limits})


def _is_plain(cfg: Any) -> bool:
    """Returns whether connections carry plain HTTP/1. If not, gunicorn itself reads from them, in a thread."""
    return not cfg.is_ssl and (cfg.proxy_protocol, cfg.protocol, cfg.http2_cleartext) == ("off", "http", "off")


def _allow_files(number: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
