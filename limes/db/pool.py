"""Pools of connections. The one for PostgreSQL asks the server no needless question.

peewee's pool runs `SELECT 1` each time it hands a connection out. For a request that needs one statement, this is half
of its time. Here, a connection that was in use a moment ago is taken as it is, unless the server has closed it. If it
turns out to be broken with its first statement, and that is a SELECT or a BEGIN, nothing has happened yet: the
statement runs again on another connection, and all older ones are checked again.
"""

import contextlib
import logging
import select
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import peewee
import psycopg2
from playhouse.pool import PooledPostgresqlDatabase, PooledSqliteDatabase

from limes.db.session import Pooler, SessionSettings, is_refused_by_pooler

log = logging.getLogger(__name__)

TRUSTED_SECONDS = 1.0
"""A connection that rested longer is checked before use."""

# PREPARE and EXECUTE are only used for reads, see limes.db.prepared
_READS = ("SELECT", "PREPARE", "EXECUTE")


class SqlitePool(PooledSqliteDatabase):
    """peewee's pool of SQLite connections, except for transactions that SQLite has ended by itself."""

    def rollback(self) -> None:
        """As peewee's. After a disk error there is nothing left to roll back, and trying to would hide that error."""
        if self.connection().in_transaction:
            super().rollback()

    @contextlib.contextmanager
    def read_only(self) -> Iterator[None]:
        """A transaction that sees one state of the database. A write in it fails."""
        with self.transaction("DEFERRED"):  # takes no write lock
            self.pragma("query_only", 1)
            try:
                yield
            finally:
                self.pragma("query_only", 0)


class NotReplicated(psycopg2.OperationalError):
    """The transaction is committed here, but a fail-over now would lose it."""


class _Connector(peewee.Psycopg2Adapter):
    """peewee's way to make a connection, except for what a pooler in between may not like."""

    def connect(self, db: "PostgresqlPool", **parameters: Any) -> Any:
        """Returns a new connection with the pool's settings, or else notes that it leads to a pooler."""
        connect: Any = super().connect
        if db.behind_pooler:
            return connect(db, **parameters)
        try:
            connection = connect(db, options=db.settings.as_options(), **parameters)
        except psycopg2.OperationalError as error:
            if db.pooler == "none" or not is_refused_by_pooler(error):
                raise
            connection = connect(db, **parameters)
            db.behind_pooler = True
        else:
            connection.autocommit = True
            db.behind_pooler = db.pooler == "auto" and not db.settings.has_session(connection, db)
        if db.behind_pooler:
            log.info("there is a pooler in front of the database: settings go with each transaction")
        return connection


class PostgresqlPool(PooledPostgresqlDatabase):
    """peewee's pool of PostgreSQL connections, except for how it finds out whether one still works, and for poolers."""

    psycopg2_adapter = _Connector

    def __init__(self, *args: Any, settings: SessionSettings, pooler: Pooler, **kwargs: Any) -> None:
        self.settings = settings
        """What each transaction runs with."""
        self.pooler = pooler
        """Whether there is a pooler, as far as the configuration says."""
        self.behind_pooler = pooler == "transaction"
        """Whether connections are not sessions of PostgreSQL, as far as we know now. Once true, it stays."""
        self._given_back: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()
        self._distrusted_at = float("-inf")
        self._thread = threading.local()
        super().__init__(*args, **kwargs)
        self._settings_query = self.get_sql_context().sql(settings.as_query()).query()

    def execute_sql(self, sql: str, params: Any = None) -> Any:
        """As peewee's."""
        run = super().execute_sql

        def statement() -> Any:
            if self.behind_pooler and not self.in_transaction():
                return run(*self._with_settings("{settings}; {sql}", sql, params))
            return run(sql, params)

        return self._first(statement, harmless=sql.startswith(_READS))

    def begin(self, isolation_level: Any = None) -> None:
        """As peewee's."""
        run, run_sql = super().begin, super().execute_sql

        def statement() -> None:
            if self.behind_pooler:
                sql = f"BEGIN ISOLATION LEVEL {isolation_level}" if isolation_level else "BEGIN"
                run_sql(*self._with_settings("{sql}; {settings}", sql, None))
            else:
                run(isolation_level)

        self._first(statement, harmless=True)

    def _with_settings(self, form: str, sql: str, params: Any) -> tuple[str, list[Any]]:
        """Returns a statement with the settings before or after it, as `form` says, and the parameters of both."""
        settings, values = self._settings_query
        return form.format(settings=settings, sql=sql), [*values, *(params or ())]

    def commit(self) -> None:
        """As peewee's, but fails if the server waits for standbys and none has confirmed the commit.

        PostgreSQL reports success when that wait is cancelled (`pg_cancel_backend`). But after a fail-over the commit
        may be gone, so nobody may be told that it succeeded.
        """
        super().commit()
        notices = self.connection().notices
        if any("canceling wait for synchronous replication" in notice for notice in notices):
            notices.clear()
            raise NotReplicated("the commit was not confirmed by a standby in time")

    @contextlib.contextmanager
    def read_only(self) -> Iterator[None]:
        """A transaction that sees one state of the database. A write in it fails."""
        with self.atomic("REPEATABLE READ READ ONLY"):  # all in BEGIN: one round trip
            yield

    def _first(self, statement: Callable[[], Any], *, harmless: bool) -> Any:
        """Runs a statement. If it is the first one on an unproven connection, it has a second chance."""
        unproven, self._thread.unproven = getattr(self._thread, "unproven", None), None
        try:
            return statement()
        except (peewee.OperationalError, peewee.InterfaceError):
            if unproven is None or not unproven.closed or not harmless:
                raise
        self._distrusted_at = time.monotonic()  # others of its age have probably been cut, too
        self.close()
        self.connect()
        return statement()

    def _is_closed(self, conn: Any) -> bool:
        given_back = self._given_back.get(conn, float("-inf"))
        trusted = given_back > max(self._distrusted_at, time.monotonic() - TRUSTED_SECONDS)
        if not trusted or conn.closed or _has_something_to_read(conn):
            self._thread.unproven = None
            return bool(super()._is_closed(conn))
        self._thread.unproven = conn
        return False

    def _can_reuse(self, conn: Any) -> bool:
        reusable = bool(super()._can_reuse(conn))
        if reusable:
            self._given_back[conn] = time.monotonic()
        return reusable


def _has_something_to_read(conn: Any) -> bool:
    poll = select.poll()
    poll.register(conn.fileno(), select.POLLIN)
    return bool(poll.poll(0))
