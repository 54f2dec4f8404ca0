"""What the collector does about wrong clocks.

Each collector compares claims and due times with its own clock, so a machine whose clock is ahead would take tasks
away from those who work on them. The database's clock decides: a collector that disagrees with it does nothing until
they agree. If the database's clock is wrong, or all of them are, nothing is lost either: a late outcome is dropped, and
a due time that lies too far ahead counts as due (`limes.db.queries.tasks`).
"""

import logging
import threading
import time
from collections.abc import Callable

from limes.db.advice import ahead_of_database
from limes.db.engine import Engine
from limes.errors import Unavailable

log = logging.getLogger(__name__)


class ClockWatch:
    """Compares this machine's clock with the database's; on SQLite it is the same. Safe to use from many threads."""

    def __init__(
        self,
        engine: Engine,
        tolerance: float,
        *,
        every: float = 3.0,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Compares at most once in `every` seconds. Up to `tolerance` seconds of difference do not count."""
        self._engine = engine
        self._tolerance = tolerance
        self._every = every
        self._wall = wall
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._compared_at = float("-inf")
        self._offset = wall() - monotonic()
        self._agrees = True

    def agrees(self) -> bool:
        """Returns whether the clocks agreed at the last comparison. A database that does not answer changes nothing."""
        with self._lock:
            # a jump is seen at once, without asking anybody
            jumped = abs(self._wall() - self._monotonic() - self._offset) > self._tolerance
            if self._engine.dialect == "postgresql" and (
                jumped or self._monotonic() - self._compared_at >= self._every
            ):
                self._compare()
            return self._agrees

    def _compare(self) -> None:
        try:
            ahead = ahead_of_database(self._engine, self._wall)
        except Unavailable:
            return
        self._compared_at = self._monotonic()
        self._offset = self._wall() - self._monotonic()
        agrees = abs(ahead) <= self._tolerance
        if self._agrees and not agrees:
            text = "this machine's clock is %.0f s %s of the database's: nothing is begun until they agree"
            log.error(text, abs(ahead), "ahead" if ahead > 0 else "behind")
        elif agrees and not self._agrees:
            log.warning("this machine's clock and the database's agree again")
        self._agrees = agrees


class JumpAlarm:
    """Calls `on_jump` when this machine's clock has jumped. Runs a thread between `start()` and `stop()`."""

    def __init__(self, on_jump: Callable[[], None], every: float) -> None:
        """Checks the clock each `every` seconds."""
        self._on_jump = on_jump
        self._every = every
        self._stopped = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="clock", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        offset = time.time() - time.monotonic()
        while not self._stopped.wait(self._every):
            now = time.time() - time.monotonic()
            if abs(now - offset) > 1:
                log.warning("this machine's clock has jumped by %+.0f s", now - offset)
                self._on_jump()
            offset = now
