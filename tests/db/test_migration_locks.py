"""What each migration locks on PostgreSQL: what it says, in the order of all others, and readers only for a moment."""

import textwrap
from pathlib import Path

import pytest
from playhouse.migrations import Migration

from limes.app.models import LOCK_ORDER
from limes.db.engine import Engine
from limes.db.migrate import (
    AGAINST_ALL,
    AGAINST_CHANGES,
    AGAINST_WRITERS,
    Fill,
    Migrations,
    Step,
    Upgrade,
    limes_migrations,
    steps_of,
)
from limes.placement.migrations import placement_migrations
from tests.support.databases import ON_POSTGRESQL

RANKS = {model._meta.table_name: rank for rank, model in enumerate(LOCK_ORDER)}
STRONG = {
    "ShareLock": (AGAINST_CHANGES, AGAINST_WRITERS, AGAINST_ALL),
    "ShareRowExclusiveLock": (AGAINST_CHANGES, AGAINST_WRITERS, AGAINST_ALL),
    "ExclusiveLock": (AGAINST_WRITERS, AGAINST_ALL),
    "AccessExclusiveLock": (AGAINST_ALL,),
}
"""Modes that others wait for who read or write, and which of ours are strong enough."""
TABLES = "SELECT oid, relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
LOCKED = "SELECT relation, mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IS NOT NULL AND granted"
FOREIGN_KEYS = "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f'"
TOUCHED = """
    SELECT relid, seq_scan + coalesce(idx_scan, 0) + n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables
"""


class Watcher:
    """Looks at what each step has locked and read, before its transaction ends."""

    def __init__(self) -> None:
        self.steps = 0
        self.mistakes: list[str] = []

    def install(self, patch: pytest.MonkeyPatch) -> None:
        do = Upgrade._do

        def watched(upgrade: Upgrade, step: Step | Fill, name: str) -> bool:
            engine = upgrade._engine
            tables = dict(engine.rows(TABLES))
            tables = {oid: table for oid, table in tables.items() if not table.endswith("_schema_migrations")}
            before = dict(engine.rows(TOUCHED))
            is_done = do(upgrade, step, name)
            self.steps += 1
            wanted = step.locks if isinstance(step, Step) else {}
            exclusive = []
            for oid, mode in engine.rows(LOCKED):
                if oid in tables and mode in STRONG:
                    if wanted.get(tables[oid]) not in STRONG[mode]:
                        self.mistakes.append(f"{name} does not say that it locks {tables[oid]} ({mode})")
                    if mode == "AccessExclusiveLock":
                        exclusive.append(tables[oid])
            if exclusive:
                touched = {
                    tables[oid] for oid, count in engine.rows(TOUCHED) if oid in tables and count > before.get(oid, 0)
                }
                self.mistakes += [
                    f"{name} reads or writes rows of {table} while nobody reads {exclusive}" for table in touched
                ]
            return is_done

        patch.setattr(Upgrade, "_do", watched)


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch) -> Watcher:
    watcher = Watcher()
    watcher.install(monkeypatch)
    return watcher


@pytest.mark.parametrize("migrations", [limes_migrations, placement_migrations], ids=lambda one: one.name)
@ON_POSTGRESQL
def test_each_step_says_what_it_locks(engine: Engine, watcher: Watcher, migrations: Migrations) -> None:
    migrations.upgrade(engine)
    assert watcher.mistakes == []
    assert watcher.steps >= len(list(migrations.directory.glob("0*.py")))


@pytest.mark.parametrize("migrations", [limes_migrations, placement_migrations], ids=lambda one: one.name)
def test_locks_are_taken_in_the_order_of_all_others(migrations: Migrations) -> None:
    """Tables without a rank come last."""
    for migration in Migration.load_directory(str(migrations.directory)):
        for step in steps_of(migration):
            if isinstance(step, Step):
                ranks = [RANKS.get(table, len(RANKS)) for table in step.locks]
                assert ranks == sorted(ranks), migration.name


@pytest.mark.parametrize("migrations", [limes_migrations, placement_migrations], ids=lambda one: one.name)
@ON_POSTGRESQL
def test_no_foreign_key_waits_for_a_step_that_waits_for_its_row(engine: Engine, migrations: Migrations) -> None:
    """Who has written a table that a step wants may still lock rows of those that it refers to, and is let through.

    Usage in zones is only written under a lock of its resource, so there the lock is there already.
    """
    migrations.upgrade(engine)
    refers = set(engine.rows(FOREIGN_KEYS)) - {("project_az_resources", "project_resources")}
    for migration in Migration.load_directory(str(migrations.directory)):
        for step in steps_of(migration):
            locks = list(step.locks.items()) if isinstance(step, Step) else []
            for number, (parent, mode) in enumerate(locks):
                later = [table for table, _ in locks[number + 1 :] if (table, parent) in refers]
                assert not later or mode == AGAINST_CHANGES, (migration.name, parent, later)


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (["CREATE INDEX ON fruits (id)"], "does not say that it locks fruits (ShareLock)"),
        (["ALTER TABLE fruits ADD COLUMN red BOOLEAN"], "does not say that it locks fruits (AccessExclusiveLock)"),
        (["CREATE TABLE pips (fruit INTEGER REFERENCES fruits)"], "does not say that it locks fruits (ShareRowExcl"),
        (["ALTER TABLE fruits ADD COLUMN size INTEGER CHECK (size > 0)"], "reads or writes rows of fruits"),
        (["ALTER TABLE fruits ADD COLUMN at TIMESTAMPTZ DEFAULT clock_timestamp()"], "reads or writes rows of fruits"),
        (
            ["ALTER TABLE fruits ADD COLUMN red BOOLEAN", "UPDATE fruits SET red = true"],
            "reads or writes rows of fruits",
        ),
        (["ALTER TABLE fruits ADD COLUMN red BOOLEAN DEFAULT true NOT NULL"], None),
    ],
)
@ON_POSTGRESQL
def test_the_watcher(engine: Engine, watcher: Watcher, tmp_path: Path, body: list[str], mistake: str | None) -> None:
    locks = "" if mistake and mistake.startswith("does not") else '"fruits": "ACCESS EXCLUSIVE"'
    (tmp_path / "0001_fruits.py").write_text(
        "def up(_, db): db.execute_sql('CREATE TABLE fruits (id INT PRIMARY KEY)')"
    )
    text = f"""
        from limes.db.migrate import Step
        def up(migrator, db):
            for text in {body!r}:
                db.execute_sql(text)
        STEPS = (Step(up, {{{locks}}}),)
    """
    (tmp_path / "0002_more.py").write_text(textwrap.dedent(text))
    Migrations("test", tmp_path, "test_schema_migrations").upgrade(engine)
    assert len(watcher.mistakes) == (mistake is not None)
    assert mistake is None or mistake in watcher.mistakes[0]
