"""Requests that the server cannot read: they never reach the app, and are answered in JSON all the same."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from limes.db.migrate import limes_migrations
from tests.api.server import serve
from tests.support.databases import MigratedUrlFactory
from tests.support.processes import ServerProcess


@pytest.fixture
def server(database_url_with: MigratedUrlFactory, tmp_path: Path) -> Iterator[tuple[int, ServerProcess]]:
    port, process = serve(database_url_with(limes_migrations), tmp_path)
    with process:
        yield port, process


def answer_to(port: int, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body."""
    with socket.create_connection(("127.0.0.1", port), timeout=200) as client:
        client.sendall(request)
        received = b""
        while part := client.recv(65536):
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return int(status.split()[1]), headers, body


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_refusals(server: tuple[int, ServerProcess]) -> None:
    port, process = server
    for request, expected in (
        (b"GET /" + 9000 * b"x" + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nX: " + 20_000 * b"x" + b"\r\n\r\n", 431),
        (b"GET / HTTP/7.9\r\n\r\n", 400),
        (b"get / HTTP/1.1\r\n\r\n", 400),
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nbad header: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: magic\r\n\r\n", 501),
        (b'GET / HTTP/1.1\r\nA"<b>: x\r\n\r\n', 400),
    ):
        status, headers, body = answer_to(port, request)
        (problem,) = json.loads(body)["errors"]
        assert (status, problem["status"], headers["content-type"]) == (expected, expected, "application/json")
        assert problem["title"]
        assert problem["detail"]
        assert headers["x-openstack-request-id"] == problem["request_id"]
        assert problem["request_id"] in process.log_text()
    assert answer_to(port, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")[0] == 300, "it goes on serving others"
