"""A database whose reads may be answered by hot standbys (docs/adr/0025-read-replicas.md).

Promises, for reads within `reading`:

- They see every write up to the position that is given to `reading`, and all writes that `take_position` has noted in
  this process.
- What they see was the state of the primary at most `max_lag` seconds ago.
- All of them come from one standby, or, from a certain moment on, from the primary: never from an older state than
  the read before.
- If a standby fails, the read is done on the primary, unnoticed by the caller.

Writes, reads outside of `reading`, and everything after the first write of a thread go to the primary.
"""

import contextlib
import itertools
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from prometheus_client import Counter, Gauge

from limes.db.engine import Engine, Query, R, Row
from limes.db.failures import DATABASE_ERRORS, Failure, classify, first_line
from limes.db.standbys import PrimaryPositions, Standby
from limes.kernel.errors import Unavailable

T = TypeVar("T")

READS = Counter(
    "limes_database_reads", "Requests that only read, by the server on which they started", ["db_name", "server"]
)
PASSED_OVER = Counter(
    "limes_replica_passed_over",
    "How often a standby was not used, or left: behind, late, unreachable, conflict, no standby",
    ["db_name", "server", "reason"],
)
LAG = Gauge(
    "limes_replica_lag_seconds",
    "The oldest state that the standby may show, when it was last chosen or passed over",
    ["db_name", "server"],
    multiprocess_mode="livemax",
)

log = logging.getLogger(__name__)

_PAUSE = 2.0
"""Seconds until a standby that did not answer, or was none, is tried again."""
_UNKNOWN = 2**64
"""No standby has this position."""


class _Reading(threading.local):
    standby: Standby | None = None
    wanted: int | None = None
    """The position that a standby needs, until one is chosen."""
    held: contextlib.ExitStack | None = None
    has_written: bool = False


