"""Numbered, forward-only migrations. The schema is brought up by `limes db upgrade` and only checked at start.

The Limes half and the Placement half each have a folder of files and a history table; both may live in one database. A
file has a function `up(migrator, db)`, with frozen copies of the models that it needs, or `STEPS` (limes.db.migrate) if
it locks a table that was there before. A released file never changes, and the previous release must be able to work
with the schema after each step of a new file, as its processes do meanwhile.

`docs/architecture.md` has the rules for a file, which `tests/db/test_migration_locks.py` checks on PostgreSQL. A step
that locks against readers has no default that is to be computed either.

A PostgreSQL database is at work meanwhile: no process waits for long, and none is rolled back. A process that waits for
a lock on a table makes everybody wait who comes after it, even for reading. So an upgrade waits for less than a second
at a time, gives all of its locks back, and tries again a moment later. PostgreSQL looks for deadlocks only after a
second (`deadlock_timeout`): until then, the upgrade has given way.
"""

import contextlib
import fcntl
import logging
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import peewee
from msgspec import Struct, field
from peewee import Select, Table, fn

from limes.db.advice import advise_on_schema
from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS, Failure, classify, first_line
from limes.db.watch import unlimited
from limes.kernel.errors import StartupError

if TYPE_CHECKING:
    from playhouse.migrations import Migration, Runner

AGAINST_ALL = "ACCESS EXCLUSIVE"
"""Blocks readers of the table. For ALTER TABLE. Such a step reads no rows, so that it only takes a moment."""
AGAINST_WRITERS = "EXCLUSIVE"
"""Blocks writers and row locks. For indexes, triggers and foreign keys."""
AGAINST_CHANGES = "SHARE ROW EXCLUSIVE"
"""Blocks writers; foreign keys may lock rows. For triggers and foreign keys on a table that others refer to: a
transaction that has written what the step locks next may still have to look at rows of this one."""
AGAINST_NOBODY = "SHARE UPDATE EXCLUSIVE"
"""Others read and write, but there is no VACUUM. For VALIDATE CONSTRAINT."""


class Step(Struct, frozen=True):
    up: Callable[[Any, peewee.Database], Any]
    """Called with the migrator and the database, as `up` of a file."""
    locks: Mapping[str, str] = field(default_factory=dict)
    """Tables that were there before, with one of the above, in the order of `limes.app.models.LOCK_ORDER`."""


class Fill(Struct, frozen=True):
    """Many short transactions, which lock nothing but the rows that each of them fills."""

    batch: Callable[[peewee.Database, int], int | None]
    """Fills some rows behind an id, in the order of ids. Returns the last id, or None if there are no more. It may be
    called again from 0, and then leaves what is filled already."""


log = logging.getLogger(__name__)
# Any number that no other program uses in this database: two upgrades at once take turns.
_ADVISORY_LOCK = 0x4C494D4553
_ANOTHER_UPGRADE = "another upgrade"
_SHORT, _MORE, _LONGEST = 0.3, 0.1, 0.8
"""Seconds for all locks of a step that others have to wait for: at first, more with each try, and at most."""
_LONG = 3.0
"""Seconds for a lock that keeps no process from work; PostgreSQL ends an autovacuum that is in the way after one."""
_PATIENCE = 600.0
"""Seconds in which a step has to get its locks."""
_SILENCE = 5.0
"""Seconds between two messages."""
_SHOWN = 3
_DIGITS = 4
"""At the start of a file's name."""
_VALUE = re.compile("'[^']*'")
"""In a statement. It may be a secret."""
_LOCKS = Table("pg_locks")
_SESSIONS = Table("pg_stat_activity")
_STATISTICS = Table("pg_stat_user_tables")


class _Holder(NamedTuple):
    """A session that has locked what an upgrade waits for."""

    pid: int
    application: str
    state: str | None
    seconds: float | None
    query: str | None

    def __str__(self) -> str:
        since = "" if self.seconds is None else f" for {self.seconds:.1f} s"
        query = " ".join(_VALUE.sub("'...'", self.query or "").split())[:80]
        return f"process {self.pid} ({self.application or 'unnamed'}, {self.state or 'at work'}{since}: {query})"


