"""Who is notified of what needs attention: the sinks; and for mail the servers, the templates, and who gets them."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from limes.audit.settings import AuditLogSettings, as_list
from limes.kernel.validation.durations import Seconds, SecondsOrZero
from limes.kernel.validation.sections import ConfigPath, Section, is_loopback
from limes.notifications.rules import Address, Language, LanguageRule, NotificationKind, Place, RecipientRule
from limes.notifications.targets import ProjectWebhookSettings

SinkName = Literal["log", "webhook", "smtp", "mail_api"]
MAIL_SINKS = ("smtp", "mail_api")


class WebhookSettings(Section):
    """The sink `webhook`: a POST for each notification, with a signature."""

    url: str = Field(default="", pattern=r"^(https?://[^/]+.*)?$", repr=False)
    """Where notifications are sent to. Answers from 200 to 299 mean that a notification has arrived."""
    secret: str | None = Field(default=None, repr=False)
    """The key of the signatures, at least 16 characters. Environment: `LIMES_NOTIFICATIONS_WEBHOOK_SECRET`."""
    timeout: Seconds = 10.0
    """How long the receiver may take to answer."""
    at_most_per_minute: int = Field(default=30, ge=1)
    """How many notifications a minute about a domain and its projects are sent one by one. Beyond that, those that wait
    are sent together, every 10 seconds."""


class SmtpSettings(Section):
    """The sink `smtp`: a mail server that accepts mail from us."""

    host: str = Field(default="", pattern=r"^[A-Za-z0-9.:-]*$")
    """The server's name, which its certificate has to have, or its address."""
    port: int = Field(default=587, ge=1, le=65535)
    """587 for STARTTLS, 465 for TLS, as a rule."""
    security: Literal["starttls", "tls", "none"] = "starttls"
    """`starttls` (port 587), `tls` (port 465), or `none`. A server without encryption is refused with the first two."""
    cacert: ConfigPath | None = None
    """A file with the certificates that the server's is signed by; null means the system's."""
    username: str | None = None
    """Without it, Limes does not log in."""
    password: str | None = Field(default=None, repr=False)
    """Environment: `LIMES_NOTIFICATIONS_SMTP_PASSWORD`."""
    sender: Address | None = None
    """The address that mails come from."""
    sender_name: str = Field(default="Limes", max_length=100, pattern=r"^[^\r\n\x00]*$")
    """The name that mail programs show for it."""
    reply_to: Address | None = None
    """Where answers go to; null: to the sender."""
    timeout: Seconds = 30.0
    """How long the server may take for each answer."""

    def problem(self) -> str | None:
        """Returns what is missing for this sink to be used."""
        if not self.host or self.sender is None:
            return "the sink smtp needs smtp.host and smtp.sender"
        if (self.username is None) != (not self.password):
            return "smtp.username and smtp.password (LIMES_NOTIFICATIONS_SMTP_PASSWORD) go together"
        if self.username is not None and self.security == "none" and not is_loopback(f"{self.host}:0"):
            return "smtp.security: none would send the password without encryption; use starttls or tls"
        return None


class MailApiSettings(Section):
    """The sink `mail_api`: an HTTP service that finds the recipients of a project by itself, as the original Limes uses
    it."""

    endpoint: str = Field(default="", pattern=r"^(https?://[^/]+.*)?$")
    """Mails are posted to `v1/send-email` below it, with our token."""
    timeout: Seconds = 30.0
    """How long an answer may take."""


class UnsubscribeSettings(Section):
    """Links in mails with which recipients unsubscribe from a kind of mail, without signing in."""

    url: str = Field(default="", pattern=r"^(https?://[^/]+.*)?$")
    """The Limes API as the recipients' browsers reach it, without `/v1`. Empty: mails have no such links."""
    secret: str | None = Field(default=None, repr=False)
    """The key of the signatures in the links, at least 16 characters. Links of an earlier key stop working.
    Environment: `LIMES_NOTIFICATIONS_UNSUBSCRIBE_SECRET`."""


