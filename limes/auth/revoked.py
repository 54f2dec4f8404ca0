"""Tokens that were ended by signing out: refused at once, although others have them in their caches.

Keystone forgets a token that is revoked, but each worker goes on trusting what it was told before, for
`identity.cache.ttl`. So the workers share a folder, with a file for each stretch of that length: whoever signs somebody
out appends the token's hash, and whoever validates a token looks whether a file has grown. After two stretches no cache
can have the token any more, and the file goes.
"""

import contextlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from limes.auth.context import Authenticator, Identity
from limes.auth.token_cache import cache_key
from limes.errors import Unauthorized
from limes.system import Clock

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
        """Marks a token as revoked from now on."""
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
        for stretch in (now, now - 1):
            self._catch_up(stretch)
        if not self._hashes:
            return False
        key = cache_key(token)
        return any(key in self._hashes.get(stretch, ()) for stretch in (now, now - 1))

    def _catch_up(self, stretch: int) -> None:
        if self._folder is None:
            return
        try:
            size = os.stat(self._path(stretch)).st_size
        except OSError:
            return
        if size - size % _HASH <= self._read.get(stretch, 0):
            return
        with self._lock, contextlib.suppress(OSError):
            done = self._read.get(stretch, 0)
            with self._path(stretch).open("rb") as file:
                file.seek(done)
                new = file.read()
            new = new[: len(new) - len(new) % _HASH]
            self._hashes.setdefault(stretch, set()).update(
                new[start : start + _HASH] for start in range(0, len(new), _HASH)
            )
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


@dataclass(frozen=True, slots=True)
class RevocationsFirst:
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
