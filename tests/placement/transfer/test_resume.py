"""An import from a source that fails in between, or cannot answer everything, as upstream on PostgreSQL cannot."""

import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import requests

from limes.placement.transfer.api import FRESH, Journal
from tests.placement.transfer import test_import
from tests.placement.transfer.test_import import SUMMARY, Command, Source
from tests.support.clock import FrozenClock
from tests.support.databases import PostgresDatabases
from tests.support.http_server import HttpServer
from tests.support.postgres import PostgresServer
from tests.support.upstream_placement import PlacementFactory

command = test_import.command
ONE_TARGET = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
"""What differs here is the source."""
PROVIDERS = 3 * test_import.HOSTS + 1


@pytest.fixture(scope="module")
def on_postgresql(upstream_placement_factory: PlacementFactory, postgres: PostgresServer) -> Iterator[Source]:
    """Upstream on PostgreSQL."""
    databases = PostgresDatabases(postgres, {})
    upstream = upstream_placement_factory(database_url=databases.empty())
    source = Source(upstream.url)
    source.fill()
    yield source
    upstream.process.stop()
    databases.drop_all()


class Flaky:
    """A proxy before a source. It counts what is asked, and fails for one path for as long as it is told."""

    def __init__(self, source: Source) -> None:
        self.asked: Counter[str] = Counter()
        self.failing: str | None = None
        flaky = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                flaky.asked[self.path] += 1
                if flaky.failing is not None and flaky.failing in self.path:
                    status, kind, body = 500, "application/json", b'{"errors": [{"detail": "it broke"}]}'
                else:
                    names = ("X-Auth-Token", "OpenStack-API-Version", "Accept")
                    headers = {name: self.headers[name] for name in names if name in self.headers}
                    answer = requests.get(source.url + self.path, headers=headers, timeout=30)
                    status, kind, body = answer.status_code, answer.headers["content-type"], answer.content
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                """Is quiet."""

        self._server = HttpServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def flaky(on_postgresql: Source) -> Iterator[Flaky]:
    proxy = Flaky(on_postgresql)
    yield proxy
    proxy.stop()


@pytest.mark.long
@ONE_TARGET
@pytest.mark.postgresql
def test_upstream_on_postgresql(on_postgresql: Source, command: Command) -> None:
    headers = {"X-Auth-Token": "admin", "OpenStack-API-Version": "placement 1.38"}
    usages = requests.get(f"{on_postgresql.url}/usages?project_id=p1", headers=headers, timeout=30)
    assert usages.status_code == 500, "upstream has mended what this test is about"
    code, out, err = command("--from", on_postgresql.url, "--token", "admin")
    assert (code, out) == (0, f"{SUMMARY}: 0 differences.\n"), err
    assert not (command.config.parent / "state").exists()


@ONE_TARGET
@pytest.mark.postgresql
def test_it_goes_on_where_it_failed(flaky: Flaky, command: Command) -> None:
    arguments = ("--from", flaky.url, "--token", "admin")
    consumer = f"/allocations/{test_import.uuid_of('mig')}"

    flaky.failing = consumer
    code, out, err = command(*arguments)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1] == f"limes: GET {flaky.url}{consumer}: HTTP 500: it broke"
    state = command.config.parent / "state"
    assert state.stat().st_mode & 0o777 == 0o600
    before = flaky.asked.copy()
    assert before["/resource_providers"] == 1

    flaky.failing = None
    code, out, err = command(*arguments)
    assert (code, out) == (0, f"{SUMMARY}: 0 differences.\n"), err
    assert "going on with " in err
    assert not state.exists()
    again = flaky.asked - before
    # each was asked once more, to compare; the consumer that failed, and those after it, twice
    providers = {path: count for path, count in again.items() if path.startswith("/resource_providers/")}
    assert (len(providers), set(providers.values())) == (5 * PROVIDERS, {1})
    assert again["/resource_providers"] == 1
    assert again[consumer] == 2


@ONE_TARGET
@pytest.mark.long
@pytest.mark.postgresql
def test_a_comparison_goes_on_as_well(flaky: Flaky, command: Command) -> None:
    arguments = ("--from", flaky.url, "--token", "admin")
    assert command(*arguments)[0] == 0
    flaky.failing = "/allocations/"
    assert command(*arguments, "--verify-only")[0] == 1
    before = flaky.asked.copy()
    flaky.failing = None
    code, out, _ = command(*arguments)
    assert (code, out) == (0, f"{SUMMARY}: 0 differences.\n")
    # nothing was left to write, so there was nothing to read twice
    again = flaky.asked - before
    assert not [path for path in again if path.startswith("/resource_providers/") and "allocations" not in path]
    assert again["/resource_providers"] == 0

    flaky.failing = "/allocations/"
    assert command(*arguments)[0] == 1
    flaky.failing = None
    before = flaky.asked.copy()
    assert command(*arguments, "--fresh")[0] == 0
    assert (flaky.asked - before)["/resource_providers"] == 2


class Numbered:
    """A source that answers how often it was asked."""

    version = 39

    def __init__(self) -> None:
        self.count = 0

    def get(self, path: str) -> Any:
        self.count += 1
        return {path: self.count}


class TestJournal:
    def test_what_is_kept(self, tmp_path: Path) -> None:
        clock, path = FrozenClock(), tmp_path / "state"
        first = Journal(Numbered(), "a", path, clock)
        assert (first.get("/x"), first.get("/y"), first.kept) == ({"/x": 1}, {"/y": 2}, 0)
        first.close()
        with path.open("ab") as file:
            file.write(b'["/z", {"/z"')  # it was killed while it wrote
        source = Numbered()
        second = Journal(source, "a", path, clock)
        assert (second.kept, second.get("/y"), second.get("/z")) == (2, {"/y": 2}, {"/z": 1})
        second.close()
        assert Journal(Numbered(), "a", path, clock).kept == 3

    @pytest.mark.parametrize("change", ["source", "time", "fresh", "garbage"])
    def test_what_does_not_count(self, tmp_path: Path, change: str) -> None:
        clock, path = FrozenClock(), tmp_path / "state"
        journal = Journal(Numbered(), "a", path, clock)
        journal.get("/x")
        journal.close()
        if change == "garbage":
            path.write_text("[]\n[]\n")
        if change == "time":
            clock.advance((FRESH + timedelta(seconds=1)).total_seconds())
        source = Numbered()
        other = Journal(source, "b" if change == "source" else "a", path, clock, fresh=change == "fresh")
        other.get("/x")
        assert (other.kept, source.count) == (0, 1)

    def test_without_a_file(self, command: Command, tmp_path: Path) -> None:
        journal = Journal(Numbered(), "a", None, FrozenClock())
        assert journal.get("/x") == {"/x": 1}
        journal.restart(comparing=True)
        journal.remove()
        with pytest.raises(FileNotFoundError):
            Journal(Numbered(), "a", tmp_path / "no" / "such" / "folder", FrozenClock())
