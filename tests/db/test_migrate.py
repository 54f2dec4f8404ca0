"""Migrations: applied once and in order by whoever comes first, undone when they fail, and only checked at start."""

import threading
import time
from pathlib import Path

import pytest

from limes.db.engine import Engine
from limes.db.migrate import Migrations, limes_migrations
from limes.kernel.errors import StartupError, Unavailable
from tests.db.released_migrations import digest, released
from tests.support.processes import free_port
from tests.support.writers import run_in_processes, upgrade

FIRST = """
import time

def up(migrator, db):
    time.sleep(0.3)  # long enough for all the others to come
    db.execute_sql("CREATE TABLE fruits (id INTEGER PRIMARY KEY)")
"""
SECOND = """
def up(migrator, db):
    db.execute_sql("CREATE TABLE vegetables (id INTEGER PRIMARY KEY)")
    db.execute_sql("INSERT INTO fruits (id) VALUES (1)")
"""
DEADLOCK = """
import time
from pathlib import Path

TRIED = Path("{tried}")

def up(migrator, db):
    if TRIED.exists():
        TRIED.write_text("once, twice")
        return
    db.execute_sql("LOCK TABLE fruits")
    TRIED.write_text("once")
    waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'fruits'::regclass"
    while not db.execute_sql(waits).fetchall():
        time.sleep(0.05)
    db.execute_sql("LOCK TABLE vegetables")
"""
FAILING = """
def up(migrator, db):
    db.execute_sql("INSERT INTO fruits (id) VALUES (2)")
    db.execute_sql("CREATE TABLE nuts (id INTEGER PRIMARY KEY)")
    db.execute_sql("INSERT INTO nowhere (id) VALUES (1)")
"""


