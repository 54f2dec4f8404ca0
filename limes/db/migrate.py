"""Numbered, forward-only migrations. The schema is brought up by `limes db upgrade` and only checked at start.

The Limes half and the Placement half each have a folder of files and a history table; both may live in one database.
A file has a function `up(migrator, db)`, with frozen copies of the models that it needs, or `STEPS` (limes.db.steps) if
it locks a table that was there before. A released file never changes, and the previous release must be able to work
with the schema after each step of a new file, as its processes do meanwhile.

The rules for a file, which `tests/db/test_migration_locks.py` checks on PostgreSQL:

- A step names each table that it locks against readers or writers, in the order in which all others lock rows.
- A step that locks against readers (ALTER TABLE) reads no rows: so no CHECK and no foreign key that is not `NOT VALID`,
  no default that has to be computed, and no index in the same step.
- Rows are filled in short transactions of their own (`Fill`), and never in a step that has a table locked against
  readers.
"""

import contextlib
import fcntl
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from playhouse.migrations import Runner

from limes.db.advice import advise_on_schema
from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS, first_line
from limes.db.steps import Fill
from limes.db.upgrade import Upgrade, steps_of
from limes.errors import StartupError

log = logging.getLogger(__name__)


class Migrations:
    """The migrations of one half: a folder of files, and the table that records which were applied."""

    def __init__(self, name: str, directory: Path, history_table: str) -> None:
        self.name = name
        self.directory = directory
        self.history_table = history_table

    def pending(self, engine: Engine) -> list[str]:
        """Returns the names of the files still to apply, in order. Raises `StartupError` if the database won't say."""
        with engine.connection(), self._explained(engine, "cannot be read"):
            return [row.name for row in self._runner(engine).status() if row.path is not None and row.applied is None]

    def unknown(self, engine: Engine) -> list[str]:
        """Returns names that were applied, but that this release does not know: it is older than the schema."""
        with engine.connection(), self._explained(engine, "cannot be read"):
            rows = self._runner(engine).status()
        newest = max(row.idx for row in rows if row.path is not None)
        return [row.name for row in rows if row.idx > newest]

    def upgrade(self, engine: Engine, tell: Callable[[str], None] = log.info) -> list[str]:
        """Applies all pending files, and returns the names of those that were finished.

        Several processes may call this at once, and each may end at any time: each step is a transaction (on SQLite,
        each file), and whoever comes next goes on. `tell` gets a line about what it waits for. Raises `StartupError` if
        a step fails. That step has changed nothing then, and those before it stay applied.
        """
        with engine.connection(), self._explained(engine, "cannot be upgraded"):
            if engine.dialect == "postgresql":
                return Upgrade(engine, self._runner(engine), tell).run()
            with _upgrade_lock(Path(f"{engine.name}.upgrade-lock")):
                return list(_upgrade_sqlite(self._runner(engine)))

    def check(self, engine: Engine) -> None:
        """Raises `StartupError` if the schema is behind this release."""
        pending = self.pending(engine)
        if pending:
            raise StartupError(
                f"the {self.name} schema in the {engine.location} is behind this release "
                f"({len(pending)} migration(s) pending, next: {pending[0]}). Run: limes db upgrade"
            )

    @contextlib.contextmanager
    def _explained(self, engine: Engine, problem: str) -> Iterator[None]:
        try:
            yield
        except (*DATABASE_ERRORS, OSError) as error:
            reason = first_line(error)
            advice = advise_on_schema(reason, engine.address)
            text = f"the {self.name} schema in the {engine.location} {problem}: {reason}"
            raise StartupError(f"{text}. What to do: {advice}" if advice else text) from error

    def _runner(self, engine: Engine) -> Runner:
        return Runner(engine.db, directory=str(self.directory), table_name=self.history_table)


@contextlib.contextmanager
def _upgrade_lock(path: Path) -> Iterator[None]:
    """Keeps others from upgrading this SQLite database during the block. Waits as long as it takes.

    SQLite's write lock won't do: tables are rebuilt with foreign keys off, which is impossible in a transaction.
    """
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _upgrade_sqlite(runner: Runner) -> Iterator[str]:
    """Applies each pending file in one transaction. Yields their names."""
    runner.History.create_table()
    for migration in runner.status():
        if migration.path is None or migration.applied:
            continue
        with runner.migrator.migration_context():
            for step in steps_of(migration):
                if isinstance(step, Fill):
                    filled: int | None = 0
                    while filled is not None:
                        filled = step.batch(runner.database, filled)
                else:
                    step.up(runner.migrator, runner.database)
            runner.History.create(name=migration.name)
        yield migration.name


limes_migrations = Migrations("Limes", Path(__file__).parent / "migrations", "limes_schema_migrations")
"""The Limes half's tables. The Placement half has `limes.placement.migrations.placement_migrations`."""