class Upgrade:
    """One run. Each step is a transaction that also records it, so that it is done only once, by any process."""

    def __init__(self, engine: Engine, runner: "Runner", tell: Callable[[str], None]) -> None:
        self._engine = engine
        self._runner = runner
        self._tell = tell
        self._step = ""
        self._filled = self._reached = 0
        """Up to which id this step has filled rows: committed, and in the present transaction."""
        self._wanted: Mapping[str, str] = {}
        self._waits_for = ""
        self._short = _SHORT
        """Seconds that this try may take of others' time."""

    def run(self) -> list[str]:
        finished: list[str] = []
        while (name := self._patiently()) is not None:
            if name:
                finished.append(name)
        self._analyze(only_new=not finished)
        return finished

    def _analyze(self, *, only_new: bool) -> None:
        """Gives PostgreSQL's planner its figures about all tables, or about tables without figures, as after a
        restore. Without them, reports take seconds until autovacuum comes by."""
        query = _STATISTICS.select(_STATISTICS.c.schemaname, _STATISTICS.c.relname)
        if only_new:
            query = query.where(_STATISTICS.c.last_analyze.is_null(), _STATISTICS.c.last_autoanalyze.is_null())
        for schema, table in self._engine.tuples(query):
            with self._engine.db.atomic(), unlimited(self._engine.db.connection()):
                self._set(statement_timeout="0")
                # SQL text: peewee does not know ANALYZE
                self._engine.execute(f'ANALYZE (SKIP_LOCKED) "{schema}"."{table}"')

    def _patiently(self) -> str | None:
        begin, told_at = time.monotonic(), float("-inf")
        self._short = _SHORT
        while True:
            try:
                name = self._apply()
                self._filled = self._reached
                return name
            except DATABASE_ERRORS as error:
                if classify(error) not in (Failure.COLLISION, Failure.BUSY):
                    raise
                now = time.monotonic()
                is_over = now - begin > _PATIENCE and self._waits_for != _ANOTHER_UPGRADE
                if is_over or now - told_at > _SILENCE:
                    self._tell(self._what_it_waits_for())
                    told_at = now
                if is_over:
                    raise
            self._short = min(_LONGEST, self._short + _MORE)
            time.sleep(random.uniform(0.3, 1))  # noqa: S311 - lets others work

    def _apply(self) -> str | None:
        """Does the next step. Returns the file's name if it was the last one, else ""; None if nothing is pending."""
        self._wanted = {}
        with self._engine.db.atomic(), unlimited(self._engine.db.connection()):
            self._set(statement_timeout="0")
            self._waits_for = _ANOTHER_UPGRADE
            self._set(lock_timeout=f"{_LONG}s")
            self._engine.tuples(Select(columns=[fn.pg_advisory_xact_lock(_ADVISORY_LOCK).cast("text")]))
            self._runner.History.create_table()
            migration = next((row for row in self._runner.status() if row.path and not row.applied), None)
            if migration is None:
                return None
            steps = steps_of(migration)
            history = self._runner.History
            number = int(history.select().where(history.name.startswith(f"{migration.name}/")).count())
            if not self._do(steps[number], f"{migration.name}/{number}"):
                return ""
            if number + 1 < len(steps):
                history.create(name=f"{migration.name}/{number}")
                return ""
            history.delete().where(history.name.startswith(f"{migration.name}/")).execute()
            history.create(name=migration.name)
            return str(migration.name)

    def _do(self, step: Step | Fill, name: str) -> bool:
        if self._step != name:
            self._step, self._filled, self._reached = name, 0, 0
        if isinstance(step, Fill):
            self._waits_for = "rows"
            self._set(lock_timeout=f"{self._short}s")
            filled = step.batch(self._engine.db, self._filled)
            self._reached = self._filled if filled is None else filled
            return filled is None
        self._wanted = step.locks
        self._lock_tables(step.locks)
        self._waits_for = "a lock that the migration does not name"
        step.up(self._runner.migrator, self._engine.db)
        return True

    # -- locks -------------------------------------------------------------------------------------------------------

    def _lock_tables(self, locks: Mapping[str, str]) -> None:
        """First against autovacuum only, which would never give way to a short wait."""
        for table in locks:
            self._lock_table(table, "SHARE UPDATE EXCLUSIVE", _LONG)
        deadline = time.monotonic() + self._short
        for table, mode in locks.items():
            self._lock_table(table, mode, deadline - time.monotonic())

    def _lock_table(self, table: str, mode: str, seconds: float) -> None:
        self._waits_for = table
        self._set(lock_timeout=f"{max(1, round(1000 * seconds))}ms")
        # SQL text: peewee does not know LOCK
        self._engine.execute(f'LOCK TABLE "{table}" IN {mode} MODE')

    def _set(self, **settings: str) -> None:
        self._engine.tuples(Select(columns=[fn.set_config(name, value, True) for name, value in settings.items()]))

    # -- what it waits for -------------------------------------------------------------------------------------------

    def _what_it_waits_for(self) -> str:
        holders = self._holders()
        by = f", locked by {', '.join(map(str, holders[:_SHOWN]))}" if holders else ""
        more = f" and {len(holders) - _SHOWN} more" if len(holders) > _SHOWN else ""
        name = self._step.partition("/")[0]
        return f"{name or 'the upgrade'} waits for {self._waits_for}{by}{more}"

    def _holders(self) -> list[_Holder]:
        held = (_LOCKS.c.locktype == "advisory") & (_LOCKS.c.classid == _ADVISORY_LOCK >> 32)
        held &= _LOCKS.c.objid == _ADVISORY_LOCK & 0xFFFFFFFF
        for table, mode in self._wanted.items():
            wanted = _LOCKS.c.relation == fn.to_regclass(table)
            held |= wanted if mode == AGAINST_ALL else wanted & (_LOCKS.c.mode != "AccessShareLock")
        age = fn.date_part("epoch", fn.now() - _SESSIONS.c.xact_start)
        columns = (_SESSIONS.c.pid, _SESSIONS.c.application_name, _SESSIONS.c.state, age, _SESSIONS.c.query)
        is_other = (_LOCKS.c.pid != fn.pg_backend_pid()) & (_SESSIONS.c.datname == fn.current_database())
        query = (
            _SESSIONS.select(*columns)
            .join(_LOCKS, on=_LOCKS.c.pid == _SESSIONS.c.pid)
            .where(is_other, _LOCKS.c.granted, held)
        )
        return sorted(self._engine.all(query.distinct(), _Holder), key=lambda holder: -(holder.seconds or 0))


