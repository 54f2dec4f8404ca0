"""Connections: the pool's limits, databases that are down, several processes, and no password anywhere."""

import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from limes.db import pool
from limes.db.connections import parse_database_url
from limes.db.engine import Engine
from limes.kernel.errors import StartupError, Unavailable
from tests.support.databases import UrlFactory
from tests.support.pgbouncer import needs_sessions
from tests.support.processes import free_port
from tests.support.writers import increment, run_in_processes

PASSWORD = "hunter2-secret"


def test_an_exhausted_pool_is_unavailable(database_url: str) -> None:
    engine, all_hold, done = (
        Engine(database_url, pool_size=2, pool_timeout=0.1),
        threading.Barrier(3),
        threading.Event(),
    )

    def hold() -> None:
        with engine.connection():
            all_hold.wait(30)
            done.wait(30)

    with ThreadPoolExecutor(2) as pool:
        holders = [pool.submit(hold) for _ in range(2)]
        all_hold.wait(30)
        uses: tuple[Callable[[], object], ...] = (
            engine.ping,
            lambda: engine.atomic(lambda: None),
            lambda: engine.snapshot(lambda: None),
        )
        for use in uses:
            with pytest.raises(Unavailable, match="all database connections are in use"):
                use()
        done.set()
        for holder in holders:
            holder.result(30)
    engine.ping()
    engine.close()


def test_a_freed_connection_goes_to_who_waits(database_url: str) -> None:
    engine = Engine(database_url, pool_size=1, pool_timeout=30)
    waiting = threading.Event()

    def wait() -> None:
        waiting.set()
        engine.ping()

    with ThreadPoolExecutor(1) as pool:
        with engine.connection():
            waiter = pool.submit(wait)
            waiting.wait(30)
        waiter.result(30)
    engine.close()


def test_more_threads_than_connections(database_url: str) -> None:
    engine = Engine(database_url, pool_size=2)
    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(lambda n: engine.rows("SELECT %s + 0", [n])[0][0], range(100))) == list(range(100))
    engine.close()


@pytest.mark.parametrize("use", ["ping", "atomic", "snapshot", "rows"])
def test_a_postgresql_that_is_down(caplog: pytest.LogCaptureFixture, use: str) -> None:
    caplog.set_level(logging.DEBUG)
    engine = Engine(f"postgresql://limes:{PASSWORD}@127.0.0.1:{free_port()}/limes")
    uses: dict[str, Callable[[], object]] = {
        "ping": engine.ping,
        "atomic": lambda: engine.atomic(lambda: None),
        "snapshot": lambda: engine.snapshot(lambda: None),
        "rows": lambda: engine.rows("SELECT 1"),
    }
    with pytest.raises(Unavailable) as caught:
        uses[use]()
    assert str(caught.value) == "the database does not answer (PostgreSQL database limes on 127.0.0.1)"
    assert "cannot connect to the PostgreSQL database limes on 127.0.0.1" in caplog.text
    assert PASSWORD not in caplog.text


def test_a_database_that_does_not_exist(postgres_url_factory: UrlFactory, caplog: pytest.LogCaptureFixture) -> None:
    url = postgres_url_factory().replace("postgres@", f"postgres:{PASSWORD}@").rpartition("/")[0] + "/nowhere"
    with pytest.raises(Unavailable):
        Engine(url).ping()
    assert 'database "nowhere" does not exist' in caplog.text
    assert PASSWORD not in caplog.text


@pytest.mark.parametrize("query", ["sslmode=nonsense", "no_such_option=1"])
def test_wrong_options_for_libpq(query: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Unavailable):
        Engine(f"postgresql://limes:{PASSWORD}@127.0.0.1/limes?{query}").ping()
    assert query.split("=")[0] in caplog.text
    assert PASSWORD not in caplog.text


def test_connections_that_the_server_cut(postgres_url_factory: UrlFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "TRUSTED_SECONDS", 0.0)
    engine, other = (Engine(url) for url in [postgres_url_factory()] * 2)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"

    def work() -> None:
        mine = engine.rows("SELECT pg_backend_pid()")[0][0]
        other.rows(cut.replace("<>", "="), [mine])
        engine.rows("SELECT 1")

    with pytest.raises(Unavailable, match="does not answer"):
        engine.atomic(work)  # while it was in use
    with pytest.raises(Unavailable, match="does not answer"):
        engine.snapshot(work)
    engine.ping()
    other.rows(cut, [other.rows("SELECT pg_backend_pid()")[0][0]])  # while it was idle in the pool
    assert engine.atomic(lambda: engine.rows("SELECT 1")) == [(1,)]
    engine.close()
    other.close()


def test_an_sqlite_file_in_no_folder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Unavailable, match="SQLite file"):
        Engine(f"sqlite:///{tmp_path}/nowhere/limes.db").ping()
    assert "unable to open database file" in caplog.text