class MailSettings(Section):
    """Notifications as mail, for the sinks `smtp` and `mail_api`."""

    templates: ConfigPath | None = None
    """A folder with own templates, in one folder for each language. What is not in it is taken from Limes."""
    language: Language = "en"
    """The language of mails where nothing else says so, and of templates that another language lacks."""
    languages: tuple[LanguageRule, ...] = ()
    """The first that matches the domain wins."""
    link: str = Field(default="", pattern=r"^(https?://[^/]+.*)?$")
    """The dashboard's address, for mails. Empty: mails have no link to it."""
    recipients: tuple[RecipientRule, ...] = ()
    """Who gets mails of the sink `smtp`. All entries that match count, and nobody gets a mail twice."""
    to_requester: bool = True
    """Whether requesters are notified of the decision, at the address that Keystone has for them."""
    digest: SecondsOrZero = 86400.0
    """Each recipient gets at most one mail of each kind in this time; notifications in between are sent as one. 0:
    ones that come together are still sent as one."""
    urgent: tuple[NotificationKind, ...] = (
        "backend_unreachable",
        "capacity_drop",
        "request_proposed",
        "request_confirmed",
        "request_opened",
        "request_decided",
        "request_passed_on",
    )
    """Kinds that do not wait for `digest`: they are sent at once, and then those of the next `gather` as one."""
    gather: SecondsOrZero = 60.0
    """How long notifications that are not urgent are held back, so that several are sent as one mail."""
    give_up: Seconds = 5 * 86400.0
    """How long a mail that the server refuses temporarily is tried again. Then it is dropped, and the log says so."""
    email_attribute: str = Field(default="email", min_length=1)
    """The attribute of Keystone's users that holds the address."""
    users_at_most: int = Field(default=50, ge=1, le=1000)
    """How many users of a project or domain Limes looks up in Keystone, in order of name."""
    user_cache: Seconds = 3600.0
    """How long Keystone's answers about users and roles are kept."""
    unsubscribe: UnsubscribeSettings = UnsubscribeSettings()

    @model_validator(mode="after")
    def _links_are_signed(self) -> "MailSettings":
        if self.unsubscribe.url and len(self.unsubscribe.secret or "") < 16:
            raise ValueError("unsubscribe.url needs unsubscribe.secret, of at least 16 characters")
        return self

    def language_of(self, place: Place) -> str:
        """Returns the language of mails about a project or domain."""
        return next((rule.language for rule in self.languages if rule.matches(place)), self.language)


class NotificationSettings(Section):
    """Notifications about alerts and commitments. `alerts` has the thresholds."""

    sinks: Annotated[tuple[SinkName, ...], BeforeValidator(as_list)] = ()
    """One or several of `log`, `webhook`, `smtp` and `mail_api`; `none` or an empty list: no notifications."""
    except_kinds: tuple[NotificationKind, ...] = ()
    """Kinds for which no notifications are sent."""
    hysteresis: int = Field(default=5, ge=0, le=50)
    """After a notification `quota_used`, usage must fall below the threshold by this percentage of the quota before the
    next one is sent."""
    log: AuditLogSettings = AuditLogSettings()
    webhook: WebhookSettings = WebhookSettings()
    smtp: SmtpSettings = SmtpSettings()
    mail_api: MailApiSettings = MailApiSettings()
    mail: MailSettings = MailSettings()
    request_waiting: Seconds = 3 * 86400.0
    """How long a quota request has to be open before `request_waiting` is sent, once."""
    project_webhooks: ProjectWebhookSettings = ProjectWebhookSettings()
    interval: Seconds = 60.0
    """How often to look for new notifications."""
    retry: Seconds = 10.0
    """First pause after a sink did not answer; it doubles up to `retry_max`."""
    retry_max: Seconds = 600.0
    """Longest pause between two tries."""
    delivered_retention: Seconds = 7 * 86400.0
    """How long notifications are kept after their delivery."""

    @property
    def has_receivers(self) -> bool:
        """Whether anybody may want notifications."""
        return bool(self.sinks or self.project_webhooks.allowed_hosts)

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
