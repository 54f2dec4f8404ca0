"""Applies migrations to a PostgreSQL database that is at work: nobody waits for long, and nobody is rolled back.

Whoever waits for a lock on a table makes everybody wait who comes after it, even for reading. So an upgrade waits for
less than a second at a time, gives all of its locks back, and tries again a moment later. PostgreSQL looks for
deadlocks only after a second (`deadlock_timeout`): until then, the upgrade has given way.
"""

import random
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from peewee import Select, Table, fn
from playhouse.migrations import Migration, Runner

from limes.db.engine import Engine
from limes.db.failures import DATABASE_ERRORS, Failure, classify
from limes.db.steps import AGAINST_ALL, Fill, Step
from limes.db.watch import unlimited

# Any number that nobody else uses in this database: two upgrades at once take turns.
_ADVISORY_LOCK = 0x4C494D4553
_ANOTHER_UPGRADE = "another upgrade"
_SHORT, _MORE, _LONGEST = 0.3, 0.1, 0.8
"""Seconds for all locks of a step that others have to wait for: at first, more with each try, and at most."""
_LONG = 3.0
"""Seconds for a lock that keeps nobody from work; PostgreSQL ends an autovacuum that is in the way after one."""
_PATIENCE = 600.0
"""Seconds in which a step has to get its locks."""
_SILENCE = 5.0
"""Seconds between two messages."""
_SHOWN = 3
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
    """One run. Each step is a transaction, which is recorded with it, so that it is done once whoever does it."""

    def __init__(
        self, engine: Engine, runner: Runner, tell: Callable[[str], None], patience: float = _PATIENCE
    ) -> None:
        """`tell` gets a line now and then: what was done, and what it waits for."""
        self._engine = engine
        self._runner = runner
        self._tell = tell
        self._step = ""
        self._filled = self._reached = 0
        """Up to which id this step has filled rows: for good, and in the present transaction."""
        self._wanted: Mapping[str, str] = {}
        self._waits_for = ""
        self._short = _SHORT
        """Seconds that this try may take of others' time."""

    def run(self) -> list[str]:
        """Applies all that is pending, and returns the names of the files that it has finished."""
        finished: list[str] = []
        while (name := self._patiently()) is not None:
            if name:
                finished.append(name)
        self._analyze(only_new=not finished)
        return finished

    def _analyze(self, *, only_new: bool) -> None:
        """Gives PostgreSQL's planner its figures about all tables, or about those that it has none of, as after a
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
        """As `_apply`, again and again while others are in its way."""
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
            self._lock_upgrade()
            self._runner.History.create_table()
            migration = next((row for row in self._runner.status() if row.path and not row.applied), None)
            if migration is None:
                return None
            steps = steps_of(migration)
            number = self._done(migration.name)
            if not self._do(steps[number], f"{migration.name}/{number}"):
                return ""
            return self._record(migration.name, number, is_last=number + 1 == len(steps))

    def _do(self, step: Step | Fill, name: str) -> bool:
        """Does a step, or some of it. Returns whether all of it is done."""
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

    def _lock_upgrade(self) -> None:
        self._waits_for = _ANOTHER_UPGRADE
        self._set(lock_timeout=f"{_LONG}s")
        self._engine.tuples(Select(columns=[fn.pg_advisory_xact_lock(_ADVISORY_LOCK).cast("text")]))

    def _lock_tables(self, locks: Mapping[str, str]) -> None:
        """First against nobody but autovacuum, which would never give way to a short wait."""
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

    # -- what was done -----------------------------------------------------------------------------------------------

    def _done(self, name: str) -> int:
        """Returns how many steps of a file are done, if not all of them."""
        history = self._runner.History
        return int(history.select().where(history.name.startswith(f"{name}/")).count())

    def _record(self, name: str, number: int, *, is_last: bool) -> str:
        history = self._runner.History
        if not is_last:
            history.create(name=f"{name}/{number}")
            return ""
        history.delete().where(history.name.startswith(f"{name}/")).execute()
        history.create(name=name)
        return name

    # -- what it waits for -------------------------------------------------------------------------------------------

    def _what_it_waits_for(self) -> str:
        holders = self._holders()
        by = f", locked by {', '.join(map(str, holders[:_SHOWN]))}" if holders else ""
        more = f" and {len(holders) - _SHOWN} more" if len(holders) > _SHOWN else ""
        name = self._step.partition("/")[0]
        return f"{name or 'the upgrade'} waits for {self._waits_for}{by}{more}"

    def _holders(self) -> list[_Holder]:
        """Returns who has locked what the present step wants; the longest transaction first."""
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


def steps_of(migration: Migration) -> tuple[Step | Fill, ...]:
    """Returns what a file consists of."""
    module: Any = migration.load()
    return getattr(module, "STEPS", None) or (Step(module.up),)
