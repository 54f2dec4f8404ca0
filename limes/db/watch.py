"""Notices a PostgreSQL that hangs: it takes connections and statements, and answers nothing (docs/adr/0040).

PostgreSQL's own time limits do not help then, nor do those of TCP, as the kernel of a stopped server still confirms
what it receives. So each connection notes when its statement started, which costs less than a microsecond, and a
thread looks at these times. If there was no answer for a while, it asks the server itself. If this gets no answer
either, all connections are cut, all waiting calls fail, and none connects until the server answers again.
"""

import contextlib
import logging
import os
import select
import socket
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Any

import psycopg2
import psycopg2.extensions
from msgspec import Struct

log = logging.getLogger(__name__)

_PAUSE = 1.0
"""Seconds between two questions, at least."""


class Patience(Struct, frozen=True):
    """How many seconds to wait for a server without any answer until it is asked whether it is there, and then."""

    silence: float
    question: float


WITH_PRIMARY = Patience(silence=2.0, question=3.0)
WITH_STANDBY = Patience(silence=0.25, question=0.6)
"""The primary answers instead, within a second."""


class HangingServer(psycopg2.OperationalError):
    """The server answers nothing, so no call waits for it."""


class WatchedConnection(psycopg2.extensions.connection):
    busy_since: float | None = None
    answered_at = 0.0
    is_unlimited = False
    """Whether its statements may take any time, as long as the server is there."""
    given_back_at = float("-inf")
    """When the pool got it back."""
    refuses_prepared = False
    """Whether what was prepared on it was not there any more, or not as it was."""
    prepared: set[str] | None = None
    """Names of statements that were prepared on it; None as long as none was to be."""
    _socket: int | None = None
    _input: "select.poll | None" = None

    def has_input(self) -> bool:
        """Whether there is something to read, as when the server has closed it."""
        if self._input is None:
            self._input = select.poll()
            self._input.register(self.fileno(), select.POLLIN)
        return bool(self._input.poll(0))

    def watch(self) -> None:
        """Makes `cut` work, from any thread: the socket's second number is ours alone, so it is never another's."""
        self._socket = os.dup(self.fileno())
        self._release = weakref.finalize(self, os.close, self._socket)

    def close(self) -> None:
        super().close()
        if self._socket is not None:
            self._release()

    def cut(self) -> None:
        """Ends it under the hands of a thread that waits for an answer. That thread has an `OperationalError`."""
        if self._socket is None or not self._release.alive:
            return
        with socket.socket(fileno=os.dup(self._socket)) as end:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                log.debug("a connection was closed meanwhile")

    def peer(self) -> dict[str, Any]:
        """Returns libpq's parameters for the server that it leads to, whatever names that server has."""
        assert self._socket is not None
        with socket.socket(fileno=os.dup(self._socket)) as end:
            name = end.getpeername() if end.family in (socket.AF_INET, socket.AF_INET6) else None
        return {"host": self.info.host, "port": self.info.port} | ({"hostaddr": name[0]} if name else {})


@contextlib.contextmanager
def unlimited(connection: Any) -> Iterator[None]:
    """Within the block, statements take any time as far as we are concerned. `statement_timeout` is another matter."""
    connection.is_unlimited = True
    try:
        yield
    finally:
        connection.is_unlimited = False


class WatchedCursor(psycopg2.extensions.cursor):
    """Notes for its connection when a statement begins and ends."""

    connection: WatchedConnection

    def execute(self, query: Any, vars: Any = None) -> None:
        connection = self.connection
        connection.busy_since = time.monotonic()
        try:
            super().execute(query, vars)
            connection.answered_at = time.monotonic()
        finally:
            connection.busy_since = None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """As psycopg2's. A cursor with a name asks the server for the rows."""
        connection = self.connection
        connection.busy_since = time.monotonic()
        try:
            return super().fetchmany(size) if size else super().fetchmany()
        finally:
            connection.busy_since = None


class Answer(Enum):
    GIVEN = auto()
    REFUSED = auto()
    """The server refuses, or there is none; both are known at once."""
    NONE = auto()


