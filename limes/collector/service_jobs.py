"""The jobs of one service: scraping its projects and writing their quota. A backend that hangs delays no other one.

A service's backend is left alone while its circuit is open.
"""

import contextvars
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Generic, TypeVar

from limes.app.context import Limes
from limes.audit.events import of_job
from limes.backends.breaker import CircuitBreaker
from limes.collector.loop import Job, counted
from limes.collector.scrape_usage import ScrapeReport, ask, claim_scrapes, give_back, record, record_failure
from limes.kernel.errors import BackendError, BackendPaused, LimesError
from limes.kernel.metrics import OutcomeCounter
from limes.projects.scrapes import Listener
from limes.quota.push_quota import push_next

T = TypeVar("T")

_AHEAD, _LONGEST_WAIT, _FOR_MORE = 0.05, 0.1, 1 / 300
"""Parts of the lease. The last is how long a report waits for others, so that they are recorded together."""
_FOR_THE_END = 5.0
"""Seconds that the end waits for the last reports."""
log = logging.getLogger(__name__)


class ClaimQueue(Generic[T]):
    """The claimed tasks of one job. Safe to use from many threads."""

    def __init__(
        self,
        claim: Callable[[int], Sequence[T]],
        give_back: Callable[[Sequence[T]], None],
        *,
        workers: int,
        largest: int,
        lease: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`claim` claims up to the given number of tasks. The claims last for `lease` seconds."""
        self._claim, self._give_back, self._monotonic = claim, give_back, monotonic
        self._workers, self._largest, self._lease = workers, largest, lease
        self._lock = threading.Lock()
        self._waiting: deque[T] = deque()
        self._claimed_at = 0.0
        self._seconds: float | None = None
        self._closed = False

    def take(self) -> T | None:
        """Returns a claimed task, to be done at once. None if nothing is due, and after `close()`."""
        with self._lock:
            if self._waiting and self._monotonic() - self._claimed_at > self._lease * _LONGEST_WAIT:
                self._return_all()
            if not self._waiting and not self._closed:
                self._claimed_at = self._monotonic()
                self._waiting.extend(self._claim(self.size))
            return self._waiting.popleft() if self._waiting else None

    @property
    def size(self) -> int:
        """How many tasks the next claim asks for: one, until it is known how long a task takes."""
        if self._seconds is None:
            return 1
        soon = self._lease * _AHEAD * self._workers / max(self._seconds, 1e-6)
        return max(1, min(self._largest, int(soon)))

    @contextmanager
    def measure_task(self) -> Iterator[None]:
        """Measures how long a task takes: the block does one."""
        started = self._monotonic()
        try:
            yield
        finally:
            took = self._monotonic() - started
            with self._lock:
                self._seconds = took if self._seconds is None else 0.8 * self._seconds + 0.2 * took

    def give_back(self) -> None:
        with self._lock:
            self._return_all()

    def close(self) -> None:
        """Gives back all tasks that wait, and claims no more."""
        with self._lock:
            self._closed = True
            self._return_all()

    def _return_all(self) -> None:
        waiting, self._waiting = list(self._waiting), deque()
        if waiting:
            self._give_back(waiting)


class Recorder(Generic[T]):
    """Records what workers bring, several at once, in a thread of its own: so a call that hangs keeps nothing waiting
    that others have brought. Safe to use from many threads."""

    def __init__(self, name: str, record: Callable[[Sequence[T]], None], *, largest: int, pause: float) -> None:
        """`record` gets at most `largest` of them, which have waited for others for `pause` seconds at most. The name
        is for logs."""
        self._name, self._record, self._largest, self._pause = name, record, largest, pause
        self._changed = threading.Condition()
        self._waiting: list[T] = []
        self._is_running = self._is_urgent = False

    def add(self, item: T) -> None:
        """Waits while there is no room for more."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < self._largest)
            self._waiting.append(item)
            if not self._is_running:
                run = contextvars.copy_context().run  # the id of the job is in each line of the log
                threading.Thread(target=run, args=(self._work,), name=self._name, daemon=True).start()
                self._is_running = True
            elif len(self._waiting) == self._largest:
                self._changed.notify_all()

    def flush(self, timeout: float | None = None) -> None:
        """Returns when nothing waits any more, or after so many seconds."""
        with self._changed:
            self._is_urgent = self._is_running
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._is_running, timeout)

    def _work(self) -> None:
        while some := self._take():
            try:
                self._record(some)
            except LimesError as error:
                log.error("%s: %s", self._name, error)
            except Exception:
                log.exception("%s failed", self._name)

    def _take(self) -> list[T]:
        with self._changed:
            if self._waiting:
                self._changed.wait_for(lambda: self._is_urgent or len(self._waiting) == self._largest, self._pause)
            some, self._waiting = self._waiting, []
            self._is_running = bool(some)
            self._is_urgent = self._is_urgent and self._is_running
            self._changed.notify_all()
            return some


def scrape_job(
    limes: Limes,
    service: tuple[str, str],
    listeners: Sequence[Listener],
    scrapes: OutcomeCounter,
    breaker: CircuitBreaker,
    workers: int = 1,
) -> Job:
    """Scrapes the projects of a service, which is given as its type and the name of its plugin."""
    name = f"scrape-usage:{service[0]}"
    limes, batch = limes.as_initiator(of_job(name)), limes.settings.collector.batch
    claim = partial(claim_scrapes, limes, service[0])
    queue = ClaimQueue(claim, partial(give_back, limes), workers=workers, largest=batch, lease=limes.lease)

    def store(reports: Sequence[ScrapeReport]) -> None:
        record(limes, reports, listeners)
        scrapes.count(True, *service, number=len(reports))

    recorder = Recorder(name, store, largest=batch, pause=limes.lease * _FOR_MORE)

    def step() -> bool:
        if not breaker.ready():
            queue.give_back()
            recorder.flush()
            return False
        task = queue.take()
        if task is None:
            recorder.flush()
            return False
        try:
            with queue.measure_task():
                report = ask(limes, task)
        except BackendPaused:
            give_back(limes, [task])
        except BackendError as error:
            record_failure(limes, task, error)
            scrapes.count(False, *service)
        else:
            recorder.add(report)
        return True

    def close() -> None:
        recorder.flush(_FOR_THE_END)
        queue.close()

    return Job(name, step, workers, close)


def push_job(
    limes: Limes, service: tuple[str, str], pushes: OutcomeCounter, breaker: CircuitBreaker, workers: int = 1
) -> Job:

    def push() -> bool | None:
        return push_next(limes, service[0]) if breaker.ready() else None

    return Job(f"push-quota:{service[0]}", counted(push, lambda success: pushes.count(success, *service)), workers)
