"""Pools of connections. The one for PostgreSQL asks the server no needless question.

peewee's pool runs `SELECT 1` each time it hands a connection out. For a request that needs one statement, this is half
of its time. Here, a connection that was in use a moment ago is taken as it is, unless the server has closed it. If it
turns out to be broken with its first statement, and that is a SELECT or begins a transaction, nothing has happened yet:
the statement runs again on another connection, and all older ones are checked again.

A transaction begins in the same round trip as its first statement, and may end in the same one as its last. Each round
trip wakes two processes, which costs as much as the work of a small statement.

In transaction mode, a pooler such as PgBouncer gives each transaction any of its own connections. What belongs to a
session is lost there, or reaches another client. So behind a pooler we use nothing of the kind: our settings go with
each BEGIN, and with each statement that runs alone, in the same round trip (docs/adr/0026-pgbouncer.md).
"""

import contextlib
import heapq
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal

import peewee
import psycopg2
from msgspec import Struct
from peewee import Database, Function, Select, fn
from playhouse.pool import MaxConnectionsExceeded, PoolConnection, PooledPostgresqlDatabase, PooledSqliteDatabase
from psycopg2.extensions import TRANSACTION_STATUS_IDLE

from limes.db.watch import HangingServer, Watch, WatchedConnection, WatchedCursor

log = logging.getLogger(__name__)

Pooler = Literal["auto", "none", "transaction"]
"""Whether to find out if there is a pooler, or to take it that there is none, or one."""
TRUSTED_SECONDS = 1.0
"""A connection that rested longer is checked before use."""
_PLANS = "-c plan_cache_mode=force_generic_plan"
"""What is prepared is planned once (`limes.db.statements`). Left alone, PostgreSQL plans each time for lists of less
than ten items."""
# outside of transactions, PREPARE and EXECUTE are only used for reads, see limes.db.engine
_READS = ("SELECT", "PREPARE", "EXECUTE")
COMMIT, _NOTHING_ELSE = "COMMIT", ""


class SessionSettings(Struct, frozen=True):
    given: str
    """libpq's parameter `options`: ours, and then as it stands in the URL, `-c name=value ...`. The last one counts."""
    timeouts: Mapping[str, float]
    """In seconds, by name. They have precedence."""

    def as_options(self) -> str:
        """Returns them as libpq's parameter `options`, for a session of our own."""
        timeouts = [f"-c {name}={value}" for name, value in self._milliseconds().items()]
        return " ".join([_PLANS, self.given, *timeouts])

    def as_query(self) -> Select:
        words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|\S)+", self.given)]
        pairs = [re.sub(r"^(-c|--)", "", word).partition("=") for word in words]
        values = {name.replace("-", "_"): value for name, _, value in pairs if name}
        values |= {name: str(value) for name, value in self._milliseconds().items()}
        return Select(columns=[fn.set_config(name, value, True) for name, value in values.items()])

    def patient_query(self, seconds: float) -> Select:
        """Returns a query that lets the present transaction do nothing for so long."""
        value = str(int(seconds * 1000))
        return Select(columns=[fn.set_config("idle_in_transaction_session_timeout", value, True)])

    def timeouts_in_force(self) -> list[Function]:
        return [fn.date_part("epoch", fn.current_setting(name).cast("interval")) for name in self.timeouts]

    def has_timeouts(self, in_force: Sequence[float]) -> bool:
        return [round(1000 * value) for value in in_force] == [*self._milliseconds().values()]

    def has_session(self, connection: Any, db: Database) -> bool:
        """Asks whether a new connection that was made with these options is a session of PostgreSQL. A pooler makes up
        process numbers for its clients. One that does not is found out if it ignores the options."""
        query = Select(columns=[fn.pg_backend_pid(), *self.timeouts_in_force()])
        with connection.cursor() as cursor:
            cursor.execute(*db.get_sql_context().sql(query).query())
            pid, *seconds = cursor.fetchone()
        return pid == connection.get_backend_pid() and self.has_timeouts(seconds)

    def _milliseconds(self) -> dict[str, int]:
        return {name: int(seconds * 1000) for name, seconds in self.timeouts.items()}


class _Thread(threading.local):
    """What the pool knows of each thread."""

    unproven: Any = None
    """Its connection, if that has to show that it still works."""
    begin: str | None = None
    """The statement that begins its transaction, until that is sent."""


def is_refused_by_pooler(error: psycopg2.OperationalError) -> bool:
    return "unsupported startup parameter" in str(error)


