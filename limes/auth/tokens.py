"""What is known of tokens while many threads ask: verdicts, for a while, and revoked tokens."""

import contextlib
import hashlib
import itertools
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from limes.auth.context import Authenticator, Identity
from limes.kernel.errors import LimesError, Unauthorized, Unavailable
from limes.kernel.system import Clock

_PATIENCE = 0.25
"""Seconds. A healthy Keystone has answered by then, so no request is refused in a short rush."""


class Gate:
    """Bounds how many threads wait for Keystone, so that the others go on answering those whose tokens are known: lets
    `at_once` through, or any number. Others wait while all of these have just started, and are refused otherwise. A
    process has one gate for all that waits there: a bound for each kind would let several kinds take all threads."""

    def __init__(self, at_once: int | None = None, patience: float = _PATIENCE) -> None:
        self._at_once = at_once
        self._patience = patience
        self._numbers = itertools.count()
        self._begun: dict[int, float] = {}
        """When each of those inside has started, the oldest first."""
        self._changed = threading.Condition()

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Holds a place for a question to Keystone. Raises `Unavailable` if there is none in time."""
        give_up = time.monotonic() + self._patience
        with self._changed:
            while self._at_once is not None and len(self._begun) >= self._at_once:
                oldest = next(iter(self._begun.values()))
                remaining = min(give_up, oldest + self._patience) - time.monotonic()
                if remaining <= 0:
                    raise Unavailable("Keystone is slow, and too many requests wait for it; try again later")
                self._changed.wait(remaining)
            number = next(self._numbers)
            self._begun[number] = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                del self._begun[number]
                self._changed.notify()


Verdict = Identity | None
"""An identity, or None for "this token is not valid"."""


def cache_key(token: str, kind: str = "") -> bytes:
    """Returns what a token is remembered by: its SHA-256, so that a dump of the memory has no tokens in it."""
    return hashlib.sha256(f"{kind}:{token}".encode()).digest()


class _Entry(NamedTuple):
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
        `gate` is for all threads that have to wait: for Keystone, or for the answer to another thread's question."""
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
        """Returns the remembered verdict, or the one that `ask` finds. Of several threads with the same key, one asks
        and all get its answer. What `ask` raises is not remembered. Raises `Unavailable` if too many wait already. A
        verdict is not believed beyond the ttl; whether the token has ended by now is for the caller to see."""
        entry = self._entry(key)
        if entry is not None:
            return entry.verdict
        with self._gate.admit() if self._gate else nullcontext():
            entry = self._entry(key)  # another thread may have asked while this one waited
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
            side, ttl = (self._invalid, self._negative_ttl) if verdict is None else (self._valid, self._ttl)
            if ttl > 0:
                side.put(key, _Entry(verdict, self._clock.monotonic() + ttl))
            answer.set_result(verdict)
            return verdict
        except BaseException as error:
            answer.set_exception(error if isinstance(error, LimesError) else Unavailable("the token was not validated"))
            raise
        finally:
            with self._lock:
                del self._asking[key]


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


# -- tokens that were ended by signing out -----------------------------------------------------------------------------
# They are refused at once, although others have them in their caches. Keystone forgets a revoked token, but each
# worker goes on trusting its earlier verdict, for `identity.cache.ttl`. So the workers share a folder, with a file
# for each stretch of that length: a sign-out appends the token's hash, and a process that validates a token
# looks whether a file has grown. After two stretches no cache can have the token any more, and the file goes.

_HASH = 32
_MOST = 100_000
"""Hashes in a file. Only tokens that are good get there, so it takes a very busy dashboard to reach this."""


class RevokedTokens:
    """Shared by all processes with the same folder. Without a folder, only this process knows them."""

    def __init__(self, clock: Clock, ttl: float, folder: Path | None) -> None:
        """`ttl` is how long caches believe in a token, in seconds."""
        self._clock = clock
        self._stretch = max(60.0, ttl)
        self._folder = folder
        self._hashes: dict[int, set[bytes]] = {}
        self._read: dict[int, int] = {}
        """Bytes that were read of each file."""
        self._lock = threading.Lock()

    def add(self, token: str) -> None:
        now, key = self._now(), cache_key(token)
        with self._lock:
            self._hashes.setdefault(now, set()).add(key)
            self._forget(now - 1)
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._path(now)
            with path.open("ab", buffering=0) as file:
                os.fchmod(file.fileno(), 0o600)
                if file.tell() < _MOST * _HASH:
                    file.write(key)  # appending a few bytes in one write is atomic
            for old in range(now - 10, now - 1):
                self._path(old).unlink(missing_ok=True)

    def __contains__(self, token: str) -> bool:
        now = self._now()
        if self._folder is not None:
            for stretch in (now, now - 1):
                self._catch_up(stretch, self._path(stretch))
        if not self._hashes:
            return False
        key = cache_key(token)
        return any(key in self._hashes.get(stretch, ()) for stretch in (now, now - 1))

    def _catch_up(self, stretch: int, path: Path) -> None:
        with contextlib.suppress(OSError):
            size = os.stat(path).st_size
            if size - size % _HASH <= self._read.get(stretch, 0):
                return
            with self._lock, path.open("rb") as file:
                done = file.seek(self._read.get(stretch, 0))
                new = file.read()
                new = new[: len(new) - len(new) % _HASH]
                hashes = {new[start : start + _HASH] for start in range(0, len(new), _HASH)}
                self._hashes.setdefault(stretch, set()).update(hashes)
                self._read[stretch] = done + len(new)
                self._forget(stretch - 1)

    def _forget(self, before: int) -> None:
        for old in [stretch for stretch in (*self._hashes, *self._read) if stretch < before]:
            self._hashes.pop(old, None)
            self._read.pop(old, None)

    def _now(self) -> int:
        return int(self._clock.now().timestamp() // self._stretch)

    def _path(self, stretch: int) -> Path:
        assert self._folder is not None
        return self._folder / f"revoked-tokens-{stretch}"


class RevocationsFirst(Struct, frozen=True):
    """An `Authenticator` that refuses revoked tokens, whatever the one behind it remembers."""

    inner: Authenticator
    revoked: RevokedTokens

    def challenge(self) -> str:
        return self.inner.challenge()

    def authenticate(self, environ: Mapping[str, Any]) -> Identity:
        for header in ("HTTP_X_AUTH_TOKEN", "HTTP_X_SERVICE_TOKEN"):
            token = str(environ.get(header) or "").strip()
            if token and token in self.revoked:
                raise Unauthorized("the token is not valid")
        return self.inner.authenticate(environ)
