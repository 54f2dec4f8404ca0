"""`limes db upgrade` beside processes at work, on PostgreSQL: it gives way, says what it waits for, and may be killed."""

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playhouse.schema_diff import diff_models

from limes.app import models
from limes.db.base import bind
from limes.db.engine import Engine
from limes.db.migrate import Migrations, Upgrade, limes_migrations
from limes.kernel.errors import StartupError
from limes.usage.sum_upkeep import wrong_sums
from tests.db.old_database import CONVERTER, PENDING, wait_for
from tests.support.databases import ON_POSTGRESQL

NEWEST = "9000_colours"
COLOURS = """
from limes.db.migrate import AGAINST_ALL, AGAINST_CHANGES, AGAINST_WRITERS, Fill, Step

def add_column(migrator, db):
    db.execute_sql("ALTER TABLE project_services ADD COLUMN colour TEXT")

def batch(db, table, column, after):
    rows = f"SELECT {column} FROM {table} WHERE {column} > {after} ORDER BY {column} LIMIT 40 FOR UPDATE"
    return [number for (number,) in db.execute_sql(rows).fetchall()]

def paint(db, after):
    if ids := batch(db, "project_services", "id", after):
        db.execute_sql(f"UPDATE project_services SET colour = 'red' WHERE id > {after} AND id <= {ids[-1]}")
    return ids[-1] if ids else None

def make_index(migrator, db):
    db.execute_sql("CREATE INDEX project_services_colour ON project_services (colour)")

def make_table(migrator, db):
    db.execute_sql("CREATE TABLE paints (project_id INTEGER PRIMARY KEY REFERENCES projects ON DELETE CASCADE)")
    db.execute_sql("CREATE INDEX project_resources_backend_quota ON project_resources (backend_quota)")

def fill_table(db, after):
    if ids := batch(db, "project_resources", "project_id", after):
        rows = f"SELECT id FROM projects WHERE id > {after} AND id <= {ids[-1]}"
        db.execute_sql(f"INSERT INTO paints {rows} ON CONFLICT DO NOTHING")  # after it was killed, once more
    return ids[-1] if ids else None

STEPS = (
    Step(add_column, {"project_services": AGAINST_ALL}),
    Fill(paint),
    Step(make_index, {"project_services": AGAINST_WRITERS}),
    Step(make_table, {"projects": AGAINST_CHANGES, "project_resources": AGAINST_WRITERS,
        "project_services": AGAINST_WRITERS}),
    Fill(fill_table),
)
"""
HOLD = "SELECT 'secret' FROM project_resources WHERE project_id = 1 FOR UPDATE"
WAITS = """
    SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = 'project_resources'::regclass
    AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())
"""
pytestmark = ON_POSTGRESQL


@pytest.fixture
def migrations(tmp_path: Path) -> Migrations:
    """Ours, and one to come."""
    folder = tmp_path / "migrations"
    shutil.copytree(limes_migrations.directory, folder)
    (folder / f"{NEWEST}.py").write_text(COLOURS)
    return Migrations("Limes", folder, limes_migrations.history_table)


def check_schema(engine: Engine, migrations: Migrations) -> None:
    """All is there, and the sums are right."""
    bind(engine.db)
    with engine.connection():
        assert str(diff_models(engine.db, list(models.MODELS))).splitlines() == [  # all but what the one to come adds
            "drop column project_services.colour",
            "drop index project_resources.project_resources_backend_quota (backend_quota)",
            "drop index project_services.project_services_colour (colour)",
        ]
    assert engine.rows("SELECT COUNT(*) FROM project_services WHERE domain_id IS NULL OR colour IS NULL") == [(0,)]
    assert engine.rows("SELECT COUNT(*) FROM paints") == [(10,)]
    assert engine.rows("SELECT SUM(projects) FROM project_sums WHERE az = ''") == [(90,)]
    assert wrong_sums(engine, time.time()) == []
    assert migrations.pending(engine) == migrations.unknown(engine) == []


def test_neither_readers_nor_writers_are_held_up(
    old: Engine, migrations: Migrations, other: Engine, database_url: str
) -> None:
    """A writer has locked quota, as every PUT and every scrape has, and then writes the project's service. PostgreSQL would
    roll somebody back if the upgrade had locked that one first. A reader wants both."""
    reader = Engine(database_url, lock_timeout=5)
    has_locked, answers = threading.Event(), []

    def write() -> None:
        other.execute("SET LOCAL lock_timeout = '5s'")
        other.rows(HOLD)
        has_locked.set()
        wait_for(lambda: reader.rows(WAITS) != [(0,)])
        answers.append(reader.rows("SELECT COUNT(*) FROM project_services JOIN project_resources USING (project_id)"))
        other.execute("UPDATE project_services SET is_stale = true WHERE project_id = 1")

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(other.atomic, write)
        assert has_locked.wait(100)
        migrations.upgrade(old)
        writer.result(100)
    reader.close()
    assert answers == [[(270,)]]  # once: it was not rolled back
    assert old.rows("SELECT COUNT(*) FROM project_services WHERE is_stale") == [(3,)]
    check_schema(old, migrations)


