"""What one request (or one list) says of all projects at once, kept for a moment.

A round through thousands of projects then costs requests in proportion to the pages of the list. A scrape that comes
within `max_age` seconds after the list was asked for takes its part of it; the figures are no older than that.
"""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Snapshot(Generic[T]):
    """Safe to use from many threads: one of them loads, the others wait for what it gets."""

    def __init__(self, load: Callable[[], T], max_age: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`max_age` in seconds; with 0 each call loads again."""
        self._load = load
        self._max_age = max_age
        self._clock = clock
        self._lock = threading.Lock()
        self._loaded: tuple[float, T] | None = None

    def get(self, at_most: float | None = None) -> T:
        """Returns what was loaded not more than `max_age` seconds ago, or `at_most` seconds if that is less.

        Errors of `load` go to the caller, and are not kept.
        """
        max_age = self._max_age if at_most is None else min(self._max_age, at_most)
        if max_age <= 0:
            return self._load()
        with self._lock:
            started = self._clock()
            if self._loaded is None or started - self._loaded[0] > max_age:
                self._loaded = None
                self._loaded = (started, self._load())
            return self._loaded[1]
