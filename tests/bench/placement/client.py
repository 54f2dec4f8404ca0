"""A client that costs next to nothing: one kept connection, raw bytes."""

import http.client
import json
import threading
import time
from collections.abc import Callable
from typing import Any


class Client:
    """One connection, which asks for microversion 1.`minor`."""

    def __init__(self, port: int, minor: int = 39) -> None:
        self._version = f"placement 1.{minor}"
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Answers status and body."""
        headers = {"x-auth-token": "admin", "openstack-api-version": self._version}
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


def in_parallel(port: int, clients: int, work: Callable[[Client, int], None]) -> float:
    """Seconds until `clients` threads, each with a connection, have done `work(client, number)`."""
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(Client(port), number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return time.perf_counter() - started
