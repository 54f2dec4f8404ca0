"""Who can decide on a request, or raise a quota: by the policy, which roles; by Keystone, who has them.

People are looked for where the fewest have the right: on the project, then on its domain, then in the cloud. If
Keystone cannot be asked, there still are the roles.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

from limes.api import policy
from limes.audit.events import What
from limes.auth.context import Identity
from limes.auth.policy import Policy
from limes.kernel.errors import Conflict, Unavailable
from limes.projects.scope import Place
from limes.requests.rules import RequestStatus
from limes.requests.store import RequestView

Some = tuple[Sequence[tuple[str, str]], int]
"""Ids and names of the first users, by name, and how many others there are."""


class People(Protocol):
    """Keystone's users. See `KeystoneUsers.named`."""

    def named(self, scope: str, uuid: str, roles: Collection[str]) -> Some: ...


class SamplePeople(Struct, frozen=True):
    """The users of sample identities."""

    identities: Collection[Identity]

    def named(self, scope: str, uuid: str, roles: Collection[str]) -> Some:
        found = {
            (each.user_name, each.user_id)
            for each in self.identities
            if set(each.roles) & set(roles) and (scope == "cluster" or getattr(each, f"{scope}_id") == uuid)
        }
        return [(id_, name) for name, id_ in sorted(found)], 0


class Deciders(Struct, frozen=True):
    """Some of those who can decide."""

    level: policy.Level
    """Where they have their roles."""
    roles: Sequence[str] = ()
    """One of these is enough there."""
    people: Some = ((), 0)
    problem: str | None = None
    """Why no users are named."""


class Directory(Struct, frozen=True):
    """Finds people by policy rules."""

    people: People | None = None
    """None without Keystone."""

    def find(self, rules: Policy, rule: str, place: Place) -> Deciders:
        """Returns who passes a rule on a project or domain."""
        uuids = {"project": place.project_uuid, "domain": place.domain_uuid, "cluster": ""}
        target = {"domain_id": place.domain_uuid} | ({"project_id": place.project_uuid} if place.project_uuid else {})
        roles = policy.roles_that_pass(rules, rule, target)
        if not roles:
            return Deciders("cluster")
        level, problem = next(iter(roles)), None
        if self.people is None:
            return Deciders(level, roles[level], problem="there is no Keystone that knows users")
        try:
            for each, names in roles.items():
                found = self.people.named(each, uuids[each], names)
                if any(found):
                    return Deciders(each, names, found)
        except Unavailable as error:
            problem = str(error)
        return Deciders(level, roles[level], problem=problem)


def rule_for(described: RequestView) -> tuple[str, Place]:
    """Returns which rule those pass who can decide on a request, and of which project or domain. Raises `Conflict` if
    nobody has to."""
    row = described.row
    place = Place(row.domain_uuid, row.project_uuid or "")
    if row.status == RequestStatus.PROPOSED.value:
        return "project:request_quota", place
    if row.status != RequestStatus.OPEN.value:
        raise Conflict(f"quota request {row.id} is {row.status.replace('_', ' ')}: nobody has to decide on it")
    if row.project_uuid is None or described.passed_on_to is not None:
        return "domain:decide_requests", Place(row.domain_uuid)
    grants = any(amount.what == What.MIN_QUOTA.value for amount in described.amounts)
    return ("project:grant_quota" if grants else "project:decide_requests"), place
