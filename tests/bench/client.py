"""A client that costs next to nothing: one kept connection, and just as much of HTTP as both servers speak."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


class Client:
    """One connection, on which each request has the same token and other headers."""

    def __init__(self, port: int, token: str, headers: Mapping[str, str] | None = None) -> None:
        self._port = port
        lines = {"Host": f"127.0.0.1:{port}", "X-Auth-Token": token, **(headers or {})}
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._socket: socket.socket | None = None

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Answers status and body."""
        data = b"" if body is None else json.dumps(body).encode()
        kind = "" if body is None else "Content-Type: application/json\r\n"
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}{kind}Content-Length: {len(data)}\r\n\r\n"
        try:
            return self._ask(head.encode() + data)
        except ConnectionError:  # the server has closed a connection that was idle
            self._socket = None
            return self._ask(head.encode() + data)

    def get(self, path: str) -> bytes:
        """The body of a 200 answer."""
        status, data = self("GET", path)
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {data[:500]!r}")
        return data

    def _ask(self, request: bytes) -> tuple[int, bytes]:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=600)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(request)
        received = self._receive(b"")
        while b"\r\n\r\n" not in received:
            received = self._receive(received)
        head, _, data = received.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        headers = dict(line.split(b": ", 1) for line in lines[1:])
        if b"transfer-encoding" in headers:
            while not data.endswith(b"\r\n0\r\n\r\n"):
                data = self._receive(data)
            parts = list(_chunks(data))
        else:
            parts = [data]
            missing = int(headers.get(b"content-length", b"0")) - len(data)
            while missing > 0:
                parts.append(self._receive(b""))
                missing -= len(parts[-1])
        if headers.get(b"connection") == b"close":
            self._socket.close()
            self._socket = None
        return int(lines[0].split()[1]), b"".join(parts)

    def _receive(self, before: bytes) -> bytes:
        assert self._socket is not None
        more = self._socket.recv(1 << 20)
        if not more:
            raise ConnectionResetError
        return before + more


def _chunks(data: bytes) -> Iterator[bytes]:
    while size := int(data[: data.index(b"\r\n")], 16):
        start = data.index(b"\r\n") + 2
        yield data[start : start + size]
        data = data[start + size + 2 :]


def seconds_of(work: Callable[[], object]) -> float:
    """How long a piece of work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def in_parallel(clients: Sequence[Client], work: Callable[[Client, int], None]) -> float:
    """Seconds until a thread for each client has done `work(client, number)`."""
    failures: list[BaseException] = []

    def run(client: Client, number: int) -> None:
        try:
            work(client, number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(client, number)) for number, client in enumerate(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return time.perf_counter() - started
