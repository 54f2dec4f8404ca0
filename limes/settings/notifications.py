"""Who is told of what needs somebody."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from limes.settings.audit import AuditLogSettings, as_list
from limes.settings.base import Section
from limes.validation.durations import Seconds

NotificationKind = Literal[
    "backend_unreachable",
    "usage_above_quota",
    "quota_used",
    "auto_renewal_failed",
    "commitment_unconfirmed",
    "commitment_expires",
    "commitment_confirmed",
    "commitment_renewed",
]


class WebhookSettings(Section):
    """The sink `webhook`: a POST for each notification, with a signature."""

    url: str = Field(default="", pattern=r"^(https?://[^/]+.*)?$", repr=False)
    """Where notifications are sent to. Answers from 200 to 299 mean that a notification has arrived."""
    secret: str | None = Field(default=None, repr=False)
    """The key of the signatures, at least 16 characters. Environment: `LIMES_NOTIFICATIONS_WEBHOOK_SECRET`."""
    timeout: Seconds = 10.0
    """How long the receiver may take to answer."""


class NotificationSettings(Section):
    """Notifications about alerts and commitments. `alerts` has the thresholds."""

    sinks: Annotated[tuple[Literal["log", "webhook"], ...], BeforeValidator(as_list)] = ()
    """`log`, `webhook`, or a list of both; `none` or an empty list: nobody is told anything."""
    except_kinds: tuple[NotificationKind, ...] = ()
    """Kinds that nobody is told of."""
    hysteresis: int = Field(default=5, ge=0, le=50)
    """Once `quota_used` was told, usage must fall by so many percent of the quota below the threshold before it is told
    again."""
    log: AuditLogSettings = AuditLogSettings()
    webhook: WebhookSettings = WebhookSettings()
    interval: Seconds = 60.0
    """Between two looks for what is to be told."""
    retry: Seconds = 10.0
    """First pause after a sink did not answer; it doubles up to `retry_max`."""
    retry_max: Seconds = 600.0
    """Longest pause between two tries."""
    delivered_retention: Seconds = 7 * 86400.0
    """How long notifications are kept after their delivery."""

    @model_validator(mode="after")
    def _can_be_delivered(self) -> "NotificationSettings":
        if len(set(self.sinks)) < len(self.sinks):
            raise ValueError("a sink is given twice")
        if "webhook" in self.sinks:
            if not self.webhook.url:
                raise ValueError("the sink webhook needs webhook.url")
            if len(self.webhook.secret or "") < 16:
                raise ValueError("the sink webhook needs webhook.secret, of at least 16 characters")
        return self
