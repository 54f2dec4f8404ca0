"""A client that costs next to nothing: one kept connection, raw bytes."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any


class Client:
    """One connection, on which each request has the same token and other headers."""

    def __init__(self, port: int, token: str, headers: Mapping[str, str] | None = None) -> None:
        self._headers = {"x-auth-token": token, **(headers or {})}
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Answers status and body."""
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["content-type"] = "application/json"
        try:
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except (http.client.HTTPException, ConnectionError):
            self._connection.close()
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read()

    def get(self, path: str) -> bytes:
        """The body of a 200 answer."""
        status, data = self("GET", path)
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {data[:500]!r}")
        return data


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
