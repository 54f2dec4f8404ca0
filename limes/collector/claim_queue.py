"""Tasks that were claimed together, for the workers of one job to take one by one.

Claiming fifty tasks costs the database hardly more than claiming one. But nobody else does the tasks that wait here,
and if this process dies they are late by a lease. So it never claims more than the workers begin soon: what they do in
a twentieth of the lease at their recent pace. A task that has waited for a tenth of the lease is given back. Plugins
have eight tenths for their answer, which leaves enough time to record it.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

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
        self._claim = claim
        self._give_back = give_back
        self._workers = workers
        self._largest = largest
        self._lease = lease
        self._monotonic = monotonic
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
