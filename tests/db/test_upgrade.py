"""`limes db upgrade` beside processes at work, on PostgreSQL: it gives way, says what it waits for, and may be killed."""

import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playhouse.schema_diff import diff_models

from limes.db import models
from limes.db.base import bind
from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS
from limes.db.migrate import Migrations, limes_migrations
from limes.db.queries.compare_sums import wrong_sums
from limes.db.upgrade import Upgrade
from limes.errors import StartupError
from tests.db.old_database import CONVERTER, make_old
from tests.support.databases import ON_POSTGRESQL
from tests.support.levels import few_of

NEWEST = "0033_colours"
COLOURS = """
from limes.db.steps import AGAINST_ALL, AGAINST_CHANGES, AGAINST_WRITERS, Fill, Step

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
FILL = """
INSERT INTO services (id, type) SELECT n, 'service-' || n FROM generate_series(1, 3) n;
INSERT INTO resources (id, service_id, name, is_known) SELECT n, 1 + n %% 3, 'r' || n, true FROM generate_series(1, 9) n;
INSERT INTO domains (id, uuid, name) SELECT n, 'd' || n, 'd' || n FROM generate_series(1, 2) n;
INSERT INTO projects (id, uuid, name, parent_uuid, domain_id, has_bursting)
    SELECT n, 'p' || n, 'p' || n, 'd' || 1 + n %% 2, 1 + n %% 2, false FROM generate_series(1, 10) n;
INSERT INTO project_services (project_id, service_id, next_scrape_at, is_stale, scrape_error, push_failures, push_error)
    SELECT p.id, s.id, 0, false, '', 0, '' FROM projects p, services s;
INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)
    SELECT p.id, r.id, 10 * p.id, 100, r.id FROM projects p, resources r;
INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)
    SELECT p.id, r.id, 'az-one', r.id, '' FROM projects p, resources r;
INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at, creator_uuid,
    creator_name, confirmed_at, expires_at, transfer_status)
    SELECT 'c' || p.id, p.id, 1, 'az-one', 1 + p.id, '1 year', 'confirmed', 1, 'u', 'u', 1, 2e9, '' FROM projects p;
"""
HOLD = "SELECT 'secret' FROM project_resources WHERE project_id = 1 FOR UPDATE"
WAITS = """
    SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = 'project_resources'::regclass
    AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())
"""
COMMITMENT = """
    INSERT INTO project_commitments (uuid, project_id, resource_id, az, amount, duration, status, created_at,
        creator_uuid, creator_name, confirmed_at, expires_at, transfer_status)
    SELECT md5(random()::text), id, {r}, 'az-one', 1 + {x}, '1 year', 'confirmed', 1, 'u', 'u', 1, 2e9, ''
    FROM projects WHERE id = {p}
"""
AZ = """
    INSERT INTO project_az_resources (project_id, resource_id, az, usage, subresources)
    SELECT project_id, resource_id, 'az-two', {x}, '' FROM project_resources WHERE project_id = {p} AND resource_id = {r}
    ON CONFLICT DO NOTHING
"""
RESOURCE = """
    INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)
    SELECT id, {r}, 10, 100, {x} FROM projects WHERE id = {p} ON CONFLICT DO NOTHING
"""
PROJECT = """
    INSERT INTO projects (uuid, name, parent_uuid, domain_id, has_bursting)
    VALUES (md5(random()::text), 'n', 'd1', 1, false);
    INSERT INTO project_resources (project_id, resource_id, quota, backend_quota, usage)
    SELECT max(id), {r}, 10, 100, {x} FROM projects
