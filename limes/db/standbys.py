"""How far standbys are: which writes they have, and how old what they show can be.

Positions are those of PostgreSQL's write-ahead log (LSNs), as whole numbers. A standby that has replayed a position has
every transaction that was committed before it. Clocks of different machines are never compared: the primary is asked
for its position now and then, and a standby that has replayed the answer shows a state that is no older than the
question. An idle primary stays at its position, so a standby does not seem to fall behind while nothing happens; and a
standby that is cut off does, because it does not reach the next answers.
"""

import threading
import time
import weakref
from typing import Any, NamedTuple

import peewee
from peewee import fn

from limes.db.engine import Engine
from limes.db.query import Node, first

_KEPT = 32
_STARTED = fn.pg_postmaster_start_time().cast("text")
"""Tells apart what a server was before and after a restart, which may have rewound it."""


class _Position(NamedTuple):
    position: int
    server: str


class _Replayed(NamedTuple):
    is_standby: bool
    position: int | None
    server: str


def _number(position: Node) -> Node:
    number: Node = fn.pg_wal_lsn_diff(position, "0/0")
    return number


@first(_Position)
def _written() -> Node:
    return peewee.Select(columns=[_number(fn.pg_current_wal_insert_lsn()), _STARTED])


@first(_Replayed)
def _replayed() -> Node:
    return peewee.Select(columns=[fn.pg_is_in_recovery(), _number(fn.pg_last_wal_replay_lsn()), _STARTED])


class PrimaryPositions:
    """What the primary's position was at which time. Safe to use from many threads."""

    def __init__(self, engine: Engine, every: float) -> None:
        """Keeps at most one position for each `every` seconds."""
        self._engine = engine
        self._every = every
        self._known: tuple[tuple[float, int], ...] = ()
        self._server = ""
        self._lock = threading.Lock()
        self.epoch = 0
        """Grows when another server becomes the primary, or when the primary restarts."""

    def ask(self) -> int:
        """Returns the present position: that of everything committed so far. Raises `Unavailable`."""
        asked_at = time.monotonic()
        answer = _written(self._engine)
        assert answer is not None
        with self._lock:
            if answer.server != self._server:
                self.epoch += bool(self._server)
                self._server, self._known = answer.server, ()
            if not self._known or asked_at - self._known[-1][0] >= self._every:
                self._known = (*self._known[1 - _KEPT :], (asked_at, answer.position))
        return answer.position

    def is_known_since(self, time_: float) -> bool:
        return bool(self._known) and self._known[-1][0] >= time_

    def time_of(self, position: int, after: int) -> float:
        """Returns when the primary was last asked and had not passed `position` yet, but had passed `after`."""
        times = (asked_at for asked_at, known in reversed(self._known) if after < known <= position)
        return next(times, float("-inf"))


class Seen(NamedTuple):
    """What a standby had replayed when it was asked. It never has less, unless it is restarted."""

    position: int
    server: str
    epoch: int
    """That of the primary. After a fail-over, a standby may have positions of the lost primary."""


class Standby:
    """One server that can be read from, as this process knows it. Safe to use from many threads."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine = engine
        self.name = name
        """Its host and port, for metrics and messages."""
        self._seen: Seen | None = None
        self._servers: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._after = -1
        self._epoch = 0
        self._lock = threading.Lock()
        self._rest_seconds = 0.0
        self._rests_until = 0.0

    def seen(self, epoch: int) -> Seen | None:
        """Returns what it is known to have, at least. This thread must hold a connection."""
        if self.engine.behind_pooler:  # on the same connection, the server may be another one now, or rewound
            return None
        seen = self._seen
        if seen is None or seen.epoch != epoch or self._servers.get(self.engine.db.connection()) != seen.server:
            return None
        return seen

    def ask(self, epoch: int) -> Seen | None:
        """Asks how far it is; None if it is no standby. This thread must hold a connection. Raises `Unavailable`."""
        answer = _replayed(self.engine)
        if answer is None or not answer.is_standby or answer.position is None:
            return None
        if epoch != self._epoch:  # it may have more of the lost primary than the new one has: it has to move first
            self._epoch, self._after = epoch, answer.position
        self._servers[self.engine.db.connection()] = answer.server
        self._seen = Seen(answer.position, answer.server, epoch)
        return self._seen

    def age(self, seen: Seen, positions: PrimaryPositions) -> float:
        return time.monotonic() - positions.time_of(seen.position, self._after)

    def rest(self, seconds: float) -> None:
        """Not tried for this long, and then by one thread at a time, until `has_recovered`."""
        with self._lock:
            self._rest_seconds = seconds
            self._rests_until = time.monotonic() + seconds

    def may_be_tried(self) -> bool:
        if not self._rest_seconds:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._rests_until:
                return False
            self._rests_until = now + self._rest_seconds
            return True

    def has_recovered(self) -> None:
        """Everybody may use it."""
        self._rest_seconds = 0.0