class SqlitePool(PooledSqliteDatabase):
    """peewee's pool of SQLite connections, except for transactions that SQLite has ended by itself."""

    def rollback(self) -> None:
        """As peewee's. After a disk error there is nothing left to roll back, and trying to would hide that error."""
        if self.connection().in_transaction:
            super().rollback()

    @contextlib.contextmanager
    def read_only(self, *, is_sent: bool = False) -> Iterator[None]:
        """A transaction that sees one state of the database. A write in it fails. `is_sent` is for PostgreSQL."""
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
        """Returns a new connection, unless the server is known to hang. Raises `psycopg2.OperationalError`."""
        if db.watch.hangs:
            raise HangingServer("the server hangs: it has not answered for a while")
        try:
            return self._connect(db, **{**parameters, **db.watch.order})
        except psycopg2.OperationalError as error:
            if "timeout expired" in str(error):
                db.watch.give_up()
            raise

    def _connect(self, db: "PostgresqlPool", **parameters: Any) -> Any:
        if db.behind_pooler:
            return self._open(db, **parameters)
        try:
            connection = self._open(db, options=db.settings.as_options(), **parameters)
        except psycopg2.OperationalError as error:
            if db.pooler == "none" or not is_refused_by_pooler(error):
                raise
            connection = self._open(db, **parameters)
        else:
            connection.autocommit = True
            if db.pooler == "none" or db.settings.has_session(connection, db):
                return connection
        if not db.behind_pooler:
            log.info("there is a pooler in front of the database: settings go with each transaction")
        db.behind_pooler = True
        return connection

    def _open(self, db: "PostgresqlPool", **parameters: Any) -> WatchedConnection:
        factories = {"connection_factory": WatchedConnection, "cursor_factory": WatchedCursor}
        connect: Any = super().connect
        connection: WatchedConnection = connect(db, **factories, **parameters)
        db.watch.add(connection)
        return connection


