"""Remembers for a while what was found out about tokens: bounded, for many threads, one question a token at a time."""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass

from limes.auth.context import Identity
from limes.auth.gate import Gate
from limes.errors import LimesError, Unavailable
from limes.system import Clock

Verdict = Identity | None
"""An identity, or None for "this token is not valid"."""


def cache_key(token: str, kind: str = "") -> bytes:
    """Returns what a token is remembered by: its SHA-256, so that a dump of the memory has no tokens in it."""
    return hashlib.sha256(f"{kind}:{token}".encode()).digest()


@dataclass(frozen=True, slots=True)
class _Entry:
    verdict: Verdict
    good_until: float


class _BoundedMap:
    """The `size` most recently used entries."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: bytes) -> _Entry | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def put(self, key: bytes, entry: _Entry) -> None:
        with self._lock:
            self._entries[key] = entry
            self._entries.move_to_end(key)
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def drop(self, key: bytes) -> None:
        with self._lock:
            self._entries.pop(key, None)


class TokenCache:
    """Verdicts on tokens. Valid and invalid ones have room of their own, so that a flood of made-up tokens does not
    push out those of real users."""

    def __init__(self, clock: Clock, *, ttl: float, negative_ttl: float, size: int, gate: Gate | None = None) -> None:
        """`ttl` and `negative_ttl` are in seconds; at most `size` valid and `size` invalid tokens are remembered.

        `gate` is for all threads that have to wait: those that ask, and those that wait for another one's answer.
        """
        self._gate = gate
        self._clock = clock
        self._ttl = ttl
        self._negative_ttl = negative_ttl
        self._valid = _BoundedMap(size)
        self._invalid = _BoundedMap(size)
        self._asking: dict[bytes, Future[Verdict]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._valid) + len(self._invalid)

    def get(self, key: bytes, ask: Callable[[], Verdict]) -> Verdict:
        """Returns the remembered verdict, or the one that `ask` finds.

        Of several threads with the same key, one asks and all get its answer. What `ask` raises is not remembered.
        Raises `Unavailable` if too many wait already. A verdict is not believed beyond the ttl; whether the token has
        ended by now is for the caller to see.
        """
        entry = self._entry(key)
        if entry is not None:
            return entry.verdict
        with self._gate.admit() if self._gate else nullcontext():
            entry = self._entry(key)  # somebody may have asked while this thread waited
            return entry.verdict if entry is not None else self._ask_once(key, ask)

    def _entry(self, key: bytes) -> _Entry | None:
        now = self._clock.monotonic()
        for side in (self._valid, self._invalid):
            entry = side.get(key)
            if entry is not None:
                if now < entry.good_until:
                    return entry
                side.drop(key)
        return None

    def _ask_once(self, key: bytes, ask: Callable[[], Verdict]) -> Verdict:
        with self._lock:
            answer = self._asking.get(key)
            is_mine = answer is None
            if answer is None:
                answer = self._asking[key] = Future()
        if not is_mine:
            try:
                return answer.result()
            except LimesError as error:  # another thread's exception object: raise one of our own
                raise Unavailable(str(error)) from None
        try:
            verdict = ask()
            self._remember(key, verdict)
            answer.set_result(verdict)
            return verdict
        except BaseException as error:
            answer.set_exception(error if isinstance(error, LimesError) else Unavailable("the token was not validated"))
            raise
        finally:
            with self._lock:
                del self._asking[key]

    def _remember(self, key: bytes, verdict: Verdict) -> None:
        side, ttl = (self._invalid, self._negative_ttl) if verdict is None else (self._valid, self._ttl)
        if ttl > 0:
            side.put(key, _Entry(verdict, self._clock.monotonic() + ttl))


class RecentKeys:
    """Keys that were added in the last `ttl` seconds, the `size` last ones."""

    def __init__(self, size: int, ttl: float) -> None:
        self._entries = _BoundedMap(size)
        self._ttl = ttl

    def __contains__(self, key: bytes) -> bool:
        entry = self._entries.get(key)
        return entry is not None and time.monotonic() < entry.good_until

    def add(self, key: bytes) -> None:
        """Adds a key from its first time on, until the ttl is over."""
        if key not in self:
            self._entries.put(key, _Entry(None, time.monotonic() + self._ttl))