def test_a_file_that_is_no_database(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "limes.db").write_text("this is not SQLite's format\n" * 100)
    with pytest.raises(Unavailable):
        Engine(f"sqlite:///{tmp_path}/limes.db").ping()
    assert "not a database" in caplog.text


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_an_sqlite_that_another_one_writes_to(engine: Engine, database_url: str) -> None:
    other, tries = Engine(database_url), []
    engine.execute("CREATE TABLE counters (value INTEGER)")

    def write() -> None:
        engine.rows("PRAGMA busy_timeout = 50")
        with pytest.raises(Unavailable, match="too busy"):
            engine.atomic(lambda: tries.append(1))
        assert engine.snapshot(lambda: engine.rows("SELECT value FROM counters")) == []  # reading goes on

    def hold() -> None:
        other.execute("INSERT INTO counters VALUES (1)")
        with engine.connection():
            write()

    other.atomic(hold)
    assert tries == []
    assert engine.rows("SELECT value FROM counters") == [(1,)]
    other.close()


@needs_sessions
def test_a_forked_worker_has_connections_of_its_own(engine: Engine) -> None:
    sql = "SELECT pg_backend_pid()" if engine.dialect == "postgresql" else "SELECT 1"
    mine = engine.rows(sql)[0][0]
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # what gunicorn's post_fork does
        try:
            engine.dispose()
            os.write(writer, str(engine.rows(sql)[0][0]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answers:
        theirs = int(answers.read() or 0)
    assert os.waitpid(child, 0)[1] == 0
    assert (theirs != mine) is (engine.dialect == "postgresql")
    assert theirs > 0
    assert engine.rows(sql) == [(mine,)]  # the parent's still works


def test_several_processes_write(database_url: str) -> None:
    engine = Engine(database_url)
    engine.execute("CREATE TABLE counters (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)")
    engine.execute("CREATE TABLE writers (process INTEGER NOT NULL)")
    engine.execute("INSERT INTO counters VALUES (1, 0)")
    assert run_in_processes(4, increment, database_url, 50) == [50] * 4
    assert engine.rows("SELECT value FROM counters") == [(200,)]
    assert engine.rows("SELECT process, count(*) FROM writers GROUP BY process ORDER BY process") == [
        (number, 50) for number in range(4)
    ]
    engine.close()


@pytest.mark.parametrize(
    ("url", "name", "location", "options"),
    [
        ("sqlite:///limes.db", "limes.db", "SQLite file limes.db", {}),
        ("sqlite:////var/lib/limes%20x.db", "/var/lib/limes x.db", "SQLite file /var/lib/limes x.db", {}),
        (
            "postgresql://me:p%40ss@db.example.org:5433/quota",
            "quota",
            "PostgreSQL database quota on db.example.org",
            {"host": "db.example.org", "port": 5433, "user": "me", "password": "p@ss"},
        ),
        (
            "postgres:///quota?host=/run/postgresql&sslmode=require",
            "quota",
            "PostgreSQL database quota on /run/postgresql",
            {"host": "/run/postgresql", "port": 5432, "sslmode": "require"},
        ),
        (
            "postgresql://db?user=me&password=x&dbname=other&connect_timeout=3",
            "other",
            "PostgreSQL database other on db",
            {"host": "db", "port": 5432, "user": "me", "password": "x", "connect_timeout": "3"},
        ),
        ("postgresql://", "limes", "PostgreSQL database limes on the default socket", {"port": 5432}),
    ],
)
def test_addresses(url: str, name: str, location: str, options: dict[str, object]) -> None:
    address = parse_database_url(url)
    assert (address.name, address.location, address.options) == (name, location, options)
    assert "p@ss" not in repr(address)
    Engine(url)  # and the driver's wrapper takes them


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://host/db", "unknown scheme 'mysql'"),
        ("limes.db", "unknown scheme ''"),
        ("", "unknown scheme ''"),
        ("sqlite://", "in-memory"),
        ("sqlite:///:memory:", "in-memory"),
        ("sqlite://limes.db", "in-memory"),
        ("sqlite://folder/limes.db", "expected sqlite:///relative/path"),
        (f"postgresql://me:{PASSWORD}@host:port/db", "port"),
        (f"postgresql://me:{PASSWORD}@host:99999/db", "port"),
        (f"postgresql://me:{PASSWORD}@[host/db", "not a URL"),
    ],
)
def test_addresses_that_are_refused(url: str, message: str) -> None:
    with pytest.raises(StartupError, match=message) as caught:
        Engine(url)
    assert str(caught.value).startswith("database.url: ")
    assert "\n" not in str(caught.value)
    assert PASSWORD not in str(caught.value)
