"""Requests for more quota: their states, what a decision makes of them, and rules that decide. Pure functions."""

import enum
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import inf

from msgspec import Struct, field
from pydantic import Field, model_validator

from limes.catalog.catalog import Ref
from limes.kernel.units import Unit, parse_value
from limes.kernel.validation.durations import Seconds
from limes.kernel.validation.sections import Name, Regex, Section


class RequestStatus(enum.StrEnum):
    """The state of a request. All but `PROPOSED` and `OPEN` are final."""

    PROPOSED = "proposed"
    """By a member of the project: it is open once an admin of the project has confirmed it."""
    OPEN = "open"
    APPROVED = "approved"
    PARTLY_APPROVED = "partly_approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    """A newer request asks for the same resources, or the decision was made on the level below."""
    EXPIRED = "expired"
    """The time for which it asks has passed, or no decision was made for very long."""


UNDECIDED = (RequestStatus.OPEN, RequestStatus.PROPOSED)


class EventKind(enum.StrEnum):
    """What an entry in the conversation of a request is about."""

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
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


def status_after(wanted: Mapping[Ref, int], granted: Mapping[Ref, int]) -> RequestStatus:
    """Returns what a request is when these quotas have been granted."""
    complete = all(granted[ref] >= amount for ref, amount in wanted.items())
    return RequestStatus.APPROVED if complete else RequestStatus.PARTLY_APPROVED


def missing_domain_quota(
    wanted: Mapping[Ref, int], domain: Mapping[Ref, int], others: Mapping[Ref, int]
) -> dict[Ref, int]:
    """Returns the domain quotas that a project needs for its request, where the present ones are not enough. `others`
    is the quota of all other projects in the domain together."""
    needed = {ref: others.get(ref, 0) + amount for ref, amount in wanted.items()}
    return {ref: amount for ref, amount in needed.items() if amount > domain.get(ref, 0)}


def names(refs: Iterable[Ref]) -> str:
    return ", ".join(sorted("/".join(ref) for ref in refs))


class RequestedQuota(Struct, frozen=True):
    """What a project asks for of one resource, and what is known of it."""

    ref: Ref
    unit: Unit
    scope: str
    """`domain/project`."""
    present: int
    wanted: int
    usage: int
    approved_at: Mapping[str, float] = field(default_factory=dict)
    """When a rule, by its name, has last approved the same resource for this project."""


class AutoApprovalRule(Section):
    """A rule by which requests of projects are approved at once. All of its conditions have to hold."""

    name: Name
    """What the request and the history call the rule."""
    resource: Regex
    """Matches the whole of `service/resource`."""
    scope: Regex | None = None
    """Matches the whole of `domain/project`. Not given: all projects."""
    up_to: str | int | None = None
    """The largest quota that the rule gives, such as `20` or `20 GiB`."""
    up_to_percent: float | None = Field(default=None, gt=100, le=1_000_000, allow_inf_nan=False)
    """The same, in percent of the present quota: 120 gives up to a fifth more."""
    used_above: float | None = Field(default=None, ge=0, le=1_000_000, allow_inf_nan=False)
    """Only if more than this percentage of the present quota is used."""
    every: Seconds | None = None
    """Only if the rule has not approved the same resource for the project within this time, such as `7d`."""

    @model_validator(mode="after")
    def _is_bounded(self) -> "AutoApprovalRule":
        if self.up_to is None and self.up_to_percent is None:
            raise ValueError("up_to or up_to_percent is needed: a rule without a bound would give everything")
        return self

    def limit(self, unit: Unit) -> float:
        """Returns the largest quota by `up_to`, in that unit. Raises `UnitError`."""
        return inf if self.up_to is None else parse_value(str(self.up_to), unit)

    def approves(self, wish: RequestedQuota, now: float) -> bool:
        if not self.resource.fullmatch("/".join(wish.ref)):
            return False
        if self.scope is not None and not self.scope.fullmatch(wish.scope):
            return False
        if wish.wanted > self.limit(wish.unit):
            return False
        if self.up_to_percent is not None and wish.wanted * 100 > Fraction(str(self.up_to_percent)) * wish.present:
            return False
        if self.used_above is not None and wish.usage * 100 <= Fraction(str(self.used_above)) * wish.present:
            return False
        last = wish.approved_at.get(self.name)
        return self.every is None or last is None or now >= last + self.every


def first_match(rules: Iterable[AutoApprovalRule], wish: RequestedQuota, now: float) -> AutoApprovalRule | None:
    return next((rule for rule in rules if rule.approves(wish, now)), None)