def test_a_released_migration_never_changes() -> None:
    """Databases that have it would miss the change: write a new migration."""
    assert {path: digest(path) for path in released()} == released()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two migrations."""
    files = tmp_path / "migrations"
    files.mkdir()
    (files / "0001_fruits.py").write_text(FIRST)
    (files / "0002_vegetables.py").write_text(SECOND)
    return files


def migrations_in(folder: Path) -> Migrations:
    return Migrations("test", folder, "test_migrations")


def test_upgrade(engine: Engine, folder: Path) -> None:
    migrations = migrations_in(folder)
    assert migrations.pending(engine) == ["0001_fruits", "0002_vegetables"]
    assert migrations.upgrade(engine) == ["0001_fruits", "0002_vegetables"]
    assert engine.rows("SELECT id FROM fruits") == [(1,)]
    assert migrations.pending(engine) == []
    assert migrations.upgrade(engine) == []
    migrations.check(engine)


def test_only_what_is_new_is_applied(engine: Engine, folder: Path) -> None:
    second = (folder / "0002_vegetables.py").rename(folder / "later")
    assert migrations_in(folder).upgrade(engine) == ["0001_fruits"]
    second.rename(folder / "0002_vegetables.py")
    assert migrations_in(folder).upgrade(engine) == ["0002_vegetables"]


def test_several_processes_upgrade_at_once(database_url: str, folder: Path) -> None:
    answers = run_in_processes(3, upgrade, database_url, folder)
    assert sorted(name for names in answers for name in names) == ["0001_fruits", "0002_vegetables"]
    engine = Engine(database_url)
    assert engine.rows("SELECT name FROM test_migrations ORDER BY name") == [("0001_fruits",), ("0002_vegetables",)]
    assert engine.rows("SELECT id FROM fruits") == [(1,)]
    engine.close()


def test_a_failing_migration_changes_nothing(engine: Engine, folder: Path) -> None:
    (folder / "0003_nuts.py").write_text(FAILING)
    migrations = migrations_in(folder)
    with pytest.raises(StartupError, match=r"^the test schema in the .* cannot be upgraded: .*nowhere") as caught:
        migrations.upgrade(engine)
    assert "\n" not in str(caught.value)
    assert migrations.pending(engine) == ["0003_nuts"]
    assert engine.rows("SELECT id FROM fruits") == [(1,)]
    (folder / "0003_nuts.py").write_text(SECOND.replace("vegetables", "nuts").replace("1)", "3)"))
    assert migrations.upgrade(engine) == ["0003_nuts"]  # and the lock was given back


def test_the_settings_of_the_connection_are_put_back(engine: Engine, folder: Path) -> None:
    names = ("statement_timeout", "lock_timeout") if engine.dialect == "postgresql" else ("foreign_keys",)
    with engine.connection():
        before = [engine.rows(f"{'SHOW' if engine.dialect == 'postgresql' else 'PRAGMA'} {name}") for name in names]
        migrations_in(folder).upgrade(engine)
        after = [engine.rows(f"{'SHOW' if engine.dialect == 'postgresql' else 'PRAGMA'} {name}") for name in names]
    assert before == after
    assert before[0] == ([("30s",)] if engine.dialect == "postgresql" else [(1,)])


def test_a_schema_that_is_behind_is_refused(engine: Engine, folder: Path) -> None:
    migrations = migrations_in(folder)
    with pytest.raises(StartupError) as caught:
        migrations.check(engine)
    assert str(caught.value) == (
        f"the test schema in the {engine.location} is behind this release "
        "(2 migration(s) pending, next: 0001_fruits). Run: limes db upgrade"
    )
    (folder / "0002_vegetables.py").rename(folder / "later")
    migrations.upgrade(engine)
    (folder / "later").rename(folder / "0002_vegetables.py")
    with pytest.raises(StartupError, match=r"1 migration\(s\) pending, next: 0002_vegetables"):
        migrations.check(engine)


def test_a_schema_that_is_ahead_is_fine(engine: Engine, folder: Path) -> None:
    migrations = migrations_in(folder)
    migrations.upgrade(engine)
    (folder / "0002_vegetables.py").unlink()  # the previous release does not have it
    migrations.check(engine)
    assert migrations.upgrade(engine) == []


def test_checking_writes_nothing(engine: Engine) -> None:
    with pytest.raises(StartupError):
        limes_migrations.check(engine)
    tables = (
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        if engine.dialect == "postgresql"
        else "SELECT name FROM sqlite_master"
    )
    assert engine.rows(tables) == []


def test_two_halves_in_one_database(engine: Engine, folder: Path) -> None:
    migrations_in(folder).upgrade(engine)
    assert limes_migrations.upgrade(engine)[0] == "0001_initial"
    migrations_in(folder).check(engine)
    limes_migrations.check(engine)


def test_a_database_that_is_down(folder: Path) -> None:
    engine = Engine(f"postgresql://limes:hunter2@127.0.0.1:{free_port()}/limes")
    for step in (migrations_in(folder).check, migrations_in(folder).upgrade):
        with pytest.raises(Unavailable, match="does not answer") as caught:
            step(engine)
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_a_user_who_may_not_create_tables(engine: Engine, database_url: str, folder: Path) -> None:
    """As for any new user since PostgreSQL 15."""
    role = f"reader_{database_url.rpartition('/')[2]}"
    engine.execute(f"CREATE ROLE {role} LOGIN")
    reader = Engine(database_url.replace("postgres@", f"{role}@"))
    with pytest.raises(StartupError, match="cannot be upgraded: permission denied for schema public"):
        migrations_in(folder).upgrade(reader)
    reader.close()
    engine.execute(f"DROP ROLE {role}")


@pytest.mark.parametrize("databases", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_an_upgrade_that_deadlocks_with_a_process_at_work_is_tried_again(engine: Engine, folder: Path) -> None:
    migrations = migrations_in(folder)
    migrations.upgrade(engine)
    (folder / "0003_deadlock.py").write_text(DEADLOCK.format(tried=folder / "tried"))
    has_locked = threading.Event()

    def work() -> None:
        engine.execute("SET LOCAL deadlock_timeout = '1h'")  # it is the other one that finds the deadlock, and gives up
        engine.execute("LOCK TABLE vegetables")
        has_locked.set()
        while not (folder / "tried").exists():
            time.sleep(0.05)
        engine.execute("LOCK TABLE fruits")

    process = threading.Thread(target=engine.atomic, args=[work])
    process.start()
    assert has_locked.wait(100)
    assert migrations.upgrade(engine) == ["0003_deadlock"]
    process.join(100)
    assert (folder / "tried").read_text() == "once, twice"