class PostgresqlPool(PooledPostgresqlDatabase):
    """peewee's pool of PostgreSQL connections, except for how it finds out whether one still works, and for poolers.
    No thread waits for one that waits for a server: only the list of connections is locked."""

    psycopg2_adapter = _Connector

    def __init__(
        self,
        *args: Any,
        settings: SessionSettings,
        sending_timeout: float,
        pooler: Pooler,
        make_watch: Callable[..., Watch],
        **kwargs: Any,
    ) -> None:
        self.settings = settings
        self.sending_timeout = sending_timeout
        """Seconds that a transaction may rest whose rows are sent to a client meanwhile."""
        self.pooler = pooler
        self.behind_pooler = pooler == "transaction"
        """Whether connections are not sessions of PostgreSQL, as far as we know now. Once true, it stays."""
        self._distrusted_at = float("-inf")
        self._thread = _Thread()
        super().__init__(*args, **kwargs)
        self._make_watch = make_watch
        self.watch = make_watch(self._parameters())
        # peewee holds this lock while it connects; what it guards, `_state`, is each thread's own
        self._lock = contextlib.nullcontext()
        self._settings_query = self.get_sql_context().sql(settings.as_query()).query()

    def execute_sql(self, sql: str, params: Any = None) -> Any:
        run, begin = super().execute_sql, self._thread.begin
        self._thread.begin = None

        def statement() -> Any:
            first, values = begin, params or ()
            if self.behind_pooler and (begin or not self.in_transaction()):
                settings, own_values = self._settings_query
                first, values = "; ".join(filter(None, [begin, settings])), [*own_values, *values]
            return run(f"{first}; {sql}" if first else sql, values)

        # what is not committed has not happened
        harmless = not sql.endswith(COMMIT) if begin else sql.startswith(_READS)
        return self._first(statement, harmless=harmless)

    def begin(self, isolation_level: Any = None) -> None:
        """Begins a transaction with its first statement."""
        self._thread.begin = f"BEGIN ISOLATION LEVEL {isolation_level}" if isolation_level else "BEGIN"

    def connection(self) -> Any:
        """As peewee's. Whoever asks for it may do with it what we do not know, so the transaction begins now."""
        if self._thread.begin:
            self.execute_sql(_NOTHING_ELSE)
        return super().connection()

    @property
    def held(self) -> Any:
        """This thread's connection, to look at."""
        return self._state.conn

    def dispose(self) -> None:
        """As peewee's. Threads do not outlive a fork, so a new one watches."""
        super().dispose()
        self.watch = self._make_watch(self._parameters())

    def _parameters(self) -> dict[str, Any]:
        return {"dbname": self.database, **self.connect_params}

    def commit(self) -> None:
        """As peewee's, but fails if the server waits for standbys and none has confirmed the commit. PostgreSQL reports
        success when that wait is cancelled (`pg_cancel_backend`). But after a fail-over the commit may be gone, so
        no caller may be told that it succeeded."""
        if self._must_end():
            super().commit()
        notices = self.held.notices
        if any("canceling wait for synchronous replication" in notice for notice in notices):
            notices.clear()
            raise NotReplicated("the commit was not confirmed by a standby in time")

    def rollback(self) -> None:
        if not self.is_closed() and self._must_end():
            super().rollback()

    def _must_end(self) -> bool:
        """Whether the transaction is open on the server: not if it has not begun there, or has ended already."""
        begin, self._thread.begin = self._thread.begin, None
        return begin is None and self.held.get_transaction_status() != TRANSACTION_STATUS_IDLE

    @contextlib.contextmanager
    def read_only(self, *, is_sent: bool = False) -> Iterator[None]:
        """A transaction that sees one state of the database. A write in it fails. `is_sent`: what it reads is sent to a
        client piece by piece, who may be slow. It locks nothing that others wait for."""
        with self.atomic("REPEATABLE READ READ ONLY"):
            if is_sent:
                self.execute_sql(*self.get_sql_context().sql(self.settings.patient_query(self.sending_timeout)).query())
            yield

    def _first(self, statement: Callable[[], Any], *, harmless: bool) -> Any:
        """Runs a statement. If it is the first one on an unproven connection, it has a second chance."""
        unproven, self._thread.unproven = self._thread.unproven, None
        try:
            return statement()
        except (peewee.OperationalError, peewee.InterfaceError):
            if unproven is None or not unproven.closed or not harmless:
                raise
        self._distrusted_at = time.monotonic()  # others of its age have probably been cut, too
        transactions, callbacks = self._state.transactions, self._state.commit_callbacks
        self._state.transactions = []  # or else peewee closes nothing
        try:
            self.close()
            self.connect()
        finally:
            self._state.transactions, self._state.commit_callbacks = transactions, callbacks
        return statement()

    def _connect(self) -> Any:
        """As peewee's, which keeps everybody else waiting while it asks a server, or connects to one."""
        while (idle := self._take_idle()) is not None:
            is_usable = False
            try:
                is_usable = not self._is_closed(idle.connection) and not self._is_stale(idle.timestamp)
            finally:
                if not is_usable:
                    self._close(idle.connection, close_conn=True)
            if is_usable:
                return idle.connection
        unpooled: Any = peewee.PostgresqlDatabase
        with self._place() as place:
            place.connection = unpooled._connect(self)
            return place.connection

    def _take_idle(self) -> PoolConnection | None:
        with self._pool_lock:
            if not self._connections:
                return None
            since, _, connection = heapq.heappop(self._connections)
            taken = self._in_use[self.conn_key(connection)] = PoolConnection(since, connection, time.time())
            return taken

    @contextlib.contextmanager
    def _place(self) -> Iterator[SimpleNamespace]:
        """Keeps a place for a new connection, which counts from now on. Raises `MaxConnectionsExceeded`."""
        place = SimpleNamespace(connection=None)
        with self._pool_lock:
            if len(self._in_use) >= self._max_connections:
                raise MaxConnectionsExceeded
            self._in_use[self.conn_key(place)] = PoolConnection(time.time(), place, time.time())
        try:
            yield place
        finally:
            with self._pool_lock:
                self._in_use.pop(self.conn_key(place), None)
                if place.connection is None:
                    self._pool_available.notify()
                else:
                    now = time.time()
                    self._in_use[self.conn_key(place.connection)] = PoolConnection(now, place.connection, now)

    def _is_closed(self, conn: Any) -> bool:
        trusted = conn.given_back_at > max(self._distrusted_at, time.monotonic() - TRUSTED_SECONDS)
        if not trusted or conn.closed or conn.has_input():
            self._thread.unproven = None
            return bool(super()._is_closed(conn))
        self._thread.unproven = conn
        return False

    def _can_reuse(self, conn: Any) -> bool:
        reusable = bool(super()._can_reuse(conn))
        if reusable:
            conn.given_back_at = time.monotonic()
        return reusable
