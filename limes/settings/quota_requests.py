"""Requests for more quota."""

from collections import Counter

from pydantic import Field, model_validator

from limes.validation.durations import Seconds, SecondsOrZero
from limes.validation.sections import Name, Regex, Section


class AutoApprovalSettings(Section):
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
    """Only if more than so many percent of the present quota are used."""
    every: Seconds | None = None
    """Only if the rule has not approved the same resource for the project within this time, such as `7d`."""

    @model_validator(mode="after")
    def _is_bounded(self) -> "AutoApprovalSettings":
        if self.up_to is None and self.up_to_percent is None:
            raise ValueError("up_to or up_to_percent is needed: a rule without a bound would give everything")
        return self


class QuotaRequestSettings(Section):
    """Requests for more quota."""

    auto_approval: tuple[AutoApprovalSettings, ...] = ()
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
