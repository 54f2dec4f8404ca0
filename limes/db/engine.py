"""One database, SQLite or PostgreSQL, as a pool of connections with explicit transactions.

Three ways in, and no others:

- `engine.atomic(work)`: a read-write transaction. On SQLite it takes the write lock at once (`BEGIN IMMEDIATE`). On
  PostgreSQL it runs at READ COMMITTED, so lock what a decision depends on (`limes.db.compiled.lock`). After a
  serialization failure or a deadlock all of it runs again, so `work` must do nothing but database work.
- `engine.snapshot(work)`: a read-only transaction in which all queries see the same state.
- Queries on the models (`all`, `first`, `tuples`, `column`, `stream`, `write`): inside either, or alone.

`limes.db.transactions` has the first two as decorators.

Times are stored as seconds since the epoch, UTC, in double precision: they compare and add in the same way in both
databases (docs/adr/0002-times-as-seconds.md).
"""

import contextlib
import logging
import random
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple, NoReturn, TypeVar

import peewee
from playhouse.pool import MaxConnectionsExceeded

from limes.db import connections, statements, watch
from limes.db.compiled import Compiled, Locked, Statement, compile_query
from limes.db.compiled_rows import CompiledForRows
from limes.db.failures import DATABASE_ERRORS, Failure, classify, first_line, is_read_only
from limes.db.pool import Pooler, PostgresqlPool
from limes.kernel.errors import Unavailable

T = TypeVar("T")
R = TypeVar("R", bound=NamedTuple)
Query = Compiled | CompiledForRows | peewee.Node
Row = tuple[Any, ...]

log = logging.getLogger(__name__)

_TRIES = 12
_STREAM_CHUNK = 1000
_fetch_all, _row_count = methodcaller("fetchall"), attrgetter("rowcount")
_ONE = Compiled(lambda p: peewee.Select(columns=[peewee.Value(1)]))


