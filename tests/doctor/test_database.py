"""What can be wrong with a database."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from limes.db.connections import SQLITE_PRAGMAS
from limes.db.engine import Engine
from limes.db.migrate import limes_migrations
from limes.kernel.findings import Level
from limes.placement.migrations import placement_migrations
from tests.db.old_database import make_old
from tests.doctor.patient import LateClock, Patient
from tests.support.databases import Databases
from tests.support.pgbouncer import needs_sessions, pgbouncer
from tests.support.postgres import PostgresServer

only_postgresql = pytest.mark.parametrize(
    "databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


def database_of(patient: Patient) -> Any:
    return patient.document["database"]["url"].rpartition("/")[2]


@pytest.fixture
def role(postgres: PostgresServer, patient: Patient) -> Iterator[str]:
    """A role with a password, that owns nothing; the patient uses it."""
    name, secret = "doctor_test", "so-geheim-ist-es"
    postgres.execute(f"DROP ROLE IF EXISTS {name}")
    postgres.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{secret}'")
    hba = postgres.socket_folder / "data" / "pg_hba.conf"
    line = f"host all {name} 127.0.0.1/32 scram-sha-256\n"
    if line not in hba.read_text():
        hba.write_text(line + hba.read_text())
        postgres.execute("SELECT pg_reload_conf()")
    section = patient.document["database"]
    section["url"] = section["url"].replace("postgres@", f"{name}@")
    section["password"] = secret
    database = database_of(patient)
    yield name
    patient.document["database"]["url"] = ""
    postgres.drop_database(database)
    postgres.execute(f"DROP ROLE {name}")


def test_all_is_well(patient: Patient) -> None:
    findings = patient.findings("database")
    assert {one.level for one in findings} == {Level.OK}, findings
    assert [one.check for one in findings][:4] == [
        "database.connection",
        "database.schema",
        "database.schema",
        "database.writable",
    ]


def test_looking_changes_nothing(patient: Patient, engine: Engine) -> None:
    before = engine.rows("SELECT * FROM limes_schema_migrations ORDER BY id")
    patient.examine()
    assert engine.rows("SELECT * FROM limes_schema_migrations ORDER BY id") == before


def test_no_migrations(patient: Patient, databases: Databases) -> None:
    patient.document["database"]["url"] = databases.migrated()
    first, second = patient.findings("database.schema")
    assert (first.level, first.mend) == (Level.PROBLEM, "limes db upgrade")
    assert first.message.startswith("the Limes schema lacks 0001_initial, 0032_no_uncounted_projects")
    assert second.message.startswith("the Placement schema lacks 0001_initial")
    assert patient.findings("database.writable") == []


def test_a_schema_from_before_the_first_migration(patient: Patient, engine: Engine) -> None:
    make_old(engine)
    lacking, _ = patient.findings("database.schema")
    assert (lacking.level, lacking.mend) == (Level.PROBLEM, "limes db upgrade")
    assert lacking.message == f"the Limes schema lacks {', '.join(limes_migrations.pending(engine))}"
    assert "0032_no_uncounted_projects" in lacking.message


def test_a_newer_schema(patient: Patient, engine: Engine) -> None:
    engine.execute("INSERT INTO limes_schema_migrations (name, applied) VALUES ('9999_future', CURRENT_TIMESTAMP)")
    levels = {one.message: one.level for one in patient.findings("database.schema")}
    assert levels["the Limes schema was made by a newer release (it has 9999_future)"] is Level.WARNING


def test_placement_has_a_database_of_its_own(patient: Patient, databases: Databases) -> None:
    patient.document["placement"] = {"database_url": databases.migrated(placement_migrations)}
    patient.document["database"]["url"] = databases.migrated(limes_migrations)
    names = [one.check for one in patient.findings("database")]
    assert "database.placement.writable" in names
    assert {one.level for one in patient.findings("database")} == {Level.OK}


def test_a_file_that_is_not_there_is_not_made(light_patient: Patient, tmp_path: Path) -> None:
    level, message, mend = light_patient.ailment("database.connection")
    assert (level, mend) == ("problem", "limes db upgrade")
    assert message == f"there is no SQLite file {tmp_path}/limes.db"
    assert not (tmp_path / "limes.db").exists()
    light_patient.document["database"]["url"] = f"sqlite:///{tmp_path}/folder/limes.db"
    assert light_patient.ailment("database.connection")[2] == f"mkdir -p {tmp_path}/folder; limes db upgrade"


def test_a_file_that_is_no_database(light_patient: Patient, tmp_path: Path) -> None:
    (tmp_path / "limes.db").write_text("x" * 5000)
    level, message, mend = light_patient.ailment("database.connection")
    assert level == "problem"
    assert "file is not a database" in message
    assert "restore it from a backup" in mend


def test_a_file_that_somebody_keeps_locked(
    light_patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(light_patient)
    monkeypatch.setitem(SQLITE_PRAGMAS, "busy_timeout", 100)
    other = sqlite3.connect(tmp_path / "limes.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        level, message, _ = light_patient.ailment("database.writable")
    finally:
        other.close()
    assert (level, message) == ("problem", "cannot be written: database is locked")


def test_a_full_disk(patient: Patient, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL says so by its code. SQLite does so when its file may have no more pages."""
    if engine.dialect == "postgresql":
        engine.execute(
            "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING"
            " ERRCODE = 'disk_full', MESSAGE = 'could not extend file: No space left on device'; END $$;"
            "CREATE TRIGGER fill BEFORE UPDATE ON limes_schema_migrations EXECUTE FUNCTION fill()"
        )
    else:
        engine.execute(
            "CREATE TRIGGER fill BEFORE UPDATE ON limes_schema_migrations BEGIN"
            " INSERT INTO services (type) VALUES (randomblob(100000)); END"
        )
        monkeypatch.setitem(SQLITE_PRAGMAS, "max_page_count", 1)  # as many as it has
    level, message, mend = patient.ailment("database.writable")
    assert level == "problem"
    assert message.startswith("cannot be written, as its disk is full: ")
    assert "df" in mend


