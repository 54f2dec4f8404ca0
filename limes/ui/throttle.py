"""Makes guessing passwords slow, without locking out those who know theirs.

Each failed sign-in counts three times: for the account at this client, for the account, and for the client. After some
free ones, the next try has to wait, twice as long each time, up to a cap. Whoever has signed in to an account from a
client before waits there for failures of just this pair: what others fail at, with the account or behind the same
proxy, does not matter to them.
"""

import ipaddress
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import falcon

from limes.errors import Unauthorized
from limes.system import Clock

_FORGET_AFTER = 900.0
"""Seconds after the last failure."""
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class _Cost:
    free: int
    """Failures without a wait."""
    longest: float
    """Seconds."""

    def wait(self, failures: int) -> float:
        """Returns the seconds to wait after so many failures."""
        return 0.0 if failures < self.free else min(self.longest, 2.0 ** min(failures - self.free, 30))


_PAIR = _Cost(free=5, longest=300.0)
_ACCOUNT = _Cost(free=20, longest=60.0)
_CLIENT = _Cost(free=50, longest=10.0)
"""Many people may share an address, such as that of a proxy that is not a trusted one."""


class Throttle:
    """Failures of this process. Each worker counts for itself, and Keystone may have limits of its own."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: OrderedDict[Hashable, tuple[int, float]] = OrderedDict()
        """Their number, and when the last one was."""
        self._known: OrderedDict[Hashable, None] = OrderedDict()
        """Accounts with the clients that have signed in to them."""
        self._lock = threading.Lock()

    @contextmanager
    def attempt(self, account: str | None, address: str) -> Iterator[None]:
        """Wraps one sign-in: `Unauthorized` in it is a failure. Raises falcon's 429 for callers that have to wait.

        `account` names somebody; None is for tokens, which name nobody: they count by client, and apart from accounts.
        An attempt counts as failed until it has succeeded, so that many at once gain nothing.
        """
        pair = (_normalised(account), _network(address)) if account is not None else None
        costs = self._begin(pair, _network(address))
        try:
            yield
        except Unauthorized:
            raise
        except BaseException:
            self._end(costs)
            raise
        self._end(costs)
        if pair is not None:
            with self._lock:
                self._failures.pop(("pair", pair), None)
                _remember(self._known, pair, None)

    def _begin(self, pair: tuple[str, str] | None, client: str) -> dict[Hashable, _Cost]:
        with self._lock:
            costs: dict[Hashable, _Cost]
            if pair is None:
                costs = {("tokens", client): _CLIENT}
            elif pair in self._known:
                costs = {("pair", pair): _PAIR}
            else:
                costs = {("pair", pair): _PAIR, ("account", pair[0]): _ACCOUNT, ("client", client): _CLIENT}
            now = self._clock.monotonic()
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

    def _wait(self, key: Hashable, cost: _Cost, now: float) -> float:
        failures, last = self._failures.get(key, (0, now))
        if now >= last + _FORGET_AFTER:
            self._failures.pop(key, None)
            return 0.0
        return last + cost.wait(failures) - now

    def _end(self, costs: dict[Hashable, _Cost]) -> None:
        """Takes the failure back."""
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


def _normalised(account: str) -> str:
    """Returns one text for all spellings that Keystone's database may take for the same."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", account).casefold())
    return "/".join(" ".join(part.split()) for part in folded.split("/"))


def _network(address: str) -> str:
    """Returns the network to count by: whoever has one IPv6 address has 2^64 of them."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((ip, 64), strict=False)) if ip.version == 6 else str(ip)
