"""A large answer through a real gunicorn: clients that go away, and a database that does."""

import contextlib
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from tests.api.server import THREADS, serve
from tests.reports.test_all_projects import add_projects
from tests.support.databases import MigratedUrlFactory

PROJECTS = 2000
HEADERS = {"X-Auth-Token": "cloud-viewer"}


@pytest.fixture
def server(database_url_with: MigratedUrlFactory, tmp_path: Path) -> Iterator[tuple[int, Engine]]:
    """The port, and the database. The answer has 20 MB: more than the buffers between a server and its client."""
    url = database_url_with(limes_migrations)
    engine = Engine(url)
    port, process = serve(url, tmp_path)
    with process:
        add_projects(engine, PROJECTS, "x" * 10_000)
        yield port, engine
    engine.close()


def begin(port: int) -> socket.socket:
    """Asks for all projects, and takes only the first bytes."""
    client = socket.create_connection(("127.0.0.1", port), timeout=200)
    client.sendall(b"GET /v1/projects HTTP/1.1\r\nHost: x\r\nX-Auth-Token: cloud-viewer\r\n\r\n")
    assert client.recv(500).startswith(b"HTTP/1.1 200 OK")
    return client


@pytest.mark.sql
def test_clients_that_go_away(server: tuple[int, Engine]) -> None:
    """More of them than there are connections to the database."""
    port, _ = server
    for _ in range(3 * THREADS):
        client = begin(port)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close resets
        client.close()
    answer = requests.get(f"http://127.0.0.1:{port}/v1/projects", headers=HEADERS, timeout=200)
    assert (answer.status_code, len(answer.json()["projects"])) == (200, PROJECTS + 3)
    for _ in range(2 * THREADS):
        assert requests.get(f"http://127.0.0.1:{port}/v1/domains", headers=HEADERS, timeout=200).status_code == 200


@pytest.mark.parametrize("databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_a_database_that_goes_away(server: tuple[int, Engine]) -> None:
    """The client is not left with what looks like the whole."""
    port, engine = server
    client = begin(port)
    engine.rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    received = b""
    with contextlib.suppress(ConnectionError):
        while part := client.recv(1 << 20):
            received += part
    client.close()
    assert not received.endswith(b"0\r\n\r\n")
    answer = requests.get(f"http://127.0.0.1:{port}/v1/projects", headers=HEADERS, timeout=200)
    assert (answer.status_code, len(answer.json()["projects"])) == (200, PROJECTS + 3)
