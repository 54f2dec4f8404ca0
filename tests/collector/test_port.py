"""The port of the collector and of `limes metrics`: nobody can make it deaf by keeping connections."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from limes.collector import http
from limes.collector.http import operational_server
from limes.db.engine import Engine
from tests.support.processes import eventually


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with operational_server("127.0.0.1:0", Engine(f"sqlite:///{tmp_path}/limes.db"), {}) as port:
        yield port


def threads() -> int:
    return sum("process_request_thread" in thread.name for thread in threading.enumerate())


def test_nothing_else_is_served(port: int) -> None:
    address = f"http://127.0.0.1:{port}"
    assert requests.get(f"{address}/v1", timeout=100).status_code == 404
    refused = requests.post(f"{address}/healthcheck", timeout=100)
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    found = requests.head(f"{address}/healthcheck", timeout=100)
    assert (found.status_code, found.headers["content-length"]) == (200, "3")


def test_idle_connections_take_no_place(port: int) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 100)) for _ in range(100)]
        assert requests.get(f"http://127.0.0.1:{port}/healthcheck?only=process", timeout=100).text == "ok\n"
        eventually("only so many are kept", lambda: threads() <= 32)
        assert clients[0].recv(1) == b"", "the one that has waited for longest"


def test_a_request_has_to_arrive_in_time(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends a byte now and then does not stay for ever."""
    monkeypatch.setattr(http, "_HEAD_SECONDS", 1.0)
    with socket.create_connection(("127.0.0.1", port), 100) as client:
        client.settimeout(0.1)

        def is_closed() -> bool:
            try:
                client.sendall(b"G")
                return client.recv(1) == b""
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        eventually("it is cut off", is_closed, timeout=100)
