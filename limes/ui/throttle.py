"""Slows down who tries passwords: so many failures in a while, by account and address, and by address alone.

Accounts are texts that name somebody; None, where nobody is named, counts for the address alone."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator

import falcon

from limes.seams import Clock

_WINDOW = 300.0
"""Seconds after the first failure, when all of them are forgotten."""
_BY_ACCOUNT = 10
_BY_ADDRESS = 200
"""Many people may share an address, such as that of a proxy."""
_REMEMBERED = 10_000


class Throttle:
    """Failures of this process. Each worker counts for itself, and Keystone may have limits of its own."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, account: str | None, address: str) -> None:
        """Raises falcon's 429 for who has failed too often."""
        now = self._clock.monotonic()
        with self._lock:
            for key, limit in self._keys(account, address):
                since, count = self._failures.get(key, (now, 0))
                wait = since + _WINDOW - now
                if count >= limit and wait > 0:
                    raise falcon.HTTPTooManyRequests(
                        description=f"too many failed sign-ins: try again in {int(wait) + 1} seconds",
                        retry_after=int(wait) + 1,
                    )

    def failed(self, account: str | None, address: str) -> None:
        """Counts a failure."""
        now = self._clock.monotonic()
        with self._lock:
            for key, _ in self._keys(account, address):
                since, count = self._failures.pop(key, (now, 0))
                self._failures[key] = (since, count + 1) if now < since + _WINDOW else (now, 1)
            while len(self._failures) > _REMEMBERED:
                self._failures.popitem(last=False)

    @staticmethod
    def _keys(account: str | None, address: str) -> Iterator[tuple[Hashable, int]]:
        if account is not None:
            yield (account, address), _BY_ACCOUNT
        yield address, _BY_ADDRESS