class ReplicatedEngine(Engine):
    """An engine with standbys beside its primary. Safe to use from many threads; call `dispose()` after a fork."""

    def __init__(self, primary: Engine, standbys: Sequence[Standby], *, max_lag: float, label: str) -> None:
        """`max_lag` is in seconds. `label` is the database's name in metrics."""
        self._primary = primary
        self._standbys = tuple(standbys)
        self.max_lag = max_lag
        self._label = label
        self._positions = PrimaryPositions(primary, max_lag / 8)
        self._written = 0
        self._turn = itertools.count()
        self._local = _Reading()
        self.pool_size, self.address, self.dialect = primary.pool_size, primary.address, primary.dialect
        self.name, self.location, self.db = primary.name, primary.location, primary.db
        self.batch = primary.batch

    @property
    def primary(self) -> Engine:
        return self._primary

    # -- requests ----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def reading(self, position: int = 0) -> Iterator[None]:
        """For the block, reads of this thread may go to a standby that has `position`. The first read chooses it."""
        local = self._local
        with contextlib.ExitStack() as held:
            local.standby, local.wanted, local.held, local.has_written = None, position, held, False
            try:
                yield
            finally:
                local.standby = local.wanted = local.held = None

    @property
    def has_written(self) -> bool:
        """Whether this thread has written since its last `reading` started."""
        return self._local.has_written

    def take_position(self) -> int | None:
        """Returns a position that has all of this thread's writes, and keeps it for the reads of this process; None
        if the primary does not answer."""
        try:
            position = self._positions.ask()
        except (Unavailable, *DATABASE_ERRORS):
            self._written = _UNKNOWN  # the next read asks again
            return None
        self._written = position if self._written == _UNKNOWN else max(self._written, position)
        return position

    def _standby(self) -> Standby | None:
        """Returns what this thread reads from; None is the primary."""
        local = self._local
        if local.wanted is not None and local.held is not None:
            wanted, local.wanted = local.wanted, None
            if self._written == _UNKNOWN:
                self.take_position()
            local.standby = self._choose(max(wanted, self._written), local.held)
            if local.standby is None:
                local.held.enter_context(self._primary.connection())
            READS.labels(self._label, local.standby.name if local.standby else "primary").inc()
        return local.standby

    def _choose(self, wanted: int, held: contextlib.ExitStack) -> Standby | None:
        first = next(self._turn)
        for number in range(len(self._standbys)):
            standby = self._standbys[(first + number) % len(self._standbys)]
            if not standby.may_be_tried():
                continue
            with contextlib.ExitStack() as stack:
                try:
                    stack.enter_context(standby.engine.connection())
                    reason = self._reason_against(standby, wanted)
                except (Unavailable, *DATABASE_ERRORS):
                    reason = "unreachable"
                if reason is None:
                    standby.has_recovered()
                    held.enter_context(stack.pop_all())
                    return standby
                PASSED_OVER.labels(self._label, standby.name, reason).inc()
                if reason != "behind":  # one that just lacks a position is good for other reads
                    standby.rest(min(self.max_lag / 8, _PAUSE) if reason == "late" else _PAUSE)
        return None

    def _reason_against(self, standby: Standby, wanted: int) -> str | None:
        """Returns why a standby, to which this thread holds a connection, cannot be read from. Mostly what is known of
        it is enough. It is asked when it may lack the position, and before what is known is too old: that is two round
        trips for each half of `max_lag`."""
        positions = self._positions
        seen = standby.seen(positions.epoch)
        if seen is None or seen.position < wanted or standby.age(seen, positions) > self.max_lag / 2:
            if not positions.is_known_since(time.monotonic() - self.max_lag / 4):
                positions.ask()
            seen = standby.ask(positions.epoch)
        if seen is None:
            return "no standby"
        age = standby.age(seen, positions)
        LAG.labels(self._label, standby.name).set(age)
        if age > self.max_lag:
            return "late"
        return "behind" if seen.position < wanted else None

    # -- reads -------------------------------------------------------------------------------------------------------

    def _read(self, read: Callable[[Engine], T]) -> T:
        """Reads from the standby, and in case of any trouble from the primary."""
        standby = self._standby()
        if standby is None:
            return read(self._primary)
        engine = standby.engine
        if engine._in_transaction():
            return read(engine)
        connection = engine.db.connection()
        try:
            result = read(engine)
            if engine.db.connection() is connection:
                return result
            reason, text = "unreachable", "the connection was lost"
        except (Unavailable, *DATABASE_ERRORS) as error:
            failure = classify(error.__cause__ or error)
            if failure is Failure.TOO_SLOW:
                raise
            reason = "conflict" if failure is Failure.COLLISION else "unreachable"
            text = first_line(error)
        log.warning("the standby %s: %s; the primary answers instead", standby.name, text)
        self._local.standby = None
        PASSED_OVER.labels(self._label, standby.name, reason).inc()
        if reason == "unreachable":
            standby.rest(_PAUSE)
        return read(self._primary)

    def snapshot(self, work: Callable[[], T]) -> T:
        """As `Engine.snapshot`. If a standby fails, all of `work` runs again on the primary."""
        return self._read(lambda engine: engine.snapshot(work))

    def snapshot_stream(self, work: Callable[[], Iterator[T]]) -> Generator[T, None, None]:
        """As `Engine.snapshot_stream`, on the primary: what was sent to a client cannot be started again."""
        return self._stay_with_primary().snapshot_stream(work)

    def fetch(self, query: Query, values: Mapping[str, Any]) -> list[Row]:
        return self._read(lambda engine: engine.fetch(query, values))

    def first(self, query: Query, kind: type[R], /, **values: Any) -> R | None:
        return self._read(lambda engine: engine.first(query, kind, **values))

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        return self._read(lambda engine: engine.rows(sql, params))

    def stream(self, query: Query, kind: type[R], /, **values: Any) -> Generator[R, None, None]:
        standby = self._local.standby
        return (self._primary if standby is None else standby.engine).stream(query, kind, **values)

    # -- what only the primary does ----------------------------------------------------------------------------------

    def _stay_with_primary(self) -> Engine:
        self._local.standby = self._local.wanted = None
        return self._primary

    def _begin_to_write(self) -> Engine:
        """From here on, this thread reads from the primary."""
        self._local.has_written = True
        return self._stay_with_primary()

    def atomic(self, work: Callable[[], T]) -> T:
        return self._begin_to_write().atomic(work)

    def write(self, query: Query, /, **values: Any) -> int:
        return self._begin_to_write().write(query, **values)

    def execute(self, sql: str, params: Sequence[Any] = ()) -> int:
        return self._begin_to_write().execute(sql, params)

    def ping(self) -> None:
        self._primary.ping()

    @contextlib.contextmanager
    def connection(self) -> Iterator[None]:
        standby = self._standby()
        with (self._primary if standby is None else standby.engine).connection():
            yield

    def after_commit(self, action: Callable[[], None]) -> None:
        self._primary.after_commit(action)

    def dispose(self) -> None:
        for engine in (self._primary, *(standby.engine for standby in self._standbys)):
            engine.dispose()

    def close(self) -> None:
        for engine in (self._primary, *(standby.engine for standby in self._standbys)):
            engine.close()
