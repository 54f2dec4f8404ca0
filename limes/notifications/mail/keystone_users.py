"""Keystone's users: their names and mail addresses, of those with a role on a project or domain, and of single ones.

Answers are kept for a while. For each project or domain, one call lists who has which role, and then there is one for
each user who is not known yet, of whom only the first ones by name count.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote

import requests
from keystoneauth1 import exceptions as ksa_errors
from keystoneauth1.adapter import Adapter
from msgspec import Struct, field

from limes.kernel import redaction, system
from limes.kernel.errors import LimesError, Unavailable
from limes.notifications.rules import ADDRESS

log = logging.getLogger(__name__)

_MOST_KEPT = 20_000
_PAUSE = 30.0
"""Seconds for which Keystone is not asked again after it did not answer."""
T = TypeVar("T")


class KeystoneUsers(Struct, frozen=True):
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
        users = self._on(scope, uuid, roles)
        if len(users) > self.at_most:
            log.warning(
                "%s %s: only %d of %d users with %s get mails", scope, uuid, self.at_most, len(users),
                ", ".join(sorted(roles)),
            )  # fmt: skip
        return [address for id_, _ in _by_name(users)[: self.at_most] if (address := self.address_of(id_))]

    def named(self, scope: str, uuid: str, roles: Collection[str]) -> tuple[list[tuple[str, str]], int]:
        """Returns ids and names of users who have one of these roles on a `project` or `domain`, or for `cluster`
        anywhere, and how many more there are. Only the first ones are asked about: the disabled ones are not named."""
        users = _by_name(self._anywhere(roles) if scope == "cluster" else self._on(scope, uuid, roles))
        first = [user for user in users[: self.at_most] if self._user(user[0])[0]]
        return first, max(0, len(users) - self.at_most)

    def has_role(self, user_id: str, scope: str, uuid: str) -> bool:
        """Returns whether the user has any role on a `project` or `domain`, in whatever way."""
        path = f"/role_assignments?user.id={quote(user_id, safe='')}&scope.{scope}.id={uuid}&effective"
        return self._kept(("role", user_id, scope, uuid), lambda: bool(_assignments_in(self._get(path))))

    def address_of(self, user_id: str) -> str | None:
        """Returns the address of a user; None without a valid one, and for those who are disabled or gone."""
        is_enabled, address = self._user(user_id)
        return address if is_enabled else None

    def _on(self, scope: str, uuid: str, roles: Collection[str]) -> dict[str, str]:
        """Returns the names of users by id."""
        path = f"/role_assignments?scope.{scope}.id={quote(uuid, safe='')}&effective&include_names"
        assignments = self._kept(("roles", scope, uuid), lambda: _assignments_in(self._get(path)))
        return {id_: name for id_, name, role in assignments if role in roles}

    def _anywhere(self, roles: Collection[str]) -> dict[str, str]:
        return {
            id_: name for role in roles for id_, name in self._kept(("role", role), partial(self._with, role)).items()
        }

    def _with(self, role: str) -> dict[str, str]:
        found = (self._get(f"/roles?name={quote(role, safe='')}") or {}).get("roles", ())
        users: dict[str, str] = {}
        for each in found:
            document = self._get(f"/role_assignments?role.id={each['id']}&effective&include_names")
            users |= {id_: name for id_, name, _ in _assignments_in(document)}
        return users

    def _user(self, user_id: str) -> tuple[bool, str | None]:
        """Returns whether the user is enabled, and the address, if it is a valid one."""
        return self._kept(("user", user_id), lambda: self._read_user(user_id))

    def _read_user(self, user_id: str) -> tuple[bool, str | None]:
        user = (self._get(f"/users/{quote(user_id, safe='')}") or {}).get("user")
        if user is None:
            return False, None
        address = user.get(self.attribute)
        is_valid = isinstance(address, str) and ADDRESS.fullmatch(address)
        return bool(user.get("enabled", True)), address if is_valid else None

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
            raise Unavailable(f"cannot ask Keystone for users: {redaction.line_of(error)}") from None
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


def _by_name(users: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns ids and names."""
    return sorted(users.items(), key=lambda user: (user[1], user[0]))


def _assignments_in(document: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    return [
        (str(each["user"]["id"]), str(each["user"].get("name", "")), str(each["role"].get("name", "")))
        for each in (document or {}).get("role_assignments", ())
        if "user" in each and "role" in each
    ]
