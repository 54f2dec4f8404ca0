"""What is worth an alert, and since when: pure rules."""

import enum
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from limes.catalog.catalog import Ref
from limes.kernel.validation.durations import Seconds
from limes.kernel.validation.sections import Regex, Section


class Severity(enum.StrEnum):
    CRITICAL = "critical"
    WARNING = "warning"


class Kind(enum.StrEnum):
    """What an alert is about, in the order of lists."""

    BACKEND_UNREACHABLE = "backend_unreachable"
    """No project's figures of a service could be read for some time, though that was tried."""
    CAPACITY_UNREACHABLE = "capacity_unreachable"
    """A capacitor's figures could not be read for some time."""
    CAPACITY_DROP = "capacity_drop"
    """A capacitor reports much less of a resource than before. Its next answer decides."""
    SCRAPES_FAIL = "scrapes_fail"
    """Scrapes of some of the projects have failed for some time, and those of others succeed."""
    QUOTA_NOT_WRITTEN = "quota_not_written"
    """The backend did not take the quota of some projects at the last attempt."""
    USAGE_ABOVE_QUOTA = "usage_above_quota"
    QUOTA_USED = "quota_used"
    """A large share of a quota is used."""
    AUTO_RENEWAL_FAILED = "auto_renewal_failed"
    """A commitment that should renew itself could not be renewed so far."""
    COMMITMENT_UNCONFIRMED = "commitment_unconfirmed"
    """A commitment was not confirmed by its date and waits for capacity."""
    COMMITMENT_EXPIRES = "commitment_expires"
    """A confirmed commitment ends soon and was not renewed."""
    TEMPORARY_QUOTA_OVER = "temporary_quota_over"
    """A temporary quota has ended, and not all of it could be given back so far."""
    TEMPORARY_QUOTA_WAITS = "temporary_quota_waits"
    """A temporary quota could not begin when it was planned to."""
    TEMPORARY_QUOTA_ENDS = "temporary_quota_ends"
    """A temporary quota ends soon."""


_BOTH = (Severity.CRITICAL, Severity.WARNING)
SEVERITIES: Mapping[Kind, tuple[Severity, ...]] = {
    Kind.BACKEND_UNREACHABLE: (Severity.CRITICAL,),
    Kind.CAPACITY_UNREACHABLE: (Severity.WARNING,),
    Kind.CAPACITY_DROP: (Severity.WARNING,),
    Kind.SCRAPES_FAIL: (Severity.WARNING,),
    Kind.QUOTA_NOT_WRITTEN: (Severity.WARNING,),
    Kind.USAGE_ABOVE_QUOTA: (Severity.CRITICAL,),
    Kind.QUOTA_USED: _BOTH,
    Kind.AUTO_RENEWAL_FAILED: (Severity.CRITICAL,),
    Kind.COMMITMENT_UNCONFIRMED: (Severity.CRITICAL,),
    Kind.COMMITMENT_EXPIRES: _BOTH,
    Kind.TEMPORARY_QUOTA_OVER: (Severity.WARNING,),
    Kind.TEMPORARY_QUOTA_WAITS: (Severity.WARNING,),
    Kind.TEMPORARY_QUOTA_ENDS: (Severity.WARNING,),
}


class UsageThresholds(NamedTuple):
    """How many percent of a quota are used when there is a warning, and when it gets critical."""

    warning: int = 80
    critical: int = 95

    def nearly(self, hysteresis: int) -> int:
        """Returns the usage at which a warning ends again: lower by the hysteresis, in percent of the quota."""
        return self.warning if self.warning >= 100 else max(1, self.warning - hysteresis)


_ONLY_ABOVE_QUOTA = UsageThresholds(100, 100)
"""Quota that grows by itself stays just above usage, so that its use says nothing."""


_Percent = Annotated[int, Field(ge=1, le=100)]


class ThresholdRule(Section):
    """The share of its quota that a project may use before an alert is raised, for the resources that match. The first
    match wins. Without a match: 80 and 95 percent, or none for quota that grows by itself."""

    resource: Regex
    """Matches the whole of `service/resource`."""
    warning: _Percent = 80
    """Percentage of the quota above which there is a warning. 100: only usage above the quota."""
    critical: _Percent = 95
    """Percentage of the quota above which the alert is critical."""

    @property
    def thresholds(self) -> UsageThresholds:
        return UsageThresholds(self.warning, self.critical)

    @model_validator(mode="after")
    def _in_order(self) -> "ThresholdRule":
        if self.critical < self.warning:
            raise ValueError("critical must not be below warning")
        return self


class AlertRules(Section):
    """What `GET /v1/alerts` lists, and what the metric `limes_alerts` counts."""

    quota_used: tuple[ThresholdRule, ...] = ()
    expiry_warning: Seconds = 28 * 86400.0
    """How long before its end a commitment is worth a warning, unless it was renewed or will renew itself. Only
    commitments whose whole duration is at least twice as long count."""
    expiry_critical: Seconds = 7 * 86400.0
    """The same for when the alert gets critical."""
    unreachable_after: Seconds = 3600.0
    """For how long scrapes must have failed."""
    temporary_quota_ends: Seconds = 3 * 86400.0
    """How long before its end a temporary quota is worth a warning. Only quotas that last at least twice as long
    count."""

    @model_validator(mode="after")
    def _in_order(self) -> "AlertRules":
        if self.expiry_critical > self.expiry_warning:
            raise ValueError("expiry_critical must not be longer than expiry_warning")
        return self

    def usage_thresholds(self, ref: Ref, *, grows: bool) -> UsageThresholds:
        """Returns those of a resource; `grows` says whether its quota grows by itself."""
        name = "/".join(ref)
        for rule in self.quota_used:
            if rule.resource.fullmatch(name):
                return rule.thresholds
        return _ONLY_ABOVE_QUOTA if grows else UsageThresholds()
