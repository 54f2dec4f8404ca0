"""Requests for more quota."""

from collections import Counter

from pydantic import Field, model_validator

from limes.kernel.validation.durations import SecondsOrZero
from limes.kernel.validation.sections import Section
from limes.requests.rules import AutoApprovalRule


class QuotaRequestSettings(Section):
    """Requests for more quota."""

    auto_approval: tuple[AutoApprovalRule, ...] = ()
    """Rules that approve requests of projects without review. For each resource the first rule that
    matches decides; a request is approved if there is one for each of its resources, and if its quotas fit."""
    expire_after: SecondsOrZero = 90 * 86400.0
    """How long a request stays open before it expires. 0: until the time has passed that it asks for."""
    at_most_per_day: int = Field(default=100, ge=1)
    """Maximum number of requests within 24 hours for a project, and for a domain itself, including those that were
    passed on."""
    at_most_per_day_in_domain: int = Field(default=1000, ge=1)
    """Maximum number of requests within 24 hours for a domain and all its projects together."""

    @model_validator(mode="after")
    def _names_are_unique(self) -> "QuotaRequestSettings":
        for name, count in Counter(rule.name for rule in self.auto_approval).items():
            if count > 1:
                raise ValueError(f"auto_approval: name {name!r} is given {count} times")
        return self