class Engine:
    """A pool of connections to one database. Safe to use from many threads; call `dispose()` after a fork."""

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 16,
        pool_timeout: float = 30.0,
        statement_timeout: float = 30.0,
        lock_timeout: float = 10.0,
        application_name: str = "limes",
        pooler: Pooler = "auto",
        patience: watch.Patience = watch.WITH_PRIMARY,
    ) -> None:
        """`url` is `sqlite:///relative/path`, `sqlite:////absolute/path` or `postgresql://user:pass@host:port/name`.

        For PostgreSQL, query parameters of the URL are handed to libpq (`?host=/run/postgresql&sslmode=verify-full`).
        Times are in seconds; `pool_timeout` is how long to wait for one of `pool_size` connections to become free.
        `pooler` and `patience` are for PostgreSQL, see `limes.db.pool` and `limes.db.watch`.
        Nothing is connected yet. Raises `StartupError` when the URL is not one of these."""
        self.pool_size = pool_size
        address = connections.parse_database_url(url)
        self.address = address
        """Where it is. It may have a password in it."""
        self.dialect = address.dialect
        self.name = address.name
        """The SQLite file's path, or the name of the database on the server."""
        self.location = address.location
        self.db = connections.make_pool(
            address,
            size=pool_size,
            timeout=pool_timeout,
            statement_timeout=statement_timeout,
            lock_timeout=lock_timeout,
            application_name=application_name,
            pooler=pooler,
            patience=patience,
        )
        self.batch = statements.Batch(self._write, joins=self.dialect == "postgresql")
        self._prepared = statements.PreparedStatements(self.db) if isinstance(self.db, PostgresqlPool) else None
        self._repeatable = statements.Repeatable()

    @property
    def primary(self) -> "Engine":
        """The engine for reads that must see the newest state: itself, if there are no standbys (limes.db.replicas)."""
        return self

    # -- connections -------------------------------------------------------------------------------------------------

    def ping(self) -> None:
        """Asks the database for one row. Raises `Unavailable` if it cannot."""
        self.column(_ONE)

    @contextlib.contextmanager
    def connection(self) -> Iterator[None]:
        """Holds one pooled connection for this thread, for as long as the block lasts. May be nested. Raises
        `Unavailable`, whose message has no password in it, if there is none."""
        if not self.db.is_closed():
            yield
            return
        try:
            self.db.connect(reuse_if_open=True)
        except MaxConnectionsExceeded:
            log.error("all connections to the %s are in use", self.location)
            raise Unavailable("all database connections are in use; try again") from None
        except DATABASE_ERRORS as error:
            log.error("cannot connect to the %s: %s", self.location, first_line(error))
            failure = classify(error) if classify(error) is not Failure.OURS else Failure.GONE
            raise Unavailable(f"{failure.value} ({self.location})") from None
        try:
            yield
        finally:
            self.db.close()

    @property
    def behind_pooler(self) -> bool:
        """Whether there is a connection pooler in front of PostgreSQL, as far as we know since we connected."""
        return isinstance(self.db, PostgresqlPool) and self.db.behind_pooler

    def pool_use(self) -> tuple[int, int]:
        """Returns how many connections are in use just now, and how many are open and wait for use."""
        pool: Any = self.db
        return len(pool._in_use), len(pool._connections)

    def dispose(self) -> None:
        """Forgets all connections, without closing the ones that a parent process still uses. Call it after a fork."""
        self.db.dispose()

    def close(self) -> None:
        if not self.db.is_closed():
            self.db.close()
        self.db.close_all()

    # -- transactions ------------------------------------------------------------------------------------------------

    def atomic(self, work: Callable[[], T]) -> T:
        """Runs `work` in a read-write transaction and returns its result; all of it happens, or nothing. Inside another
        `atomic` it joins that one: an exception that leaves it must leave the outer one too, or else what it wrote
        until then stays. Raises `Unavailable` when the database went away or stayed too busy for all of the retries.
        Errors that are not the database's fault, such as violated constraints, go to the caller as peewee's."""
        if self._in_transaction():
            return work()
        for tries_left in reversed(range(_TRIES)):
            try:
                with self._repeatable, self.connection(), self.db.atomic(), self.batch.ended_by_commit():
                    return work()
            except DATABASE_ERRORS as error:
                if is_read_only(error):
                    self._leave_standby(error)
                if classify(error) not in (Failure.COLLISION, Failure.UNPREPARED) or not tries_left:
                    self._fail(error)
            # Full jitter, so that transactions do not collide again: 0..2, 0..4, ... 0..250 ms.
            longest = min(0.25, 0.002 * 2 ** (_TRIES - 1 - tries_left))
            time.sleep(random.uniform(0, longest))  # noqa: S311 - spreads load
        raise AssertionError("unreachable")

    def snapshot(self, work: Callable[[], T]) -> T:
        """Runs `work`, which only reads, so that all its queries see one state of the database. A write in it fails.
        Inside an `atomic` it joins that one, and sees what that one sees."""
        if self._in_transaction():
            return work()
        for tries_left in reversed(range(_TRIES)):
            try:
                with self._repeatable, self.connection(), self.db.read_only():
                    return work()
            except DATABASE_ERRORS as error:
                if classify(error) is not Failure.UNPREPARED or not tries_left:
                    self._fail(error)
        raise AssertionError("unreachable")

    def snapshot_stream(self, work: Callable[[], Iterator[T]]) -> Generator[T, None, None]:
        """As `snapshot`, for work that yields its result piece by piece. The connection is this thread's until the last
        piece is taken or the iterator is closed; so close it in the thread that started it, and do nothing else with
        the database there meanwhile."""
        try:
            with self.connection(), self.db.read_only(is_sent=True):
                yield from work()
        except DATABASE_ERRORS as error:
            self._fail(error)

    def after_commit(self, action: Callable[[], None]) -> None:
        """Runs `action` once the present transaction is committed, and not if it is rolled back. The transaction is
        committed by then, so an error of the action is only logged."""

        def run() -> None:
            try:
                action()
            except Exception:
                log.exception("an action after a commit has failed")

        self.db.after_commit(run)

    def _in_transaction(self) -> bool:
        return not self.db.is_closed() and bool(self.db.in_transaction())

    def _leave_standby(self, error: Exception) -> NoReturn:
        """For a write that was refused because the server has become a standby: the next connection finds another."""
        pool: Any = self.db
        pool.close_idle()
        if not pool.is_closed():  # the caller holds one, which must not go back either
            pool.manual_close()
        log.error("%s: %s", self.location, first_line(error))
        raise Unavailable("the database accepts no writes just now; try again") from error

    def _fail(self, error: Exception) -> NoReturn:
        failure = classify(error)
        if failure is Failure.OURS:
            raise error
        log.error("%s: %s", self.location, first_line(error))
        raise Unavailable(failure.value) from error

    # -- queries on the models ---------------------------------------------------------------------------------------

    def all(self, query: Query, kind: type[R], /, **values: Any) -> list[R]:
        return [*map(partial(tuple.__new__, kind), self.fetch(query, values))]  # half of the time of `kind._make`

    def first(self, query: Query, kind: type[R], /, **values: Any) -> R | None:
        found = self.fetch(query, values)
        return kind._make(found[0]) if found else None

    def tuples(self, query: Query, /, **values: Any) -> list[Row]:
        return self.fetch(query, values)

    def column(self, query: Query, /, **values: Any) -> list[Any]:
        return [value for (value,) in self.fetch(query, values)]

    def stream(self, query: Query, kind: type[R], /, **values: Any) -> Generator[R, None, None]:
        """As `all`, fetched in chunks, so that a large result never stands in memory whole. On PostgreSQL this is a
        server-side cursor, so it needs a transaction. Who does not read it to its end closes it there."""
        statement = self._statement(query, values)
        with contextlib.closing(self._stream(statement.sql, statement.bind(values))) as rows:
            yield from map(partial(tuple.__new__, kind), rows)

    def write(self, query: Query, /, **values: Any) -> int:
        call = self._call(self._statement(query, values), values)
        if not self.batch.is_open:
            return self._write(*call)
        self.batch.add(*call)
        return 0

    def _write(self, text: str, params: Sequence[Any]) -> int:
        return int(self._run(text, params, _row_count))

    def fetch(self, query: Query, values: Mapping[str, Any]) -> list[Row]:
        statement = self._statement(query, values)
        if statement.prepare and not self._in_transaction():
            return self._fetch_prepared(statement, values)
        return list(self._run(*self._call(statement, values), _fetch_all))

    def _statement(self, query: Query, values: Mapping[str, Any]) -> Statement:
        if isinstance(query, peewee.Node):
            assert not isinstance(query, Locked), "locking queries are compiled, so that tests find them"
            return compile_query(query, self.dialect, self.db)
        return query.statement(self.dialect, self.db, values)

    # -- SQL text ----------------------------------------------------------------------------------------------------
    # For what peewee has no words for: a test asks each place for its reason. Parameters are written `%s` for both
    # databases, and a literal percent sign `%%`.

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        return list(self._run(self._text(sql), params, _fetch_all))

    def execute(self, sql: str, params: Sequence[Any] = ()) -> int:
        return int(self._run(self._text(sql), params, _row_count))

    def _text(self, sql: str) -> str:
        return sql if self.dialect == "postgresql" else sql.replace("%s", "?").replace("%%", "%")

    # -- how statements run ------------------------------------------------------------------------------------------

    def _call(self, statement: Statement, values: Mapping[str, Any]) -> tuple[str, Sequence[Any]]:
        """Returns a statement's text and values, or how to run it prepared."""
        bound = statement.bind(values)
        if not statement.prepare or not self._repeatable.is_inside:
            return statement.sql, bound
        try:
            is_ready = self._is_ready_for(statement)
        except DATABASE_ERRORS as error:
            self._note_refusal(error)
            raise
        return (statement.prepared.call, statement.prepared.bind(bound)) if is_ready else (statement.sql, bound)

    def _is_ready_for(self, statement: Statement) -> bool:
        prepared = None if self.behind_pooler else self._prepared
        return prepared is not None and prepared.is_ready_for(statement.prepared)

    def _note_refusal(self, error: Exception) -> bool:
        return self._prepared is not None and self._prepared.note_refusal(error)

    def _run(self, text: str, params: Sequence[Any], take: Callable[[Any], Any]) -> Any:
        return self._execute(*self.batch.after_notes(text, params), take)

    def _execute(self, text: str, params: Sequence[Any], take: Callable[[Any], Any]) -> Any:
        if self._in_transaction():
            try:
                return take(self.db.execute_sql(text, params or None))
            except DATABASE_ERRORS as error:
                self._note_refusal(error)
                raise
        try:
            with self.connection():
                return take(self.db.execute_sql(text, params or None))
        except DATABASE_ERRORS as error:
            if is_read_only(error):
                self._leave_standby(error)
            self._fail(error)

    def _fetch_prepared(self, statement: Statement, values: Mapping[str, Any]) -> list[Row]:
        bound = statement.bind(values)
        try:
            with self.connection():
                try:
                    if self._is_ready_for(statement):
                        prepared = statement.prepared
                        return list(self.db.execute_sql(prepared.call, prepared.bind(bound) or None).fetchall())
                except DATABASE_ERRORS as error:
                    if not self._note_refusal(error):
                        raise
                return list(self._execute(statement.sql, bound, _fetch_all))
        except DATABASE_ERRORS as error:
            self._fail(error)

    def _stream(self, text: str, params: Sequence[Any]) -> Generator[Row, None, None]:
        self.batch.flush()
        if self.dialect == "sqlite":
            yield from self.db.execute_sql(text, params or None)
            return
        assert self._in_transaction(), "outside of a transaction, nothing would close this cursor"
        # psycopg2 does not know of transactions that peewee began, and outside of one it insists on `withhold`
        with self.db.connection().cursor(name=f"limes_{random.getrandbits(48):x}", withhold=True) as cursor:
            cursor.execute(text, params or None)
            while rows := cursor.fetchmany(_STREAM_CHUNK):
                yield from rows
