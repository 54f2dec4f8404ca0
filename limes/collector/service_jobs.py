"""The jobs of one service: scraping its projects and writing their quota. A backend that hangs delays no other one.

A service's backend is left alone while its circuit is open.
"""

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
from limes.kernel.errors import BackendError, BackendPaused
from limes.kernel.metrics import OutcomeCounter
from limes.projects.scrapes import Listener
from limes.quota.push_quota import push_next

T = TypeVar("T")

_AHEAD, _LONGEST_WAIT = 0.05, 0.1
"""Parts of the lease."""


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
    """Records what workers bring, several at once: whoever brings something while nobody records does so, with what
    comes meanwhile. Safe to use from many threads."""

    def __init__(self, record: Callable[[Sequence[T]], None], largest: int) -> None:
        """`record` gets up to `largest` of them. If so many wait, another worker records as well."""
        self._record, self._largest = record, largest
        self._lock = threading.Lock()
        self._waiting: deque[T] = deque()
        self._recorders = 0

    def add(self, item: T) -> None:
        """Returns at once if another worker is going to record it. Raises what `record` has raised."""
        with self._lock:
            self._waiting.append(item)
            if self._recorders and len(self._waiting) < self._largest:
                return
            self._recorders += 1
        errors = []
        while some := self._take():
            try:
                self._record(some)
            except Exception as error:  # what still waits is recorded all the same
                errors.append(error)
        if errors:
            raise errors[0] if len(errors) == 1 else ExceptionGroup("several groups were not recorded", errors)

    def _take(self) -> list[T]:
        with self._lock:
            some = [self._waiting.popleft() for _ in range(min(self._largest, len(self._waiting)))]
            if not some:
                self._recorders -= 1
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

    recorder = Recorder(store, batch)

    def step() -> bool:
        if not breaker.ready():
            queue.give_back()
            return False
        task = queue.take()
        if task is None:
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

    return Job(name, step, workers, queue.close)


def push_job(
    limes: Limes, service: tuple[str, str], pushes: OutcomeCounter, breaker: CircuitBreaker, workers: int = 1
) -> Job:

    def push() -> bool | None:
        return push_next(limes, service[0]) if breaker.ready() else None

    return Job(f"push-quota:{service[0]}", counted(push, lambda success: pushes.count(success, *service)), workers)
