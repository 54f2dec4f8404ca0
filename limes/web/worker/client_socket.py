"""A client's socket as gunicorn sees it: reading gives what has already arrived, and writing never waits for long.

So a slow client never keeps a thread waiting. What it has not sent or taken yet is kept in spools.
"""

import contextlib
import errno
import logging
import select
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO, Any

from msgspec import Struct

from limes.web.worker.framing import Framing, HeadTooLarge, Stage

log = logging.getLogger(__name__)

_IN_MEMORY = 64 * 1024
READER_SECONDS = 1.0
_HEAD_STEP = 16 * 1024
_STEP = 64 * 1024
_OPEN = (Stage.HEAD, Stage.BODY)
_LINGER_SIZE = 16 * 1024 * 1024
_SOCKET = socket.socket


class Limits(Struct, frozen=True):
    """Durations in seconds, sizes in bytes; all of them for each worker process."""

    header_timeout: float = 10.0
    """From a request's first byte, or from the opening of the connection, to the end of its head."""
    body_timeout: float = 30.0
    """From the end of the head to the end of the body. Each `min_rate` bytes that arrive add one second."""
    send_timeout: float = 30.0
    """How long a client may take over an answer. Each `min_rate` bytes that it takes add one second."""
    min_rate: int = 1024
    """Bytes a second."""
    connections_per_peer: int = 1024
    """Open connections from one address; 0 for any number."""
    max_body_size: int = 10 * 1024 * 1024
    """The largest body that the app accepts. A larger one is not waited for: the app refuses it."""
    spool_size: int = 1024 * 1024 * 1024
    """How much of the temporary folder all bodies and answers that are too large for memory may take together."""


class SpoolFull(Exception):
    """There are more bytes than the worker may keep."""


class SpoolBudget:
    """How much all spools of a worker together may write into the temporary folder, in bytes."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        with self._lock:
            if size > self._left:
                raise SpoolFull
            self._left -= size

    def give_back(self, size: int) -> None:
        with self._lock:
            self._left += size


class Spool:
    """First in, first out. A little is kept in memory; more goes into a temporary file that has no name."""

    def __init__(self, budget: SpoolBudget) -> None:
        self._budget = budget
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._taken = 0
        self._read_at = 0

    def __len__(self) -> int:
        return self._taken - self._read_at if self._file else len(self._memory)

    def write(self, data: bytes | memoryview) -> None:
        """Appends. Raises `SpoolFull`, also when the disk is full."""
        if self._file is None and len(self._memory) + len(data) <= _IN_MEMORY:
            self._memory += data
            return
        if self._file is None:
            held, self._memory = bytes(self._memory), bytearray()
            self._add(held)
        self._add(data)

    def _add(self, data: bytes | memoryview) -> None:
        self._budget.take(len(data))
        self._taken += len(data)
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - close() closes it
            self._file.seek(0, 2)
            remaining = memoryview(data)
            while remaining:
                remaining = remaining[self._file.write(remaining) :]
        except OSError as error:
            raise SpoolFull(str(error)) from error

    def peek(self, size: int) -> bytes:
        """Returns the next bytes, without taking them."""
        if self._file is None:
            return bytes(self._memory[:size])
        self._file.seek(self._read_at)
        return self._file.read(size)

    def skip(self, size: int) -> None:
        if self._file is None:
            del self._memory[:size]
        else:
            self._read_at += size
            if self._read_at == self._taken:
                self.close()

    def read(self, size: int) -> bytes:
        data = self.peek(size)
        self.skip(len(data))
        return data

    def close(self) -> None:
        """Drops everything. The spool may be used again."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._budget.give_back(self._taken)
        self._memory.clear()
        self._taken = self._read_at = 0


