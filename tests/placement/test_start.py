"""How `limes placement` starts: the index is read once, nobody is asked to wait for it, and workers that come later
only read what has changed."""

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest
import requests
import yaml

from limes.db.engine import Engine
from limes.kernel.system import SystemClock
from limes.placement.migrations import placement_migrations
from limes.placement.objects.vocabulary import prepare
from tests.placement.index.writer import Writer
from tests.support.databases import UrlFactory
from tests.support.processes import ServerProcess, children_of, free_port, http_answers

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
_TIMEOUT = 120.0


class Placement:
    """A server with two workers on a database of its own."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.database_url = database_url
        self.engine = Engine(database_url)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._file = folder / "limes.yaml"
        self.process = ServerProcess(
            [sys.executable, "-m", "limes", "placement", "--config", self._file],
            ready=lambda: True,
            log=folder / "placement.log",
            env={"PYTHONPATH": f"{ROOT}:{ROOT / 'plugins'}"},
        )
        placement_migrations.upgrade(self.engine)
        prepare(self.engine, SystemClock())
        self.configure()
        self.add("first")

    def stop(self) -> None:
        """Ends the server, and lets go of the database."""
        self.process.stop()
        self.engine.close()

    def configure(self, **database: Any) -> None:
        """Writes the configuration."""
        document = {
            "database": {"url": self.database_url, **database},
            "identity": {"method": "noauth"},
            "placement": {"listen": f"127.0.0.1:{self.port}", "workers": 2, "threads": 2},
        }
        self._file.write_text(yaml.safe_dump(document))

    def add(self, name: str) -> None:
        """Adds a provider, past the API."""
        with self.engine.connection():
            self.engine.atomic(lambda: Writer(self.engine).provider(name))

    def get(self, path: str) -> requests.Response:
        """An answer, over a new connection."""
        headers = {"X-Auth-Token": "admin", "OpenStack-API-Version": "placement 1.39"}
        return requests.get(self.url + path, headers=headers, timeout=_TIMEOUT)

    def names(self) -> set[str]:
        """The providers, as one of the workers knows them."""
        return {one["name"] for one in self.get("/resource_providers").json()["resource_providers"]}

    def has_listener(self) -> bool:
        """Whether anybody listens."""
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", self.port)):
            return True
        return False

    def workers(self) -> set[int]:
        """The workers' process ids."""
        return set(children_of(self.process.pid))

    def refreshes(self, kind: str) -> float:
        """How often the index was brought up to date, over all processes so far."""
        name = f'limes_placement_index_refresh_seconds_count{{kind="{kind}"}} '
        lines = [line for line in self.get("/metrics").text.splitlines() if line.startswith(name)]
        return sum(float(line.removeprefix(name)) for line in lines)


@pytest.fixture
def placement(database_url: str, tmp_path: Path) -> Iterator[Placement]:
    placement = Placement(database_url, tmp_path)
    yield placement
    placement.stop()


@pytest.fixture
def on_postgresql(postgres_url_factory: UrlFactory, tmp_path: Path) -> Iterator[Placement]:
    placement = Placement(postgres_url_factory(), tmp_path)
    yield placement
    placement.stop()


def wait_for(what: Callable[[], Any], placement: Placement) -> None:
    """Waits until it is so."""
    deadline = time.monotonic() + _TIMEOUT
    while not what():
        assert time.monotonic() < deadline, placement.process.log_text()
        time.sleep(0.05)


def is_ready(placement: Placement) -> bool:
    """Whether the health check says so."""
    return http_answers(f"{placement.url}/healthcheck")()


@contextlib.contextmanager
def locked(placement: Placement, table: str) -> Iterator[Callable[[], bool]]:
    """Lets nobody read a table, for as long as the block lasts. Gives a function that tells whether somebody waits."""
    with contextlib.closing(psycopg2.connect(placement.database_url)) as connection, connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")

        def has_waiting() -> bool:
            cursor.execute(
                "SELECT COUNT(*) FROM pg_locks WHERE NOT granted"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
            return bool(cursor.fetchone()[0])

        yield has_waiting
        connection.rollback()


def replace_workers(placement: Placement, how: Callable[[], None]) -> None:
    """Does something that ends the workers, and waits until two others serve."""
    before = placement.workers()
    how()
    wait_for(lambda: not placement.workers() & before and len(placement.workers()) == 2, placement)
    wait_for(lambda: is_ready(placement), placement)


def kill_workers(placement: Placement) -> None:
    for worker in placement.workers():
        os.kill(worker, signal.SIGKILL)


def test_workers_share_what_was_read_once(placement: Placement) -> None:
    placement.process.start()
    wait_for(lambda: is_ready(placement), placement)
    assert placement.names() == {"first"}
    assert placement.refreshes("everything") == 1
    placement.add("second")
    assert all(placement.names() == {"first", "second"} for _ in range(10))
    assert placement.refreshes("everything") == 1

    # who comes later begins with what was read then, and reads what has changed since
    replace_workers(placement, lambda: kill_workers(placement))
    placement.add("third")
    assert all(placement.names() == {"first", "second", "third"} for _ in range(10))
    assert placement.refreshes("everything") == 1

    changes = placement.refreshes("changes")
    replace_workers(placement, lambda: os.kill(placement.process.pid, signal.SIGHUP))
    assert placement.names() == {"first", "second", "third"}
    assert placement.refreshes("everything") == 1
    # the main process has read "third" for all; how often the old workers read it depends on who answered above
    assert placement.refreshes("changes") > changes


def test_nobody_listens_before_the_index_is_read(on_postgresql: Placement) -> None:
    placement = on_postgresql
    placement.configure(lock_timeout=_TIMEOUT)
    with locked(placement, "placement_provider_traits") as somebody_waits:
        placement.process.start()
        wait_for(somebody_waits, placement)
        assert not placement.has_listener()
    wait_for(lambda: is_ready(placement), placement)
    assert placement.refreshes("everything") == 1
    assert placement.names() == {"first"}


def test_health_is_bad_as_long_as_the_index_cannot_be_read(on_postgresql: Placement) -> None:
    placement = on_postgresql
    placement.configure(lock_timeout=0.5)
    with locked(placement, "placement_provider_traits"):
        placement.process.start()
        wait_for(placement.has_listener, placement)
        assert placement.get("/healthcheck").status_code == 503
    wait_for(lambda: is_ready(placement), placement)
    assert placement.names() == {"first"}
    assert "the provider index is not read yet" in placement.process.log_text()
