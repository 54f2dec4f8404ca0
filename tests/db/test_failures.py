"""What callers are told when the database has run out of something."""

import logging

import pytest

from limes.db.connections import SQLITE_PRAGMAS
from limes.db.engine import Engine
from limes.kernel.errors import Unavailable
from tests.support.databases import ON_POSTGRESQL
from tests.support.pgbouncer import needs_sessions

FULL = "the disk of the database is full"
EXHAUSTED = "the database has no connections or no memory left; try again"


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_a_full_disk_of_sqlite(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(SQLITE_PRAGMAS, "max_page_count", 3)
    engine = Engine(database_url)
    engine.execute("CREATE TABLE fruits (name TEXT)")
    with pytest.raises(Unavailable, match=f"^{FULL}$"):
        engine.atomic(lambda: engine.execute("INSERT INTO fruits VALUES (%s)", ["x" * 100_000]))
    assert engine.rows("SELECT * FROM fruits") == []
    engine.close()
    assert "database or disk is full" in caplog.text


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("disk_full", FULL),
        ("out_of_memory", EXHAUSTED),
        ("too_many_connections", EXHAUSTED),
        ("configuration_limit_exceeded", EXHAUSTED),
        ("crash_shutdown", "the database does not answer"),
    ],
)
@ON_POSTGRESQL
def test_codes_of_postgresql(engine: Engine, caplog: pytest.LogCaptureFixture, code: str, message: str) -> None:
    fail = f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}', MESSAGE = 'what PostgreSQL says'; END $$"
    for run in (engine.execute, lambda text: engine.atomic(lambda: engine.execute(text))):
        with pytest.raises(Unavailable, match=f"^{message}$"):
            run(fail)
    with caplog.at_level(logging.ERROR):
        assert caplog.text.count("what PostgreSQL says") == 2


@needs_sessions
@ON_POSTGRESQL
def test_no_connection_left(engine: Engine, database_url: str) -> None:
    name = database_url.rpartition("/")[2]
    engine.execute(f'CREATE ROLE "few_{name}" LOGIN CONNECTION LIMIT 1')
    engines = [Engine(database_url.replace("postgres@", f"few_{name}@")) for _ in range(2)]
    try:
        with engines[0].connection():
            engines[0].ping()
            with pytest.raises(Unavailable, match=rf"^{EXHAUSTED} \(PostgreSQL database {name} "):
                engines[1].ping()
        engines[0].ping()
    finally:
        for one in engines:
            one.close()
        engine.execute(f'DROP ROLE "few_{name}"')
