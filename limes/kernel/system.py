"""The only places that read time and randomness. They come in through constructors, so that tests never patch."""

import contextlib
import gc
import random
import secrets
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Returns the present, with time zone UTC, truncated to whole microseconds."""

    def monotonic(self) -> float:
        """Returns seconds from an arbitrary start that never go back."""


class IdSource(Protocol):
    def uuid(self) -> str:
        """Returns a new UUID (version 4), lower case with dashes."""

    def token(self) -> str:
        """48 hexadecimal digits of secret randomness (24 bytes)."""


class Jitter(Protocol):
    """Spreads scheduled times, so that work does not come in waves."""

    def spread(self, seconds: float) -> float:
        """Returns a duration near `seconds`: within plus or minus 10 percent of it."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class SystemIds:
    def uuid(self) -> str:
        return str(uuid.uuid4())

    def token(self) -> str:
        return secrets.token_hex(24)


class RandomJitter:
    def spread(self, seconds: float) -> float:
        return seconds * random.uniform(0.9, 1.1)  # noqa: S311 - spreads load, guards no secret


_M_MMAP_THRESHOLD = -3
"""Of glibc's malloc.h."""


def tune_garbage_collector() -> None:
    """Makes the garbage collector run less often, and skip the program, which stays. Called once it is loaded. A list
    of a thousand projects makes some ten thousand objects and no garbage. Checking the new objects after every 700,
    which is the default, took a sixth of its time; so it did where quota of 5,000 projects is computed."""
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()


@contextlib.contextmanager
def garbage_collector_paused() -> Iterator[None]:
    """For reading much that stays: looking for garbage in it again and again takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def give_back_large_blocks() -> None:
    """Has glibc ask the system for each block of 1 MiB or more by itself, and return it at once. Called at the start.
    By itself it learns from the first large ones to keep up to 64 MiB for each thread, for ever."""
    _glibc("mallopt", _M_MMAP_THRESHOLD, 1024 * 1024)


def give_back() -> None:
    """Gives memory that is free back to the system. It takes some milliseconds, and does nothing without glibc."""
    _glibc("malloc_trim", 0)


def _glibc(function: str, *numbers: int) -> None:
    import ctypes  # rarely needed

    with contextlib.suppress(OSError, AttributeError):
        getattr(ctypes.CDLL(None), function)(*numbers)
