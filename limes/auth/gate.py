"""Bounds how many threads wait for Keystone, so that the others go on answering those whose tokens are known.

A process has one gate for all that waits there: a bound for each kind would let several kinds take all threads.
"""

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from limes.errors import Unavailable

_PATIENCE = 0.25
"""Seconds. A Keystone in good health has answered by then, so nobody is refused in a short rush."""


class Gate:
    """Lets `at_once` threads through, or any number. Others wait while all of these have just begun, and are refused
    otherwise."""

    def __init__(self, at_once: int | None = None, patience: float = _PATIENCE) -> None:
        """`patience` is in seconds."""
        self._at_once = at_once
        self._patience = patience
        self._numbers = itertools.count()
        self._begun: dict[int, float] = {}
        """When each of those inside has begun, the oldest first."""
        self._changed = threading.Condition()

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Holds a place for a question to Keystone. Raises `Unavailable` if there is none in time."""
        with self._changed:
            number = self._enter()
        try:
            yield
        finally:
            with self._changed:
                del self._begun[number]
                self._changed.notify()

    def _enter(self) -> int:
        give_up = time.monotonic() + self._patience
        while self._at_once is not None and len(self._begun) >= self._at_once:
            oldest = next(iter(self._begun.values()))
            remaining = min(give_up, oldest + self._patience) - time.monotonic()
            if remaining <= 0:
                raise Unavailable("Keystone is slow, and too many requests wait for it; try again later")
            self._changed.wait(remaining)
        number = next(self._numbers)
        self._begun[number] = time.monotonic()
        return number
