"""Requests for more quota: their states, what a decision makes of them, and rules that decide. Pure functions."""

import enum
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from limes.core.catalog import Ref


class RequestStatus(enum.StrEnum):
    """The state of a request. All but `OPEN` are final."""

    OPEN = "open"
    APPROVED = "approved"
    PARTLY_APPROVED = "partly_approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    """A newer request asks for the same resources, or the decision was made on the level below."""
    EXPIRED = "expired"
    """The time for which it asks has passed, or nobody has decided for very long."""


class EventKind(enum.StrEnum):
    """What an entry in the conversation of a request is about."""

    OPENED = "opened"
    COMMENT = "comment"
    PASSED_ON = "passed_on"
    """To the cloud admins, as the domain's quota is not enough."""
    RETURNED = "returned"
    """They have decided, but that did not settle it."""
    APPROVED = "approved"
    PARTLY_APPROVED = "partly_approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


class Overlap(enum.Enum):
    """How an open request relates to a new one of the same project or domain."""

    NONE = "none"
    REPLACED = "replaced"
    """The new one asks for all of its resources."""
    PARTIAL = "partial"
    """The new one asks for some of them."""


def overlap(open_request: Collection[Ref], new_request: Collection[Ref]) -> Overlap:
    """Returns whether a new request takes the place of an open one, given the resources that each asks for."""
    common = set(open_request) & set(new_request)
    if not common:
        return Overlap.NONE
    return Overlap.REPLACED if common == set(open_request) else Overlap.PARTIAL


def status_after(wanted: Mapping[Ref, int], granted: Mapping[Ref, int]) -> RequestStatus:
    """Returns what a request is when these quotas have been granted."""
    complete = all(granted[ref] >= amount for ref, amount in wanted.items())
    return RequestStatus.APPROVED if complete else RequestStatus.PARTLY_APPROVED


def missing_domain_quota(
    wanted: Mapping[Ref, int], domain: Mapping[Ref, int], others: Mapping[Ref, int]
) -> dict[Ref, int]:
    """Returns the domain quotas that a project needs for its request, where the present ones are not enough.

    `others` is the quota of all other projects in the domain together.
    """
    needed = {ref: others.get(ref, 0) + amount for ref, amount in wanted.items()}
    return {ref: amount for ref, amount in needed.items() if amount > domain.get(ref, 0)}


def names(refs: Iterable[Ref]) -> str:
    return ", ".join(sorted("/".join(ref) for ref in refs))


# -- rules by which requests are approved without anybody looking at them ----------------------------------------------


@dataclass(frozen=True, slots=True)
class Wish:
    """What a project asks for of one resource, and what is known of it."""

    ref: Ref
    scope: str
    """`domain/project`."""
    present: int
    wanted: int
    usage: int
    approved_at: Mapping[str, float] = field(default_factory=dict)
    """When a rule, by its name, has last approved the same resource for this project."""


@dataclass(frozen=True, slots=True)
class AutoApprovalRule:
    """A rule. What is None does not matter."""

    name: str
    resource: re.Pattern[str]
    scope: re.Pattern[str] | None = None
    up_to: Mapping[Ref, int] | None = None
    """The largest quota, by resource, in its unit."""
    up_to_percent: float | None = None
    """The largest quota, as a part of the present one."""
    used_above: float | None = None
    """How many percent of the present quota have to be exceeded by usage."""
    every: float | None = None
    """How many seconds have to pass between two approvals of a resource for a project."""

    def approves(self, wish: Wish, now: float) -> bool:
        if not self.resource.fullmatch("/".join(wish.ref)):
            return False
        if self.scope is not None and not self.scope.fullmatch(wish.scope):
            return False
        if self.up_to is not None and wish.wanted > self.up_to.get(wish.ref, 0):
            return False
        if self.up_to_percent is not None and wish.wanted * 100 > Fraction(str(self.up_to_percent)) * wish.present:
            return False
        if self.used_above is not None and wish.usage * 100 <= Fraction(str(self.used_above)) * wish.present:
            return False
        last = wish.approved_at.get(self.name)
        return self.every is None or last is None or now >= last + self.every


def first_match(rules: Iterable[AutoApprovalRule], wish: Wish, now: float) -> AutoApprovalRule | None:
    return next((rule for rule in rules if rule.approves(wish, now)), None)
