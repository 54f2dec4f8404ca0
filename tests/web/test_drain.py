"""What happens to requests that come while a server stops."""

import os
import signal
import socket
from pathlib import Path

import pytest
import requests

from tests.support.processes import children_of, eventually
from tests.web.house import PLACEMENT, TOKEN, running

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]
LIST = f"GET /resource_providers HTTP/1.1\r\nHost: x\r\nX-Auth-Token: {TOKEN}\r\n\r\n".encode()


PATIENT = """
import signal
_set = signal.setitimer
signal.setitimer = lambda which, seconds: _set(which, 40 * seconds)
"""
"""It drains for ten minutes, which settings do not allow, so that the slowest machine has seen what it wants."""


def answer_of(client: socket.socket) -> bytes:
    data = b""
    while part := client.recv(65536):
        data += part
    return data


def test_connections_that_wait_are_answered(tmp_path: Path) -> None:
    """They are complete for the client before the server has seen them, so they must not be cut off."""
    with running(PLACEMENT, tmp_path) as (port, process):
        eventually("there are two", lambda: len(children_of(process.pid)) == 2)
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


def test_the_health_check_says_it_first(tmp_path: Path) -> None:
    """Requests are answered, on old and new connections, and each is the last one of its connection. A second signal
    ends it."""
    (tmp_path / "sitecustomize.py").write_text(PATIENT)
    with running(PLACEMENT, tmp_path, path=str(tmp_path), drain=15) as (port, process), requests.Session() as session:
        session.trust_env = False
        session.headers["X-Auth-Token"] = TOKEN
        url = f"http://127.0.0.1:{port}"
        assert session.get(f"{url}/resource_providers").headers.get("Connection", "keep-alive") == "keep-alive"
        process.terminate()
        eventually("it drains", lambda: requests.get(f"{url}/healthcheck", timeout=60).status_code == 503)
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
        process.terminate()
        assert process.wait() == 0


def test_it_stops_by_itself(tmp_path: Path) -> None:
    with running(PLACEMENT, tmp_path, drain=0.5) as (_, process):
        process.terminate()
        assert process.wait() == 0
