"""Who is told of what needs somebody."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from limes.settings.audit import AuditLogSettings, as_list
from limes.settings.mails import MailApiSettings, MailSettings, NotificationKind, SmtpSettings
from limes.validation.durations import Seconds
from limes.validation.sections import Section

SinkName = Literal["log", "webhook", "smtp", "mail_api"]


class WebhookSettings(Section):
    """The sink `webhook`: a POST for each notification, with a signature."""

    url: str = Field(default="", pattern=r"^(https?://[^/]+.*)?$", repr=False)
    """Where notifications are sent to. Answers from 200 to 299 mean that a notification has arrived."""
    secret: str | None = Field(default=None, repr=False)
    """The key of the signatures, at least 16 characters. Environment: `LIMES_NOTIFICATIONS_WEBHOOK_SECRET`."""
    timeout: Seconds = 10.0
    """How long the receiver may take to answer."""
    at_most_per_minute: int = Field(default=30, ge=1)
    """So many notifications a minute about a domain and its projects are sent singly. Beyond that, those that wait are
    sent together, every 10 seconds."""


class NotificationSettings(Section):
    """Notifications about alerts and commitments. `alerts` has the thresholds."""

    sinks: Annotated[tuple[SinkName, ...], BeforeValidator(as_list)] = ()
    """One or several of `log`, `webhook`, `smtp` and `mail_api`; `none` or an empty list: nobody is told anything."""
    except_kinds: tuple[NotificationKind, ...] = ()
    """Kinds that nobody is told of."""
    hysteresis: int = Field(default=5, ge=0, le=50)
    """Once `quota_used` was told, usage must fall by so many percent of the quota below the threshold before it is told
    again."""
    log: AuditLogSettings = AuditLogSettings()
    webhook: WebhookSettings = WebhookSettings()
    smtp: SmtpSettings = SmtpSettings()
    mail_api: MailApiSettings = MailApiSettings()
    mail: MailSettings = MailSettings()
    request_waiting: Seconds = 3 * 86400.0
    """How long a request for quota has been open when `request_waiting` is told, once."""
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
        problems = []
        if len(set(self.sinks)) < len(self.sinks):
            problems.append("a sink is given twice")
        if "webhook" in self.sinks and not self.webhook.url:
            problems.append("the sink webhook needs webhook.url")
        if "webhook" in self.sinks and len(self.webhook.secret or "") < 16:
            problems.append("the sink webhook needs webhook.secret, of at least 16 characters")
        if "smtp" in self.sinks and (problem := self.smtp.problem()):
            problems.append(problem)
        if "mail_api" in self.sinks and not self.mail_api.endpoint:
            problems.append("the sink mail_api needs mail_api.endpoint")
        if problems:
            raise ValueError("; ".join(problems))
        return self
