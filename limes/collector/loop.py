"""Finds a task, does it and records the outcome until nothing is due, with as many workers as there is work for.

Each collector compares claims and due times with its own clock, so a machine whose clock is ahead would take tasks
away from those who work on them. The database's clock decides: a collector that disagrees with it does nothing until
they agree, and its tasks under way go by the time at the last comparison (`ClockWatch`). If the database's clock is
wrong, or all of them are, nothing is lost either: a late outcome is dropped, and a due time that lies too far ahead
counts as due (`limes.projects.tasks`).
"""

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from msgspec import Struct

from limes.db.advice import ahead_of_database
from limes.db.engine import Engine
from limes.kernel import errors, logs

log = logging.getLogger(__name__)

OutcomeT = TypeVar("OutcomeT")


class Job(Struct, frozen=True):
    """A kind of task. Several threads run its steps at once."""

    name: str
    """For logs."""
    step: Callable[[], bool]
    """Does one task if one is due, and counts how it went. Returns whether there was one."""
    workers: int = 1
    """How many of its tasks one collector may work on at the same time."""
    close: Callable[[], None] = lambda: None
    """Gives back what was claimed and not started. No step follows."""


def counted(run: Callable[[], OutcomeT | None], count: Callable[[OutcomeT], object]) -> Callable[[], bool]:
    """Returns a step that does what is due, and counts how it went. `run` returns None if nothing was due."""

    def step() -> bool:
        outcome = run()
        if outcome is None:
            return False
        count(outcome)
        return True

    return step


class Loop:
    """Works through one job: one worker looks for tasks, and each task that it finds makes room for one more worker.
    Workers are daemon threads, so a backend that hangs cannot keep the process from ending. Another collector claims
    what they leave unfinished when its lease is over."""

    def __init__(
        self,
        job: Job,
        done: Callable[[str, float], None] = lambda name, seconds: None,
        may_work: Callable[[], bool] = lambda: True,
    ) -> None:
        """After each task, `done` gets the job's name and the task's duration in seconds. `may_work` is
        asked before each."""
        self.job, self._done, self._may_work = job, done, may_work
        self._stopping, self._abandoned = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._workers: set[threading.Thread] = set()
        self._idle = threading.Condition(self._lock)

    def drain(self) -> None:
        """Returns when nothing is due any more, or after `abandon()`."""
        self._start_worker()
        with self._idle:
            self._idle.wait_for(lambda: not self._workers or self._abandoned.is_set())

    def stop(self) -> None:
        """No new tasks are started from now on."""
        self._stopping.set()

    def wait(self, timeout: float) -> bool:
        """Waits for tasks that have started, for `timeout` seconds at most. Returns whether all have ended."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._workers, timeout)

    def abandon(self) -> None:
        """Stops waiting for tasks that have started."""
        self._stopping.set()
        self._abandoned.set()
        with self._idle:
            self._idle.notify_all()

    def _start_worker(self) -> None:
        with self._lock:
            if self._stopping.is_set() or len(self._workers) >= self.job.workers:
                return
            worker = threading.Thread(target=self._work, name=self.job.name, daemon=True)
            self._workers.add(worker)
        worker.start()

    def _work(self) -> None:
        logs.request_id.set(f"job-{self.job.name}")
        try:
            while not self._stopping.is_set() and self._may_work():
                started = time.monotonic()
                if not self.job.step():
                    break
                self._done(self.job.name, time.monotonic() - started)
                self._start_worker()
        except errors.LimesError as error:
            log.error("%s: %s", self.job.name, error)
        except Exception:
            log.exception("%s failed", self.job.name)
        finally:
            with self._idle:
                self._workers.discard(threading.current_thread())
                self._idle.notify_all()


class ClockWatch:
    """The clock of a collector, which it compares with the database's; on SQLite both are this machine's. A jump of
    this machine's clock does not move it: a claim that came just after would take what others work on for overdue.
    Safe to use from many threads."""

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
        self._engine, self._tolerance, self._every = engine, tolerance, every
        self._wall, self.monotonic = wall, monotonic
        self._lock = threading.Lock()
        self._compared_at, self._agrees = float("-inf"), True
        self._offset = self._steady = wall() - monotonic()

    def now(self) -> datetime:
        """Returns the present by the last comparison and the time that has passed since."""
        if self._engine.dialect == "postgresql":
            return datetime.fromtimestamp(self.monotonic() + self._steady, UTC)
        return datetime.fromtimestamp(self._wall(), UTC)

    def agrees(self) -> bool:
        """Returns whether the clocks agreed at the last comparison. A database that does not answer changes nothing."""
        with self._lock:
            # a jump is seen at once, without asking anybody
            jumped = abs(self._wall() - self.monotonic() - self._offset) > self._tolerance
            is_due = jumped or self.monotonic() - self._compared_at >= self._every
            if is_due and self._engine.dialect == "postgresql":
                self._compare()
            return self._agrees

    def _compare(self) -> None:
        offset = self._wall() - self.monotonic()  # a jump from now on is for the next comparison
        try:
            ahead = ahead_of_database(self._engine, lambda: self.monotonic() + offset)
        except errors.Unavailable:
            return
        agrees = abs(ahead) <= self._tolerance
        if self._agrees and not agrees:
            text = "this machine's clock is %.0f s %s of the database's: no task is started until they agree"
            log.error(text, abs(ahead), "ahead" if ahead > 0 else "behind")
        elif agrees and not self._agrees:
            log.warning("this machine's clock and the database's agree again")
        self._compared_at = self.monotonic()
        self._offset, self._steady, self._agrees = offset, offset if agrees else offset - ahead, agrees


def watch_for_jumps(on_jump: Callable[[], None], every: float, stopped: threading.Event) -> None:
    """Calls `on_jump` when this machine's clock has jumped, which it checks each `every` seconds until stopped."""
    offset = time.time() - time.monotonic()
    while not stopped.wait(every):
        now = time.time() - time.monotonic()
        if abs(now - offset) > 1:
            log.warning("this machine's clock has jumped by %+.0f s", now - offset)
            on_jump()
        offset = now