"""
RANDOM_WRITES = (
    "UPDATE project_resources SET usage = {x}, quota = 2 * {x} WHERE project_id = {p}",
    "UPDATE project_az_resources SET usage = {x} WHERE project_id IN ({p}, {q})",
    "UPDATE project_commitments SET project_id = {q} WHERE project_id = {p}",
    "UPDATE project_commitments SET status = 'expired' WHERE project_id = {p}",
    "DELETE FROM project_resources WHERE project_id = {p} AND resource_id = {r}",
    "DELETE FROM projects WHERE id = {p} AND id %% 7 = 0",
    RESOURCE,
    AZ,
    COMMITMENT,
    PROJECT,
)
ONE = {"p": 3, "q": 4, "r": 2, "x": 8}
WRITES = (
    "DELETE FROM projects WHERE id = 3",
    "INSERT INTO resources (id, service_id, name, is_known) VALUES (10, 1, 'r10', true);"
    + RESOURCE.format(**{**ONE, "r": 10}),
    *(text.format(**ONE) for text in (*RANDOM_WRITES[:5], AZ, COMMITMENT)),
)
MANY = (
    FILL[FILL.index("INSERT INTO projects ") :]
    .replace("(1, 10)", "(11, 410)")
    .replace("FROM projects p", "FROM (SELECT * FROM projects WHERE id > 10) p")
)

pytestmark = ON_POSTGRESQL


def wait_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def migrations(tmp_path: Path) -> Migrations:
    """Ours, and one to come."""
    folder = tmp_path / "migrations"
    shutil.copytree(limes_migrations.directory, folder)
    (folder / f"{NEWEST}.py").write_text(COLOURS)
    return Migrations("Limes", folder, limes_migrations.history_table)


@pytest.fixture
def old(engine: Engine) -> Engine:
    """A database of the previous release, with 90 project resources."""
    limes_migrations.upgrade(engine)
    make_old(engine)
    engine.execute(FILL)
    return engine


@pytest.fixture
def other(database_url: str) -> Iterator[Engine]:
    """Another process."""
    engine = Engine(database_url, application_name="limes-collector")
    yield engine
    engine.close()


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
    monkeypatch.setattr("limes.db.upgrade._PATIENCE", 0)
    told: list[str] = []

    def hold() -> None:
        other.rows(HOLD)
        with pytest.raises(StartupError, match=r"lock timeout.*What to do: stop what keeps the tables locked"):
            migrations.upgrade(old, told.append)

    other.atomic(hold)
    assert len(told) == 1
    done = "SELECT name FROM limes_schema_migrations WHERE name LIKE '0033%%' ORDER BY name"
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


@pytest.mark.parametrize("write", WRITES)
def test_sums_are_right_if_somebody_writes_when_triggers_change(old: Engine, other: Engine, write: str) -> None:
    """The writer is not done when the upgrade comes, which waits before it drops what the old triggers look into."""
    told, has_written = list[str](), threading.Event()

    def hold() -> None:
        other.execute(write)
        has_written.set()
        wait_for(lambda: told)
        other.execute("UPDATE project_resources SET usage = usage + 1")

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(other.atomic, hold)
        assert has_written.wait(100)
        limes_migrations.upgrade(old, told.append)
        writer.result(100)
    assert told[0].startswith(f"{CONVERTER} waits for project_")
    assert wrong_sums(old, time.time()) == []


@pytest.mark.parametrize("seed", few_of(range(6), 1))
def test_sums_are_right_beside_writers(
    old: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Of 400 projects, and of others that come and go while triggers change. Nobody fails because of that."""
    old.execute(MANY)
    do, is_over, done, problems = Upgrade._do, threading.Event(), [0, 0], []

    def do_beside_writers(upgrade: Upgrade, step: Any, name: str) -> bool:
        enough = [count + 5 for count in done]
        wait_for(lambda: all(count >= least for count, least in zip(done, enough, strict=True)))
        return do(upgrade, step, name)

    def write(number: int) -> None:
        dice, engine = random.Random(f"{seed} {number}"), Engine(database_url, lock_timeout=5)
        while not is_over.is_set():
            values = {"p": dice.randint(11, 410), "q": dice.randint(11, 410), "r": dice.randint(1, 9), "n": number}
            texts = [text.format(**values, x=dice.randint(0, 50)) for text in dice.sample(RANDOM_WRITES, 2)]
            try:
                engine.atomic(lambda texts=texts: [engine.execute(text) for text in texts])
                done[number] += 1
            except DATABASE_ERRORS as error:  # a collision, or somebody else has deleted the project
                problems.append(str(error))
        engine.close()

    monkeypatch.setattr(Upgrade, "_do", do_beside_writers)
    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write, number) for number in range(2)]
        try:
            limes_migrations.upgrade(old)
        finally:
            is_over.set()
        assert [writer.result(100) for writer in writers] == [None, None]
    assert wrong_sums(old, time.time()) == []
    assert old.rows("SELECT to_regclass('uncounted_projects')") == [(None,)]
    assert [text for text in problems if "uncounted_projects" in text] == []


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
    assert sorted(names[0] + names[1]) == [CONVERTER, NEWEST]
    check_schema(old, migrations)
