"""Numbered, forward-only migrations. The schema is brought up by `limes db upgrade` and only checked at start.

The Limes half and the Placement half each have a folder of files and a history table; both may live in one database.
Files follow `playhouse.migrations`: a function `up(migrator, db)` with frozen copies of the models that it needs. A
released file never changes, and the previous release must be able to work with the schema after a new file.
"""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from playhouse.migrations import Runner

from limes.db.advice import advise_on_schema
from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS, first_line
from limes.errors import StartupError

# Any number that nobody else uses in this database: two upgrades at once run one after the other.
_ADVISORY_LOCK = 0x4C494D4553
# SQL text: settings of the session
_LOCK = "SET statement_timeout = 0; SET lock_timeout = 0; SELECT pg_advisory_lock(%s)"
_LIMIT_LOCKS = "RESET lock_timeout"
_UNLOCK = "RESET statement_timeout; RESET lock_timeout; SELECT pg_advisory_unlock(%s)"


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
            return [row.name for row in self._runner(engine).status() if row.path is None]

    def upgrade(self, engine: Engine) -> list[str]:
        """Applies all pending files, each in a transaction of its own, and returns their names.

        Several processes may call this at once: one works, the others wait and find nothing to do. Raises
        `StartupError` if a file fails. That file has changed nothing then, and those before it stay applied.
        """
        with engine.connection(), self._explained(engine, "cannot be upgraded"), _upgrade_lock(engine):
            return list(self._runner(engine).up())

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
def _upgrade_lock(engine: Engine) -> Iterator[None]:
    """Keeps others from upgrading this database during the block. Waits as long as it takes."""
    if engine.dialect == "sqlite":
        # SQLite's write lock won't do: tables are rebuilt with foreign keys off, which is impossible in a transaction.
        with Path(f"{engine.name}.upgrade-lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    # Waiting for the other upgrade may take long, and so may a statement on a large table. What runs under the lock
    # keeps the lock timeout, so that it gives up rather than make everybody queue behind it.
    engine.rows(_LOCK, [_ADVISORY_LOCK])
    try:
        engine.execute(_LIMIT_LOCKS)
        yield
    finally:
        with contextlib.suppress(*DATABASE_ERRORS):  # if the connection is lost, so are the lock and the settings
            engine.db.execute_sql(_UNLOCK, [_ADVISORY_LOCK])


limes_migrations = Migrations("Limes", Path(__file__).parent / "migrations", "limes_schema_migrations")
"""The Limes half's tables. The Placement half has `limes.placement.migrations.placement_migrations`."""
