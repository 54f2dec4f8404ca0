"""Tasks that were claimed in one go, for the workers of one job to take one by one.

A claim of fifty tasks costs the database hardly more than that of one. But what is claimed and waits here is done by
nobody else, and is delayed by a lease if this process dies. So there are never more claimed than are soon begun: as
many as the workers do in a twentieth of the lease, at the pace of late; one that has waited for a tenth is given back.
The plugins have eight tenths for their answer, so that the rest is enough to record it.
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
        """`claim` claims up to so many tasks; `lease` is how long they belong to us, in seconds."""
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
        """A claimed task, to be done now; None if nothing is due, or after `close()`."""
        with self._lock:
            if self._waiting and self._monotonic() - self._claimed_at > self._lease * _LONGEST_WAIT:
                self._return_all()
            if not self._waiting and not self._closed:
                self._claimed_at = self._monotonic()
                self._waiting.extend(self._claim(self.size))
            return self._waiting.popleft() if self._waiting else None

    @property
    def size(self) -> int:
        """How many tasks the next claim is for: one, until it is known how long a task takes."""
        if self._seconds is None:
            return 1
        soon = self._lease * _AHEAD * self._workers / max(self._seconds, 1e-6)
        return max(1, min(self._largest, int(soon)))

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Learns from the block how long a task takes."""
        started = self._monotonic()
        try:
            yield
        finally:
            took = self._monotonic() - started
            with self._lock:
                self._seconds = took if self._seconds is None else 0.8 * self._seconds + 0.2 * took

    def give_back(self) -> None:
        """Ends the claims of all tasks that wait."""
        with self._lock:
            self._return_all()

    def close(self) -> None:
        """The same, and claims nothing any more."""
        with self._lock:
            self._closed = True
            self._return_all()

    def _return_all(self) -> None:
        waiting, self._waiting = list(self._waiting), deque()
        if waiting:
            self._give_back(waiting)
