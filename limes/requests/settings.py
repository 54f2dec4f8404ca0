"""Requests for more quota."""

from collections import Counter

from pydantic import Field, model_validator

from limes.kernel.validation.durations import SecondsOrZero
from limes.kernel.validation.sections import Section
from limes.requests.rules import AutoApprovalRule


class QuotaRequestSettings(Section):
    """Requests for more quota."""

    auto_approval: tuple[AutoApprovalRule, ...] = ()
    """Rules that approve requests of projects without anybody looking at them. For each resource the first rule that
    matches decides; a request is approved if there is one for each of its resources, and if its quotas fit."""
    expire_after: SecondsOrZero = 90 * 86400.0
    """Requests that have been open for so long expire. 0: never, unless the time has passed for which they ask."""
    at_most_per_day: int = Field(default=100, ge=1)
    """So many requests can be made for a project within 24 hours, and so many for a domain itself, those that were
    passed on included."""
    at_most_per_day_in_domain: int = Field(default=1000, ge=1)
    """So many requests can be made within 24 hours for a domain and all its projects together."""

    @model_validator(mode="after")
    def _names_are_unique(self) -> "QuotaRequestSettings":
        for name, count in Counter(rule.name for rule in self.auto_approval).items():
            if count > 1:
                raise ValueError(f"auto_approval: name {name!r} is given {count} times")
        return self
