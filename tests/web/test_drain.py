"""What happens to requests that come while a server stops."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.support.processes import ServerProcess, children_of
from tests.web.house import PLACEMENT, TOKEN, running

pytestmark = [pytest.mark.timeout(300)]
LIST = f"GET /resource_providers HTTP/1.1\r\nHost: x\r\nX-Auth-Token: {TOKEN}\r\n\r\n".encode()


def until_it_says(url: str, status: int) -> None:
    deadline = time.monotonic() + 60
    while requests.get(url, timeout=60).status_code != status:
        assert time.monotonic() < deadline


def answer_of(client: socket.socket) -> bytes:
    data = b""
    while part := client.recv(65536):
        data += part
    return data


def test_connections_that_wait_are_answered(tmp_path: Path) -> None:
    """They are complete for the client before the server has seen them, so they must not be cut off."""
    with running(PLACEMENT, tmp_path) as (port, process):
        workers = children_of(process.pid)
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        clients = [socket.create_connection(("127.0.0.1", port), timeout=120) for _ in range(8)]
        for client in clients:
            client.sendall(LIST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        process.terminate()
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
        answers = [answer_of(client) for client in clients]
        assert [answer[:15] for answer in answers] == [b"HTTP/1.1 200 OK"] * 8
        assert process.wait() == 0


@pytest.fixture
def draining(tmp_path: Path) -> Iterator[tuple[str, int, ServerProcess, requests.Session]]:
    """A server that has got SIGTERM, and a client with a connection of before."""
    with running(PLACEMENT, tmp_path, drain=15) as (port, process), requests.Session() as session:
        session.trust_env = False
        session.headers["X-Auth-Token"] = TOKEN
        url = f"http://127.0.0.1:{port}"
        assert session.get(f"{url}/resource_providers").headers.get("Connection", "keep-alive") == "keep-alive"
        process.terminate()
        until_it_says(f"{url}/healthcheck", 503)
        yield url, port, process, session


def test_the_health_check_says_it_first(draining: tuple[str, int, ServerProcess, requests.Session]) -> None:
    """Requests are answered, on old and new connections, and each is the last one of its connection."""
    url, port, process, session = draining
    for _ in range(3):
        answer = session.get(f"{url}/resource_providers")
        assert (answer.status_code, answer.headers["Connection"]) == (200, "close")
    for path in ("/healthcheck", "/healthcheck?only=process"):
        answer = session.get(f"{url}{path}")
        assert (answer.status_code, answer.text) == (503, "about to stop\n")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(LIST)
        assert answer_of(client).startswith(b"HTTP/1.1 200 OK")
    assert process.is_running()


def test_it_stops_by_itself(draining: tuple[str, int, ServerProcess, requests.Session]) -> None:
    assert draining[2].wait() == 0


def test_a_second_signal_stops_it(draining: tuple[str, int, ServerProcess, requests.Session]) -> None:
    draining[2].terminate()
    assert draining[2].wait() == 0