def steps_of(migration: "Migration") -> tuple[Step | Fill, ...]:
    module: Any = migration.load()
    return getattr(module, "STEPS", None) or (Step(module.up),)


class Migrations:
    """The migrations of one half: a folder of files, and the table that records which were applied."""

    def __init__(self, name: str, directory: Path, history_table: str) -> None:
        self.name = name
        self.directory = directory
        self.history_table = history_table

    def pending(self, engine: Engine) -> list[str]:
        """Returns the names of the files still to apply, in order. Raises `StartupError` if the database won't say."""
        with engine.connection(), self._explained(engine, "cannot be read"):
            applied = self._applied(engine)
        return [name for name in self._files() if name not in applied]

    def unknown(self, engine: Engine) -> list[str]:
        """Returns names that were applied, but that this release does not know: it is older than the schema."""
        with engine.connection(), self._explained(engine, "cannot be read"):
            applied = self._applied(engine)
        newest = self._files()[-1][:_DIGITS]
        return sorted(name for name in applied if name[:_DIGITS] > newest)

    def upgrade(self, engine: Engine, tell: Callable[[str], None] = log.info) -> list[str]:
        """Applies all pending files, and returns the names of the finished ones. Several processes may call this
        at once, and each may end at any time: each step is a transaction (on SQLite, each file), and the next process
        goes on. `tell` gets a line about what it waits for. Raises `StartupError` if a step fails. That step has
        changed nothing then, and those before it stay applied."""
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

    def _files(self) -> list[str]:
        return sorted(path.stem for path in self.directory.glob("[0-9]*.py"))

    def _applied(self, engine: Engine) -> set[str]:
        table = Table(self.history_table)
        is_new = not engine.db.table_exists(self.history_table)
        return set() if is_new else {name for (name,) in engine.tuples(table.select(table.c.name))}

    @contextlib.contextmanager
    def _explained(self, engine: Engine, problem: str) -> Iterator[None]:
        try:
            yield
        except (*DATABASE_ERRORS, OSError) as error:
            reason = first_line(error)
            advice = advise_on_schema(reason, engine.address)
            text = f"the {self.name} schema in the {engine.location} {problem}: {reason}"
            raise StartupError(f"{text}. What to do: {advice}" if advice else text) from error

    def _runner(self, engine: Engine) -> "Runner":
        from playhouse.migrations import Runner  # rarely needed

        return Runner(engine.db, directory=str(self.directory), table_name=self.history_table)


@contextlib.contextmanager
def _upgrade_lock(path: Path) -> Iterator[None]:
    """Keeps others from upgrading this SQLite database during the block. Waits as long as it takes. SQLite's write lock
    won't do: tables are rebuilt with foreign keys off, which is impossible in a transaction."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _upgrade_sqlite(runner: "Runner") -> Iterator[str]:
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