def test_a_file_that_may_only_be_read(light_patient: Patient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade(light_patient)
    monkeypatch.setitem(SQLITE_PRAGMAS, "query_only", 1)
    level, message, mend = light_patient.ailment("database.writable")
    assert (level, message) == ("problem", "cannot be written: attempt to write a readonly database")
    assert f"write {tmp_path}/limes.db and its folder {tmp_path}" in mend


def upgrade(patient: Patient) -> None:
    """Brings the patient's SQLite file up."""
    engine = Engine(patient.document["database"]["url"])
    limes_migrations.upgrade(engine)
    placement_migrations.upgrade(engine)
    engine.close()


@needs_sessions
@only_postgresql
def test_a_wrong_password(patient: Patient, role: str) -> None:
    patient.document["database"]["password"] = "falsches-passwort"
    level, message, mend = patient.ailment("database.connection")
    assert level == "problem"
    assert 'password authentication failed for user "doctor_test"' in message
    assert "LIMES_DB_PASSWORD" in mend
    assert "ALTER ROLE doctor_test" in mend
    shown = str(patient.examine())
    assert "falsches-passwort" not in shown


@needs_sessions
@only_postgresql
@pytest.mark.parametrize(
    ("change", "message", "mend"),
    [
        (lambda url: url.rpartition("/")[0] + "/nowhere", 'database "nowhere" does not exist', "createdb -O postgres"),
        (lambda url: url.replace("postgres@", "nobody@"), 'role "nobody" does not exist', "createuser nobody"),
        (lambda url: url.replace(url.rpartition(":")[2], "1/limes"), "Connection refused", "start PostgreSQL there"),
        (lambda url: url.replace("127.0.0.1", "db.invalid"), "could not translate host name", "correct the host"),
        (lambda url: url + "?sslmode=require", "SSL", "sslmode=verify-full"),
    ],
)
def test_no_way_to_the_server(patient: Patient, change: Callable[..., Any], message: str, mend: str) -> None:
    patient.document["database"]["url"] = change(patient.document["database"]["url"])
    found = patient.ailment("database.connection")
    assert found[0] == "problem"
    assert message in found[1]
    assert mend in found[2]
    assert patient.finding("database.schema").level is Level.SKIPPED


@only_postgresql
def test_a_database_that_takes_no_writes(patient: Patient, postgres: PostgresServer) -> None:
    postgres.execute(f'ALTER DATABASE "{database_of(patient)}" SET default_transaction_read_only = on')
    level, message, _ = patient.ailment("database.writable")
    assert (level, message) == ("problem", "the database accepts no writes: it is a standby, or set to read-only")


@needs_sessions
@only_postgresql
def test_a_user_without_rights(patient: Patient, role: str, postgres: PostgresServer) -> None:
    found = patient.findings("database.schema")
    assert {one.level for one in found} == {Level.PROBLEM}
    assert "permission denied for table" in found[0].message
    admin = Engine(patient.document["database"]["url"].replace(role, "postgres"))
    for table in ("limes_schema_migrations", "placement_schema_migrations"):
        admin.execute(f"GRANT SELECT ON {table} TO {role}")
    assert "permission denied for table" in patient.ailment("database.writable")[1]
    admin.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")
    assert patient.finding("database.writable").level is Level.OK
    admin.execute(f"REVOKE DELETE ON domains, projects FROM {role}")
    level, message, mend = patient.ailment("database.writable")
    assert (level, message) == ("problem", "our user may not change 2 tables: domains, projects")
    assert mend.startswith("GRANT SELECT, INSERT, UPDATE, DELETE")
    admin.close()


@needs_sessions
@only_postgresql
def test_too_few_connections(patient: Patient, role: str, postgres: PostgresServer) -> None:
    admin = Engine(patient.document["database"]["url"].replace(role, "postgres"))
    admin.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")
    admin.close()
    postgres.execute(f"ALTER ROLE {role} CONNECTION LIMIT 20")
    level, message, mend = patient.ailment("database.connections")
    assert level == "problem"
    assert message == ("one of each process opens up to 64 connections; 20 are allowed (the user's CONNECTION LIMIT)")
    assert "lower database.pool_size" in mend


@needs_sessions
@only_postgresql
def test_others_use_the_connections(patient: Patient, postgres: PostgresServer) -> None:
    free = int(postgres.execute("SHOW max_connections")[0][0])
    patient.document["database"]["pool_size"] = 8
    patient.document["api"] = {"workers": (free - 32) // 8}
    patient.document["placement"] = {"workers": 1}
    held = [Engine(patient.document["database"]["url"], application_name="others") for _ in range(8)]
    for engine in held:
        engine.db.connect()
    level, message, _ = patient.ailment("database.connections")
    for engine in held:
        engine.close()
    assert level == "warning"
    assert "and others use" in message


@only_postgresql
def test_threads_without_connections(patient: Patient) -> None:
    patient.document["api"] = {"threads": 32}
    assert patient.ailment("database.pool") == (
        "warning",
        "api.threads is 32, but only 16 of them can use the database at a time",
        "set database.pool_size to 32",
    )


@only_postgresql
@pytest.mark.parametrize(
    ("ahead", "level", "words"),
    [(3600, "problem", "3600 s ahead of"), (-3600, "problem", "behind"), (10, "warning", "")],
)
def test_a_clock_that_is_off(patient: Patient, ahead: int, level: str, words: str) -> None:
    found = patient.ailment("database.clock", clock=LateClock(ahead))
    assert found[0] == level
    assert words in found[1]
    assert "NTP" in found[2]


@only_postgresql
@pytest.mark.parametrize(
    ("mode", "setting", "expected"),
    [
        (
            "transaction",
            "auto",
            "a connection pooler is in front of PostgreSQL, in transaction mode; our timeouts hold",
        ),
        ("transaction", "transaction", "a connection pooler is in front of PostgreSQL, in transaction mode;"),
        ("session", "auto", "a connection pooler is in front of PostgreSQL; our timeouts hold. It is very busy, or in"),
    ],
)
def test_a_pooler(patient: Patient, postgres: PostgresServer, mode: str, setting: str, expected: str) -> None:
    with pgbouncer(postgres.port, pool_mode=mode) as pooler:
        patient.document["database"] = {"url": pooler.url(database_of(patient)), "pooler": setting}
        findings = patient.findings("database")
        assert {one.level for one in findings} == {Level.OK}, findings
        (found,) = patient.findings("database.pooler")
        assert found.message.startswith(expected)
        (connections,) = patient.findings("database.connections")
        assert "to the pooler: see its max_client_conn" in connections.message


@only_postgresql
def test_a_pooler_that_does_not_fit(patient: Patient, postgres: PostgresServer) -> None:
    name = database_of(patient)
    with pgbouncer(postgres.port, ignore_startup_parameters="options") as pooler:
        patient.document["database"] = {"url": pooler.url(name), "pooler": "none"}
        (found,) = patient.findings("database.pooler")
        assert (found.level, found.mend) == (
            Level.PROBLEM,
            "leave out database.pooler, or set it to auto or transaction",
        )
        pooler.configure(ignore_startup_parameters="")
        (refused,) = patient.findings("database.connection")
        assert refused.message.endswith("unsupported startup parameter: options")
        assert refused.mend.startswith("this is a connection pooler: leave out database.pooler")
        patient.document["database"] = {"url": pooler.url(name)}
        pooler.configure(pool_mode="statement")
        (no_transactions,) = patient.findings("database.connection")
        assert "pool_mode = transaction" in no_transactions.mend
        pooler.configure(pool_mode="transaction", max_client_conn="1")
        with contextlib.closing(psycopg2.connect(pooler.url(name))):
            (full,) = patient.findings("database.connection")
        assert full.mend.startswith("raise max_client_conn of the pooler")


@needs_sessions
@only_postgresql
def test_no_pooler(patient: Patient) -> None:
    (found,) = patient.findings("database.pooler")
    assert found.message == "no connection pooler is in front of PostgreSQL"
