"""One database, SQLite or PostgreSQL, as a pool of connections with explicit transactions.

Three ways in, and no others:

- `engine.atomic(work)`: a read-write transaction. On SQLite it takes the write lock at once (`BEGIN IMMEDIATE`); on
  PostgreSQL it runs at READ COMMITTED, so what a decision rests on has to be locked (`engine.for_update`). It is run
  again, whole, when the database reports a serialization failure or a deadlock, so `work` must do nothing but database
  work.
- `engine.snapshot(work)`: a read-only transaction that sees one consistent state through all its queries.
- `engine.rows()`, `engine.execute()` with fixed SQL text: inside either, or alone. Parameters are written `%s` for both
  databases; a literal percent sign is written `%%`.

Times are stored as seconds since the epoch, UTC, in double precision: they compare and add in the same way in both
databases (docs/adr/0002-times-as-seconds.md).
"""

import contextlib
import logging
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import peewee
import psycopg2
import psycopg2.extensions
from playhouse.pool import PooledPostgresqlDatabase, PooledSqliteDatabase

from limes.errors import StartupError, Unavailable

T = TypeVar("T")
Row = tuple[Any, ...]

log = logging.getLogger(__name__)

# PostgreSQL's sum() of BIGINTs is NUMERIC, so that it cannot overflow. Ours are all whole: make them int, not Decimal.
psycopg2.extensions.register_type(
    psycopg2.extensions.new_type((1700,), "NUMERIC_AS_INT", lambda value, _: None if value is None else int(value))
)

# serialization_failure, deadlock_detected, lock_not_available: the same work can succeed when it is run again.
_RETRY_CODES = frozenset({"40001", "40P01", "55P03"})
_RETRIES = 12
_SQLITE_PRAGMAS = {"journal_mode": "wal", "foreign_keys": 1, "synchronous": "normal", "busy_timeout": 30_000}