def test_it_says_what_it_waits_for(old: Engine, migrations: Migrations, other: Engine) -> None:
    told: list[str] = []
    has_locked = threading.Event()

    def hold() -> None:
        other.rows(HOLD)
        has_locked.set()
        wait_for(lambda: told)

    with ThreadPoolExecutor(1) as pool:
        holder = pool.submit(other.atomic, hold)
        assert has_locked.wait(100)
        migrations.upgrade(old, told.append)
        holder.result(100)
    assert told[0].startswith(f"{NEWEST} waits for project_resources, locked by process ")
    assert "(limes-collector, idle in transaction for " in told[0]
    assert HOLD.replace("secret", "...") in told[0]


def test_it_gives_up_in_the_end(
    old: Engine, migrations: Migrations, other: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And goes on from there the next time."""
    monkeypatch.setattr("limes.db.migrate._PATIENCE", 0)
    told: list[str] = []

    def hold() -> None:
        other.rows(HOLD)
        with pytest.raises(StartupError, match=r"lock timeout.*What to do: stop what keeps the tables locked"):
            migrations.upgrade(old, told.append)

    other.atomic(hold)
    assert len(told) == 1
    done = "SELECT name FROM limes_schema_migrations WHERE name LIKE '9000%%' ORDER BY name"
    assert old.rows(done) == [(f"{NEWEST}/{number}",) for number in range(3)]
    assert migrations.pending(old)[0] == NEWEST
    assert migrations.unknown(old) == []
    migrations.upgrade(old)
    check_schema(old, migrations)


class Killed(BaseException):
    """Nobody catches it."""


def test_it_may_be_killed_at_any_step(old: Engine, migrations: Migrations, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before and after the commit of each."""
    do, apply, killed = Upgrade._do, Upgrade._apply, set()

    def kill_once(name: str) -> None:
        if name not in killed:
            killed.add(name)
            raise Killed

    def do_and_die(upgrade: Upgrade, step: Any, name: str) -> bool:
        is_done = do(upgrade, step, name)
        kill_once(f"in {name}, {upgrade._filled}")
        return is_done

    def apply_and_die(upgrade: Upgrade) -> str | None:
        name = apply(upgrade)
        kill_once(f"after {upgrade._step}, {upgrade._filled}")
        return name

    monkeypatch.setattr(Upgrade, "_do", do_and_die)
    monkeypatch.setattr(Upgrade, "_apply", apply_and_die)
    while migrations.pending(old):
        try:
            migrations.upgrade(old)
        except Killed:
            continue
    assert {name.partition(",")[0] for name in killed} >= {
        f"{when} {step}"
        for when in ("in", "after")
        for step in (*(f"{CONVERTER}/{number}" for number in range(2)), *(f"{NEWEST}/{number}" for number in range(5)))
    }
    check_schema(old, migrations)


def test_it_waits_for_rows(old: Engine, migrations: Migrations, other: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """That somebody writes when it comes to them."""
    do, told, has_written = Upgrade._do, list[str](), threading.Event()

    def hold() -> None:
        other.execute("UPDATE project_resources SET usage = 8 WHERE project_id = 3")
        has_written.set()
        wait_for(lambda: told)

    with ThreadPoolExecutor(1) as pool:
        writers = []

        def do_after_the_write(upgrade: Upgrade, step: Any, name: str) -> bool:
            if name == f"{NEWEST}/4" and not writers:
                writers.append(pool.submit(other.atomic, hold))
                assert has_written.wait(100)
            return do(upgrade, step, name)

        monkeypatch.setattr(Upgrade, "_do", do_after_the_write)
        migrations.upgrade(old, told.append)
        writers[0].result(100)
    assert told[0].startswith(f"{NEWEST} waits for rows")
    check_schema(old, migrations)


def test_the_planner_knows_the_tables(old: Engine, migrations: Migrations) -> None:
    """After an upgrade all, and after a restore, which leaves nothing to upgrade, those that it does not know."""

    def known() -> dict[str, bool]:
        return dict(old.rows("SELECT relname, last_analyze IS NOT NULL FROM pg_stat_user_tables"))

    migrations.upgrade(old)
    assert all(known().values())
    assert old.rows("SELECT reltuples FROM pg_class WHERE relname = 'project_resources'") == [(90,)]
    old.execute("CREATE TABLE restored (id INTEGER)")
    old.execute("INSERT INTO restored VALUES (1)")
    assert not known()["restored"]
    assert migrations.upgrade(old) == []
    assert known()["restored"]


def test_two_at_once(old: Engine, migrations: Migrations, other: Engine) -> None:
    """Each file is finished by one of them."""
    with ThreadPoolExecutor(2) as pool:
        names = list(pool.map(migrations.upgrade, (old, other)))
    assert sorted(names[0] + names[1]) == [*PENDING, NEWEST]
    check_schema(old, migrations)
