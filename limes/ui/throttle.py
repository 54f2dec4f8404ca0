"""Makes guessing passwords slow, without locking out those who know theirs.

Each failed sign-in counts for the account at this client, and for the account. After some free ones, the next try has
to wait, twice as long each time, up to a cap. Each account that fails at a client counts once for the client, too, with
a high ceiling: a client that tries many accounts has to wait with further ones, and others have not.

Browsers that have signed in to the account before wait for their own failures only, and so do users who have signed in
to it from this client: failures of others, with the account or behind the same proxy, do not matter to them.
"""

import ipaddress
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import falcon
from msgspec import Struct

from limes.kernel import errors, system

_FORGET_AFTER = 900.0
"""Seconds after the last failure."""
_REMEMBERED = 10_000


class _Cost(Struct, frozen=True):
    free: int
    """Failures without a wait."""
    longest: float
    """Seconds."""

    def wait(self, failures: int) -> float:
        return 0.0 if failures < self.free else min(self.longest, 2.0 ** min(failures - self.free, 30))


_PAIR = _Cost(free=5, longest=300.0)
_ACCOUNT = _Cost(free=20, longest=60.0)
_CLIENT = _Cost(free=100, longest=10.0)
"""Of accounts, not of tries. Many people may share an address, such as that of a proxy that is not a trusted one."""


class Throttle:
    """Failures of this process. Each worker counts for itself, and Keystone may have limits of its own."""

    def __init__(self, clock: system.Clock) -> None:
        self._clock = clock
        self._failures: OrderedDict[Hashable, tuple[int, float]] = OrderedDict()
        """Their number, and when the last one was."""
        self._known: OrderedDict[Hashable, None] = OrderedDict()
        """Accounts with the clients that have signed in to them."""
        self._lock = threading.Lock()

    @contextmanager
    def attempt(self, account: str, address: str, browser: str | None = None) -> Iterator[None]:
        """Wraps one sign-in: `Unauthorized` in it is a failure. Raises falcon's 429 for callers that have to wait.
        `account` is its kind and its name, `browser` the number of one that has signed in to the account before. An
        attempt counts as failed until it has succeeded, so that many at once gain nothing."""
        pair = (normalised(account), _network(address))
        costs = self._begin(pair, browser)
        try:
            yield
        except errors.Unauthorized:
            raise
        except BaseException:
            self._end(costs)
            raise
        self._end(costs)
        with self._lock:
            for key in (("pair", pair), ("browser", browser)):
                self._failures.pop(key, None)
            _remember(self._known, pair, None)

    def _begin(self, pair: tuple[str, str], browser: str | None) -> dict[Hashable, _Cost]:
        with self._lock:
            now = self._clock.monotonic()
            costs = self._costs(pair, browser, now)
            wait = max(self._wait(key, cost, now) for key, cost in costs.items())
            if wait > 0:
                seconds = int(wait) + 1
                raise falcon.HTTPTooManyRequests(
                    description=f"too many failed sign-ins: try again in {seconds} seconds", retry_after=seconds
                )
            for key in costs:
                failures, _ = self._failures.get(key, (0, now))
                _remember(self._failures, key, (failures + 1, now))
            return costs

    def _costs(self, pair: tuple[str, str], browser: str | None, now: float) -> dict[Hashable, _Cost]:
        if browser is not None:
            return {("browser", browser): _PAIR}
        costs: dict[Hashable, _Cost] = {("pair", pair): _PAIR}
        if pair in self._known:
            return costs
        account, client = pair
        costs["account", account] = _ACCOUNT
        self._forget(("pair", pair), now)
        if ("pair", pair) not in self._failures:  # kinds apart: bad tokens are no reason to wait with a password
            costs["client", client, account.partition(" ")[0]] = _CLIENT
        return costs

    def _wait(self, key: Hashable, cost: _Cost, now: float) -> float:
        self._forget(key, now)
        failures, last = self._failures.get(key, (0, now))
        return last + cost.wait(failures) - now

    def _forget(self, key: Hashable, now: float) -> None:
        if key in self._failures and now >= self._failures[key][1] + _FORGET_AFTER:
            del self._failures[key]

    def _end(self, costs: dict[Hashable, _Cost]) -> None:
        with self._lock:
            for key in costs:
                failures, last = self._failures.pop(key, (1, 0.0))
                if failures > 1:
                    self._failures[key] = (failures - 1, last)


def _remember(entries: OrderedDict[Hashable, Any], key: Hashable, value: Any) -> None:
    entries[key] = value
    entries.move_to_end(key)
    if len(entries) > _REMEMBERED:
        entries.popitem(last=False)


def normalised(account: str) -> str:
    """Returns one text for all spellings that Keystone's database may take for the same."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", account).casefold())
    return "/".join(" ".join(part.split()) for part in folded.split("/"))


def _network(address: str) -> str:
    """What to count by: a client with one IPv6 address has 2^64 of them."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((ip, 64), strict=False)) if ip.version == 6 else str(ip)
