"""Rules by which requests for more quota are approved without anybody looking at them. Pure functions of numbers."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from limes.core.catalog import Ref


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
        """Returns whether all conditions hold."""
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
    """Returns the first rule that approves it."""
    return next((rule for rule in rules if rule.approves(wish, now)), None)
