"""Numbered, forward-only migrations. The schema is brought up by `limes db upgrade` and only checked at start.

Each half of the house has its own folder of files and its own history table; both may live in one database. Files
follow `playhouse.migrations`: a function `up(migrator, db)` with frozen copies of the models it needs. A file that was
released is never changed, and the previous release must be able to live with the schema that a new file leaves.
"""

from pathlib import Path

from playhouse.migrations import Runner

from limes.db.engine import Engine
from limes.errors import StartupError

# Any number that no other user of the database picks: two upgrades at once run one after the other.
_ADVISORY_LOCK = 0x4C494D4553


class Migrations:
    """The migrations of one half: a folder of files, and the table that remembers which were applied."""

    def __init__(self, name: str, directory: Path, history_table: str) -> None:
        self.name = name
        self.directory = directory
        self.history_table = history_table

    def pending(self, engine: Engine) -> list[str]:
        """Names of the files that this database has not seen yet, in order."""
        with engine.connection():
            return [row.name for row in self._runner(engine).status() if row.path is not None and row.applied is None]

    def upgrade(self, engine: Engine) -> list[str]:
        """Applies all pending files, each in a transaction of its own, and answers their names.

        Several processes may call this at once on PostgreSQL: an advisory lock lets one of them work.
        """
        with engine.connection():
            if engine.dialect != "postgresql":
                return list(self._runner(engine).up())
            engine.rows("SELECT pg_advisory_lock(%s)", [_ADVISORY_LOCK])
            try:
                engine.db.execute_sql("SET statement_timeout = 0")
                return list(self._runner(engine).up())
            finally:
                engine.db.execute_sql("RESET statement_timeout")
                engine.rows("SELECT pg_advisory_unlock(%s)", [_ADVISORY_LOCK])

    def check(self, engine: Engine) -> None:
        """Raises `StartupError` when the schema is behind this release."""
        pending = self.pending(engine)
        if pending:
            raise StartupError(
                f"the {self.name} schema in the {engine.location} is behind this release "
                f"({len(pending)} migration(s) pending, next: {pending[0]}). Run: limes db upgrade"
            )

    def _runner(self, engine: Engine) -> Runner:
        return Runner(engine.db, directory=str(self.directory), table_name=self.history_table)


limes_migrations = Migrations("Limes", Path(__file__).parent / "migrations", "limes_schema_migrations")
"""The Limes half's tables. The Placement half has `limes.placement.migrations.placement_migrations`."""
