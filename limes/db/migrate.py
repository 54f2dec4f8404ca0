"""Numbered, forward-only migrations. The schema is brought up by `limes db upgrade` and only checked at start.

The Limes half and the Placement half each have a folder of files and a history table; both may live in one database.
Files follow `playhouse.migrations`: a function `up(migrator, db)` with frozen copies of the models that it needs. A
released file never changes, and the previous release must be able to work with the schema after a new file.
"""

import contextlib
import fcntl
import random
import time
from collections.abc import Iterator
from pathlib import Path

from peewee import Select, fn
from playhouse.migrations import Runner

from limes.db.advice import advise_on_schema
from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS, Failure, classify, first_line
from limes.db.watch import unlimited
from limes.errors import StartupError

# Any number that nobody else uses in this database: two upgrades at once run one after the other.
_ADVISORY_LOCK = 0x4C494D4553
_TRIES = 20


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

        Several processes may call this at once: each file is applied by one of them, while the others wait. Raises
        `StartupError` if a file fails. That file has changed nothing then, and those before it stay applied.
        """
        with engine.connection(), self._explained(engine, "cannot be upgraded"):
            if engine.dialect == "postgresql":
                return list(iter(lambda: self._apply_next_patiently(engine), None))
            with _upgrade_lock(Path(f"{engine.name}.upgrade-lock")):
                return list(self._runner(engine).up())

    def _apply_next_patiently(self, engine: Engine) -> str | None:
        """As `_apply_next`, again and again while processes that are at work get in its way: PostgreSQL ends a deadlock
        by rolling one side back. They lock rows of several tables, in orders of their own."""
        for tries_left in reversed(range(_TRIES)):
            try:
                return self._apply_next(engine)
            except DATABASE_ERRORS as error:
                if classify(error) is not Failure.COLLISION or not tries_left:
                    raise
            time.sleep(random.uniform(0, 0.5))  # noqa: S311 - spreads load
        raise AssertionError("unreachable")

    def _apply_next(self, engine: Engine) -> str | None:
        """Applies the first pending file, and returns its name; None if there is none. For PostgreSQL.

        One transaction does it all and holds the lock, which is therefore never lost before the file is applied, and
        does not need a session of its own.
        """
        with engine.db.atomic(), unlimited(engine.db.connection()):
            _lock_upgrade(engine)
            pending = self.pending(engine)
            return self._runner(engine).up(pending[0])[0] if pending else None

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


def _lock_upgrade(engine: Engine) -> None:
    """Keeps others from upgrading this PostgreSQL database until the transaction ends. Waits as long as it takes.

    A statement on a large table may take long, too. But it keeps the lock timeout, so that it gives up rather than make
    everybody queue behind it.
    """
    ((lock_timeout,),) = engine.tuples(Select(columns=[fn.current_setting("lock_timeout")]))
    _set_until_commit(engine, statement_timeout="0", lock_timeout="0")
    engine.tuples(Select(columns=[fn.pg_advisory_xact_lock(_ADVISORY_LOCK).cast("text")]))
    _set_until_commit(engine, lock_timeout=lock_timeout)


def _set_until_commit(engine: Engine, **settings: str) -> None:
    engine.tuples(Select(columns=[fn.set_config(name, value, True) for name, value in settings.items()]))


limes_migrations = Migrations("Limes", Path(__file__).parent / "migrations", "limes_schema_migrations")
"""The Limes half's tables. The Placement half has `limes.placement.migrations.placement_migrations`."""