class ClientSocket(socket.socket):
    """Belongs to one thread at a time: the one that waits for clients, or the one that works on the request."""

    def __init__(self, sock: socket.socket, limits: Limits, budget: SpoolBudget) -> None:
        super().__init__(sock.family, sock.type, sock.proto, fileno=sock.detach())
        _SOCKET.setblocking(self, False)
        self._limits = limits
        self._inbox: bytes | bytearray = b""
        self._given = 0
        self._in_spool = Spool(budget)
        self._is_spooled = False
        self._next = b""
        self._failure: Exception | None = None
        """Why the rest of the request cannot be read."""
        self._out_spool = Spool(budget)
        self.framing = Framing(limits.max_body_size)
        self.ended = False
        self.received = 0
        self.wait_seconds = READER_SECONDS
        """How long a thread may still wait for the client to take more of this answer."""
        self.read_until = 0.0
        """Until when the rest of a body that is too large to wait for may be read."""
        self.may_wait: Callable[[ClientSocket], bool] = lambda sock: False
        """Waits, if the thread is not needed, and says whether the client takes more of its answer."""

    # -- the request, while it arrives

    @property
    def is_ready(self) -> bool:
        """Whether a thread can work on the request without waiting for the client."""
        return self.ended or self.framing.stage not in _OPEN

    def receive(self) -> bool:
        """Reads what has arrived; True if the request is ready. Raises `OSError`, `HeadTooLarge`, `SpoolFull`."""
        if self._failure is not None:
            raise self._failure
        try:
            data = _SOCKET.recv(self, _STEP if self.received else _HEAD_STEP)
        except (BlockingIOError, InterruptedError):
            return False
        if not data:
            self.ended = True
            return True
        try:
            self._take(data)
        except (HeadTooLarge, SpoolFull) as failure:
            self._failure = failure
            raise
        return self.is_ready

    def next_request(self) -> bool:
        self._inbox, self._given, self.received, self.wait_seconds = b"", 0, 0, READER_SECONDS
        if self._is_spooled:
            self._in_spool.close()
            self._is_spooled = False
        self.framing = Framing(self._limits.max_body_size)
        if self._next:
            data, self._next = self._next, b""
            self._take(data)
        return self.is_ready

    def _take(self, data: bytes) -> None:
        used = self.framing.feed(data)
        if used < len(data):
            self._next = data[used:]
            data = data[:used]
        if not self.received:
            self._inbox = data
        elif self._is_spooled or len(self._inbox) + used > 2 * _STEP:
            self._is_spooled = True
            self._in_spool.write(data)
        else:
            if isinstance(self._inbox, bytes):
                self._inbox = bytearray(self._inbox)
            self._inbox += data
        self.received += used

    @property
    def whole_request(self) -> bytes | bytearray:
        """All of the request, unless it is incomplete, or too large for memory: then nothing."""
        return self._inbox if self.framing.stage is Stage.WHOLE and not self._is_spooled else b""

    # -- what gunicorn's parser calls

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Returns bytes of this request, never of the next one; none at its end."""
        if self._given < len(self._inbox):
            data = bytes(self._inbox[self._given : self._given + size])
            self._given += len(data)
            return data
        if self._is_spooled and (data := self._in_spool.read(size)):
            return data
        return self._recv_more(size) if self.framing.stage is Stage.TOO_LONG else b""

    def _recv_more(self, size: int) -> bytes:
        poll = select.poll()
        poll.register(self, select.POLLIN)
        while (remaining := self.read_until - time.monotonic()) > 0:
            if poll.poll(remaining * 1000):
                with contextlib.suppress(BlockingIOError):
                    return _SOCKET.recv(self, size)
        return b""

    def setblocking(self, flag: bool) -> None:
        """It never blocks."""

    def settimeout(self, value: float | None) -> None: ...

    def gettimeout(self) -> float | None:
        return None

    # -- the answer

    @property
    def is_sent(self) -> bool:
        return not len(self._out_spool)

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Sends it, or keeps what the client does not take. Raises `OSError` if the client has gone away."""
        data = memoryview(data)
        if not self.is_sent:
            self.drain()
        while data and self.is_sent:
            try:
                data = data[_SOCKET.send(self, data) :]
            except BlockingIOError:
                if not self.may_wait(self):
                    break
        if data:
            try:
                self._out_spool.write(data)
            except SpoolFull as error:
                log.warning("an answer was broken off: its client is slow, and too much waits for others already")
                raise BrokenPipeError(errno.EPIPE, "no room for the rest of the answer") from error

    def send(self, data: Any, flags: int = 0) -> int:
        self.sendall(data)
        return len(data)

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> int:
        file.seek(offset)
        sent = 0
        while part := file.read(_STEP if count is None else min(_STEP, count - sent)):
            sent += self.send(part)
        return sent

    def drain(self) -> int:
        """Sends as much of what is kept as the client takes now. Returns the number of bytes."""
        sent = 0
        while part := self._out_spool.peek(4 * _STEP):
            try:
                step = _SOCKET.send(self, part)
            except BlockingIOError:
                break
            self._out_spool.skip(step)
            sent += step
        return sent

    def end_answers(self) -> None:
        self.shutdown(socket.SHUT_WR)
        self.received = 0

    def discard(self) -> bool:
        """Reads the bytes after the last answer, and says whether more may come."""
        try:
            data = _SOCKET.recv(self, _STEP)
        except (BlockingIOError, InterruptedError):
            return True
        self.received += len(data)
        return bool(data) and self.received < _LINGER_SIZE

    def close(self) -> None:
        self._in_spool.close()
        self._out_spool.close()
        super().close()