class Engine:
    """A pool of connections to one database. Safe to use from many threads; call `dispose()` after a fork."""

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 16,
        statement_timeout: float = 30.0,
        lock_timeout: float = 10.0,
        application_name: str = "limes",
    ) -> None:
        """`url` is `sqlite:///relative/path`, `sqlite:////absolute/path` or `postgresql://user:pass@host:port/name`.

        For PostgreSQL, query parameters of the URL are handed to libpq (`?host=/run/postgresql&sslmode=verify-full`).
        Times are in seconds. Nothing is connected yet.
        """
        parts = urlsplit(url)
        self.dialect: Literal["sqlite", "postgresql"]
        if parts.scheme == "sqlite":
            self.dialect = "sqlite"
            path = unquote(parts.path)[1:]
            if not path or path == ":memory:":
                raise StartupError("database.url: an in-memory SQLite database cannot be shared; give a file's path")
            self.location = f"sqlite file {path}"
            self.db: peewee.Database = PooledSqliteDatabase(
                path,
                max_connections=pool_size,
                timeout=30,
                pragmas=_SQLITE_PRAGMAS,
                lock_type="IMMEDIATE",
                check_same_thread=False,
            )
        elif parts.scheme in ("postgresql", "postgres"):
            self.dialect = "postgresql"
            name = unquote(parts.path)[1:] or "limes"
            options = dict(parse_qsl(parts.query))
            if parts.hostname:
                options["host"] = parts.hostname
            self.location = f"PostgreSQL database {name} on {options.get('host', 'the default socket')}"
            milliseconds = {
                "statement_timeout": statement_timeout,
                "lock_timeout": lock_timeout,
                "idle_in_transaction_session_timeout": 4 * statement_timeout,
            }
            settings = [f"-c {key}={int(value * 1000)}" for key, value in milliseconds.items()]
            options["options"] = " ".join([options.get("options", ""), *settings]).strip()
            self.db = PooledPostgresqlDatabase(
                name,
                max_connections=pool_size,
                timeout=30,
                stale_timeout=300,
                user=unquote(parts.username) if parts.username else None,
                password=unquote(parts.password) if parts.password else None,
                port=parts.port or 5432,
                connect_timeout=10,
                application_name=application_name,
                **options,
            )
        else:
            raise StartupError(
                f"database.url: unknown scheme {parts.scheme!r}, expected sqlite:///path or postgresql://host/name"
            )
        self.for_update = " FOR UPDATE" if self.dialect == "postgresql" else ""
        self.skip_locked = " FOR UPDATE SKIP LOCKED" if self.dialect == "postgresql" else ""
        """SQL to end a SELECT with, to lock its rows until the transaction ends (empty on SQLite, where a writer is
        alone anyway)."""
        self._sql_cache: dict[str, str] = {}

    # -- connections -------------------------------------------------------------------------------------------------

    def ping(self) -> None:
        """Asks the database for one row. Raises `Unavailable` (without its address or password) if it cannot."""
        with self.connection():
            self.rows("SELECT 1")

    @contextlib.contextmanager
    def connection(self) -> Iterator[None]:
        """Holds one pooled connection for this thread, for as long as the block lasts. May be nested."""
        if not self.db.is_closed():
            yield
            return
        try:
            self.db.connect(reuse_if_open=True)
        except (peewee.OperationalError, peewee.InterfaceError, psycopg2.Error) as error:
            log.error("cannot connect to %s: %s", self.location, str(error).strip().splitlines()[0])
            raise Unavailable(f"the database does not answer ({self.location})") from error
        except peewee.MaxConnectionsExceeded as error:  # type: ignore[attr-defined]
            raise Unavailable("all database connections are in use; try again") from error
        try:
            yield
        finally:
            self.db.close()

    def dispose(self) -> None:
        """Forgets all connections, without closing those that a parent process still uses. Call it after a fork."""
        dispose = getattr(self.db, "dispose", None)
        if dispose is not None:
            dispose()

    def close(self) -> None:
        """Closes all connections of the pool."""
        if not self.db.is_closed():
            self.db.close()
        self.db.close_all()  # type: ignore[attr-defined]

    # -- transactions ------------------------------------------------------------------------------------------------

    def atomic(self, work: Callable[[], T]) -> T:
        """Runs `work` in a read-write transaction and answers what it answers; all of it happens, or nothing.

        Inside another `atomic` it joins that one. Raises `Unavailable` when the database went away or stayed too busy
        for all of the retries.
        """
        if not self.db.is_closed() and self.db.in_transaction():
            return work()
        for attempt in range(_RETRIES):
            try:
                with self.connection(), self.db.atomic():
                    return work()
            except (peewee.OperationalError, peewee.InterfaceError) as error:
                if not self._may_retry(error) or attempt == _RETRIES - 1:
                    raise self._unavailable(error) from error
            # Full jitter, so that those who met once do not meet again: 0..2, 0..4, ... 0..250 ms.
            time.sleep(random.uniform(0, min(0.25, 0.002 * 2**attempt)))  # noqa: S311 - spreads load
        raise AssertionError("unreachable")

    def snapshot(self, work: Callable[[], T]) -> T:
        """Runs `work`, which only reads, so that all its queries see one state of the database."""
        if not self.db.is_closed() and self.db.in_transaction():
            return work()
        try:
            with self.connection():
                if self.dialect == "postgresql":
                    with self.db.atomic():
                        self.db.execute_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                        return work()
                # a deferred BEGIN takes no write lock on SQLite
                with self.db.transaction("DEFERRED"):
                    return work()
        except (peewee.OperationalError, peewee.InterfaceError) as error:
            raise self._unavailable(error) from error

    def after_commit(self, action: Callable[[], None]) -> None:
        """Runs `action` once the present transaction is committed, and not if it is rolled back."""
        self.db.after_commit(action)

    def _may_retry(self, error: Exception) -> bool:
        cause = getattr(error, "orig", None) or error.__cause__ or error
        if isinstance(cause, sqlite3.OperationalError):
            return "locked" in str(cause) or "busy" in str(cause)
        return getattr(cause, "pgcode", None) in _RETRY_CODES

    def _unavailable(self, error: Exception) -> Exception:
        cause = getattr(error, "orig", None) or error.__cause__ or error
        log.error("%s: %s", self.location, str(error).strip())
        if self._may_retry(error):
            return Unavailable("the database is too busy; try again")
        code = getattr(cause, "pgcode", None)
        if code == "57014":
            return Unavailable("the database took too long over this request; try again or ask for less")
        if isinstance(cause, psycopg2.Error) and code is not None and not code.startswith(("08", "57", "53")):
            return error
        if isinstance(cause, sqlite3.OperationalError) and "no such" in str(cause):
            return error
        return Unavailable("the database does not answer")

    # -- SQL ---------------------------------------------------------------------------------------------------------

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        """All rows that the statement gives, as tuples."""
        return list(self.db.execute_sql(self._text(sql), params or None).fetchall())

    def row(self, sql: str, params: Sequence[Any] = ()) -> Row | None:
        """The first row that the statement gives, or None."""
        found: Row | None = self.db.execute_sql(self._text(sql), params or None).fetchone()
        return found

    def execute(self, sql: str, params: Sequence[Any] = ()) -> int:
        """Runs a statement and answers how many rows it touched."""
        return int(self.db.execute_sql(self._text(sql), params or None).rowcount)

    def stream(self, sql: str, params: Sequence[Any] = (), *, chunk: int = 1000) -> Iterator[Row]:
        """The rows of a SELECT, fetched in chunks, so that a large result never stands in memory whole.

        On PostgreSQL this is a server-side cursor, so it has to run inside a transaction.
        """
        if self.dialect == "sqlite":
            yield from self.db.execute_sql(self._text(sql), params or None)
            return
        with self.db.connection().cursor(name=f"limes_{random.getrandbits(48):x}") as cursor:
            cursor.itersize = chunk
            cursor.execute(self._text(sql), params or None)
            yield from cursor

    def _text(self, sql: str) -> str:
        if self.dialect == "postgresql":
            return sql
        known = self._sql_cache.get(sql)
        if known is None:
            if len(self._sql_cache) > 2000:
                self._sql_cache.clear()
            known = self._sql_cache[sql] = sql.replace("%s", "?").replace("%%", "%")
        return known


def placeholders(count: int) -> str:
    """`count` parameters for an IN list: `%s, %s, %s`."""
    return ", ".join(["%s"] * count)
