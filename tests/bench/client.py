"""A client that costs next to nothing: one kept connection, and just as much of HTTP as both servers speak."""

import json
import re
import select
import socket
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

Reply = tuple[int, bytes]
"""Status and body."""
Script = Generator[bytes, Reply, None]
_AT_ONCE = 1 << 18
_LENGTH = re.compile(rb"(?i)\r\nContent-Length: *(\d+)")
_CHUNKED = re.compile(rb"(?i)\r\nTransfer-Encoding: *chunked")
_CLOSE = re.compile(rb"(?i)\r\nConnection: *close")
_LAST_CHUNK = b"\r\n0\r\n\r\n"


class Client:
    """One connection, on which each request has the same token and other headers."""

    def __init__(self, port: int, token: str, headers: Mapping[str, str] | None = None) -> None:
        self._port = port
        lines = {"Host": f"127.0.0.1:{port}", "X-Auth-Token": token, **(headers or {})}
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._socket: socket.socket | None = None
        self._answer = _Answer()

    def __call__(self, method: str, path: str, body: Any = None) -> Reply:
        """Answers status and body."""
        request = self.encode(method, path, body)
        try:
            return self._ask(request)
        except ConnectionError:  # the server has closed a connection that was idle
            self._socket = None
            return self._ask(request)

    def get(self, path: str) -> bytes:
        """The body of a 200 answer."""
        status, data = self("GET", path)
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {data[:500]!r}")
        return data

    def encode(self, method: str, path: str, body: Any = None) -> bytes:
        data = b"" if body is None else json.dumps(body).encode()
        kind = "" if body is None else "Content-Type: application/json\r\n"
        return f"{method} {path} HTTP/1.1\r\n{self._headers}{kind}Content-Length: {len(data)}\r\n\r\n".encode() + data

    def send(self, request: bytes) -> None:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=600)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answer = _Answer()
        self._socket.sendall(request)

    def receive(self) -> Reply | None:
        """Waits for something to arrive. Answers status and body, once all of it is there."""
        assert self._socket is not None
        data = self._socket.recv(_AT_ONCE)
        if not data:
            raise ConnectionResetError
        reply = self._answer.take(data)
        if reply is not None and self._answer.is_last:
            self._socket.close()
            self._socket = None
        return reply

    @property
    def is_open(self) -> bool:
        return self._socket is not None

    def fileno(self) -> int:
        assert self._socket is not None
        return self._socket.fileno()

    def _ask(self, request: bytes) -> Reply:
        self.send(request)
        while (reply := self.receive()) is None:
            pass
        return reply


class _Answer:
    """What has arrived of one answer."""

    is_last = False
    """Whether the server closes the connection after it."""

    def __init__(self) -> None:
        self._status = 0
        self._parts = [b""]
        self._missing: int | None = None
        """Bytes of the body; None while its end is not known."""

    def take(self, data: bytes) -> Reply | None:
        """Answers status and body, once all of it is there."""
        if not self._status:
            head, end, data = (self._parts[0] + data).partition(b"\r\n\r\n")
            if not end:
                self._parts = [head]
                return None
            self._parts, self._status = [], int(head[9:12])
            self.is_last = _CLOSE.search(head) is not None
            length = _LENGTH.search(head)
            if length or not _CHUNKED.search(head):
                self._missing = int(length[1]) if length else 0
        self._parts.append(data)
        if self._missing is not None:
            self._missing -= len(data)
            return None if self._missing > 0 else (self._status, b"".join(self._parts))
        end = data if len(data) >= len(_LAST_CHUNK) else b"".join(self._parts)
        return (self._status, b"".join(_chunks(b"".join(self._parts)))) if end.endswith(_LAST_CHUNK) else None


def _chunks(data: bytes) -> Iterator[bytes]:
    start = 0
    while size := int(data[start : (end := data.index(b"\r\n", start))], 16):
        yield data[end + 2 : end + 2 + size]
        start = end + 4 + size


def seconds_of(work: Callable[[], object]) -> float:
    """How long a piece of work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def in_parallel(clients: Sequence[Client], script: Callable[[Client, int], Script]) -> float:
    """Seconds until each client has done its `script(client, number)`, which yields encoded requests and gets replies.
    One thread asks for all of them: threads of Python would wait for each other, and measure themselves."""
    scripts = [(client, script(client, number)) for number, client in enumerate(clients)]
    first = [(client, one, next(one)) for client, one in scripts]
    asked: dict[int, tuple[Client, Script]] = {}
    with select.epoll() as poller:
        started = time.perf_counter()
        for client, one, request in first:
            client.send(request)
            asked[client.fileno()] = client, one
            poller.register(client, select.EPOLLIN)
        while asked:
            for file, _ in poller.poll():
                client, one = asked[file]
                if (reply := client.receive()) is None:
                    continue
                try:
                    request = one.send(reply)
                except StopIteration:
                    del asked[file]
                    continue
                assert client.is_open, "the server has closed a connection"
                client.send(request)
    return time.perf_counter() - started