class Watch:
    """Watches all connections of a pool, in a thread of its own that ends with the last connection."""

    def __init__(self, location: str, patience: Patience, limit: float | None, parameters: Mapping[str, Any]) -> None:
        """No statement may take longer than `limit` seconds, even if the server is there. `location` is for messages,
        and `parameters` are libpq's for new connections."""
        self.hangs = False
        """Whether connections should not be tried now."""
        self.order: Mapping[str, str] = {}
        """libpq's parameters `host` and `port`, if a server has to be tried before the ones listed before it."""
        self._location = location
        self._patience = patience
        self._limit = limit
        self._parameters = parameters
        self._connections: weakref.WeakSet[WatchedConnection] = weakref.WeakSet()
        self._asked_at = float("-inf")
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, connection: WatchedConnection) -> None:
        connection.watch()
        with self._lock:
            self._connections.add(connection)
        self._start()

    def give_up(self) -> None:
        """Stops all attempts to connect, as a connection was not made in time."""
        self.hangs = True
        self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=_look_again_and_again, args=[weakref.ref(self)], name="database-watch", daemon=True
                )
                self._thread.start()

    # -- in the thread -----------------------------------------------------------------------------------------------

    def look(self) -> float | None:
        """Does what is to be done, and returns the seconds until the next time; None if there is nothing to watch."""
        with self._lock:
            connections = [one for one in self._connections if not one.closed]
            if not connections and not self.hangs:
                self._thread = None
                return None
        if self.hangs:
            self._look_for_answer()
            return _PAUSE
        now = time.monotonic()
        self._look_for_silence(connections, now)
        for one in connections:
            if self._limit and not one.is_unlimited and now - (one.busy_since or now) > self._limit:
                log.error("%s: a statement has no answer after %g s and is given up", self._location, self._limit)
                one.cut()
        return self._patience.silence / 2

    def _look_for_silence(self, connections: Sequence[WatchedConnection], now: float) -> None:
        waiting = [one for one in connections if now - (one.busy_since or now) > self._patience.silence]
        is_silent = now - max((one.answered_at for one in connections), default=now) > self._patience.silence
        if not waiting or not is_silent or now - self._asked_at < max(_PAUSE, self._patience.silence):
            return
        self._asked_at = now
        try:
            server = waiting[0].peer()
        except (OSError, psycopg2.Error):
            return  # it has ended just now
        answer = ask({**self._parameters, "target_session_attrs": "any", **server}, self._patience.question)
        if answer is Answer.NONE and all(one.answered_at < now for one in connections):
            log.error("%s: the server hangs; it is not used until it answers again", self._location)
            self.hangs = True
            with self._lock:
                connections = list(self._connections)
            for one in connections:
                one.cut()

    def _look_for_answer(self) -> None:
        """Asks all servers that the pool may connect to."""
        hosts, ports = (str(self._parameters.get(name, "")).split(",") for name in ("host", "port"))
        ports *= len(hosts) if len(ports) == 1 else 1
        answers = []
        for number, (host, port) in enumerate(zip(hosts, ports, strict=False)):
            server = {"host": host, "port": port} if len(hosts) > 1 else {}
            answers.append(ask({**self._parameters, **server}, self._patience.question))
            if answers[-1] is Answer.GIVEN:
                after = slice(number, None), slice(None, number)
                self.order = {
                    name: ",".join(part for one in after for part in parts[one])
                    for name, parts in (("host", hosts), ("port", ports))
                    if server
                }
                break
        if answers[-1] is Answer.GIVEN or Answer.NONE not in answers:
            self.hangs = False
            log.info("%s: a server answers again", self._location)


def _look_again_and_again(reference: "weakref.ref[Watch]") -> None:
    while (watch := reference()) is not None and (pause := watch.look()) is not None:
        del watch
        time.sleep(pause)


def ask(parameters: Mapping[str, Any], seconds: float) -> Answer:
    deadline = time.monotonic() + seconds
    try:
        connection: Any = psycopg2.connect(**parameters, async_=1)
        try:
            if not _is_ready(connection, deadline):
                return Answer.NONE
            cursor = connection.cursor()
            # SQL text: peewee knows no asynchronous connections
            cursor.execute("SELECT 1")
            return Answer.GIVEN if _is_ready(connection, deadline) else Answer.NONE
        finally:
            connection.close()
    except psycopg2.Error:
        return Answer.REFUSED


def _is_ready(connection: Any, deadline: float) -> bool:
    """Waits for the running statement of an asynchronous connection. Raises psycopg2's errors."""
    while (state := connection.poll()) != psycopg2.extensions.POLL_OK:
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN if state == psycopg2.extensions.POLL_READ else select.POLLOUT)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return False
    return True
