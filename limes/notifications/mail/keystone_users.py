"""The mail addresses of Keystone's users: of those with a role on a project or domain, and of single ones.

Answers are kept for a while. For each project or domain, one call lists who has which role, and then there is one for
each user who is not known yet, of whom only the first ones by name count.
"""

import logging
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

import requests
from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1.adapter import Adapter

from limes.kernel import redaction, system
from limes.kernel.errors import LimesError, Unavailable
from limes.notifications.rules import ADDRESS

log = logging.getLogger(__name__)

_MOST_KEPT = 20_000
_PAUSE = 30.0
"""Seconds for which Keystone is not asked again after it did not answer."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeystoneUsers:
    """Asks Keystone. All methods raise `Unavailable` if it does not answer. Several threads may ask at once, and then
    sometimes ask the same twice."""

    adapter: Adapter
    clock: system.Clock
    attribute: str = "email"
    at_most: int = 50
    ttl: float = 3600.0
    admit: Callable[[], AbstractContextManager[None]] = nullcontext
    """Holds a place while Keystone is asked; raises `Unavailable` if there is none."""
    _outage: list[tuple[float, str]] = field(default_factory=list)
    """Until when Keystone is not asked, and why; the last one counts."""
    _cache: dict[tuple[str, ...], tuple[float, Any]] = field(default_factory=dict)

    def try_out(self) -> str | None:
        try:
            self._get("/role_assignments?scope.project.id=none&effective")
        except Unavailable as error:
            return str(error)
        return None

    def with_roles(self, scope: str, uuid: str, roles: Collection[str]) -> list[str]:
        """Returns the addresses of the users who have one of these roles on a `project` or `domain`, also by way of
        groups, inheritance and implied roles."""
        path = f"/role_assignments?scope.{scope}.id={uuid}&effective&include_names"
        assignments = self._kept(("roles", scope, uuid), lambda: _assignments_in(self._get(path)))
        wanted = set(roles)
        users = {id_: name for id_, name, role in assignments if role in wanted}
        if len(users) > self.at_most:
            log.warning(
                "%s %s: only %d of %d users with %s get mails", scope, uuid, self.at_most, len(users),
                ", ".join(sorted(wanted)),
            )  # fmt: skip
        first = sorted(users, key=lambda id_: (users[id_], id_))[: self.at_most]
        return [address for id_ in first if (address := self.address_of(id_))]

    def has_role(self, user_id: str, scope: str, uuid: str) -> bool:
        """Returns whether the user has any role on a `project` or `domain`, in whatever way."""
        path = f"/role_assignments?user.id={quote(user_id, safe='')}&scope.{scope}.id={uuid}&effective"
        return self._kept(("role", user_id, scope, uuid), lambda: bool(_assignments_in(self._get(path))))

    def address_of(self, user_id: str) -> str | None:
        """Returns the address of a user; None without a valid one, and for those who are disabled or gone."""
        return self._kept(("user", user_id), lambda: self._read_address(user_id))

    def _read_address(self, user_id: str) -> str | None:
        user = (self._get(f"/users/{quote(user_id, safe='')}") or {}).get("user", {})
        address = user.get(self.attribute)
        if not user.get("enabled", True) or not isinstance(address, str):
            return None
        return address if ADDRESS.fullmatch(address) else None

    def _get(self, path: str) -> dict[str, Any] | None:
        if self._outage and self._outage[-1][0] > self.clock.monotonic():
            raise Unavailable(self._outage[-1][1])
        with self.admit():
            try:
                return self._ask(path)
            except Unavailable as error:
                self._outage[:] = [(self.clock.monotonic() + _PAUSE, str(error))]
                raise

    def _ask(self, path: str) -> dict[str, Any] | None:
        try:
            answer = self.adapter.get(path, raise_exc=False)
            if answer.status_code == 404:
                return None
            if answer.status_code != 200:
                raise Unavailable(f"Keystone answers HTTP {answer.status_code} to GET {path.partition('?')[0]}")
            document = answer.json()
        except Unavailable:
            raise
        except (ksa_errors.ClientException, requests.RequestException, LimesError, ValueError) as error:
            raise Unavailable(f"cannot ask Keystone for recipients: {redaction.line_of(error)}") from None
        return document if isinstance(document, dict) else None

    def _kept(self, key: tuple[str, ...], read: Callable[[], T]) -> T:
        now = self.clock.monotonic()
        known = self._cache.get(key)
        if known is not None and known[0] > now:
            value: T = known[1]
            return value
        value = read()
        if len(self._cache) >= _MOST_KEPT:
            self._cache.clear()
        self._cache[key] = (now + self.ttl, value)
        return value


def _assignments_in(document: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    return [
        (str(each["user"]["id"]), str(each["user"].get("name", "")), str(each["role"].get("name", "")))
        for each in (document or {}).get("role_assignments", ())
        if "user" in each and "role" in each
    ]
