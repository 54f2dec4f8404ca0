"""From when on something is worth an alert."""

from typing import Annotated

from pydantic import Field, model_validator

from limes.settings.base import Regex, Section
from limes.validation.durations import Seconds

Percent = Annotated[int, Field(ge=1, le=100)]


class QuotaUsedSettings(Section):
    """How much of its quota a project may use before that is worth an alert, for the resources that match. The first
    match wins. Without a match: 80 and 95 percent, or none for quota that grows by itself."""

    resource: Regex
    """Matches the whole of `service/resource`."""
    warning: Percent = 80
    """A warning above so many percent. 100: only usage above the quota."""
    critical: Percent = 95
    """Critical above so many percent."""

    @model_validator(mode="after")
    def _in_order(self) -> "QuotaUsedSettings":
        if self.critical < self.warning:
            raise ValueError("critical must not be below warning")
        return self


class AlertSettings(Section):
    """What `GET /v1/alerts` lists, and what the metric `limes_alerts` counts."""

    quota_used: tuple[QuotaUsedSettings, ...] = ()
    expiry_warning: Seconds = 28 * 86400.0
    """How long before its end a commitment is worth a warning, unless it was renewed or will renew itself. Only
    commitments whose whole duration is at least twice as long count."""
    expiry_critical: Seconds = 7 * 86400.0
    """The same for when the alert gets critical."""
    unreachable_after: Seconds = 3600.0
    """For how long scrapes must have failed."""
    temporary_quota_ends: Seconds = 3 * 86400.0
    """How long before its end a temporary quota is worth a warning. Only those that last at least twice as long
    count."""

    @model_validator(mode="after")
    def _in_order(self) -> "AlertSettings":
        if self.expiry_critical > self.expiry_warning:
            raise ValueError("expiry_critical must not be longer than expiry_warning")
        return self
