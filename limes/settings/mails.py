"""Notifications as mail: the servers, the templates, and who gets them."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from limes.validation.durations import Seconds, SecondsOrZero
from limes.validation.sections import ConfigPath, Regex, Section, is_loopback

NotificationKind = Literal[
    "backend_unreachable",
    "capacity_drop",
    "usage_above_quota",
    "quota_used",
    "auto_renewal_failed",
    "commitment_unconfirmed",
    "commitment_expires",
    "commitment_confirmed",
    "commitment_renewed",
    "temporary_quota_over",
    "temporary_quota_waits",
    "temporary_quota_ends",
    "temporary_quota_ended",
    "request_opened",
    "request_decided",
    "request_passed_on",
    "request_waiting",
]

_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


def _address(value: str) -> str:
    if not _ADDRESS.fullmatch(value):
        raise ValueError("expected a mail address, such as somebody@example.com")
    return value


Address = Annotated[str, AfterValidator(_address)]


def _language(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", value):
        raise ValueError("expected a language, such as en or pt-BR")
    return value


Language = Annotated[str, AfterValidator(_language)]


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


class RecipientSettings(Section):
    """Who gets some of the mails. All of the conditions have to hold."""

    addresses: tuple[Address, ...] = ()
    """These addresses, which may be those of mailing lists."""
    roles_on_project: tuple[str, ...] = ()
    """Users with one of these roles on the project, at the address that Keystone has for them."""
    roles_on_domain: tuple[str, ...] = ()
    """Users with one of these roles on the domain, which for a project is that of the project."""
    domain: Regex | None = None
    """Only domains whose whole name matches."""
    project: Regex | None = None
    """Only projects whose whole name matches."""
    levels: tuple[Literal["cloud", "domain", "project"], ...] = ()
    """Only notifications about the cloud (such as `backend_unreachable`), about domains, or about projects."""
    kinds: tuple[NotificationKind, ...] = ()
    """Only these kinds. Empty: all but `request_...`, which have to be named."""
    language: Language | None = None
    """Overrides the language of the domain."""

    @model_validator(mode="after")
    def _names_somebody(self) -> "RecipientSettings":
        if not (self.addresses or self.roles_on_project or self.roles_on_domain):
            raise ValueError("expected at least one of addresses, roles_on_project and roles_on_domain")
        return self


class LanguageSettings(Section):
    """The language of mails about some domains and their projects."""

    domain: Regex
    """Matches the whole name."""
    language: Language
    """The name of a folder of templates."""


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
    languages: tuple[LanguageSettings, ...] = ()
    """The first that matches the domain wins."""
    link: str = Field(default="", pattern=r"^(https?://[^/]+.*)?$")
    """The dashboard's address, for mails. Empty: mails have no link to it."""
    recipients: tuple[RecipientSettings, ...] = ()
    """Who gets mails of the sink `smtp`. All that match count, and nobody gets a mail twice."""
    to_requester: bool = True
    """Whether the one who asked for quota is told of the decision, at the address that Keystone has for the user."""
    digest: SecondsOrZero = 86400.0
    """Each recipient gets at most one mail of each kind in this time; what comes in between is sent as one. 0: what
    comes together is still sent as one."""
    urgent: tuple[NotificationKind, ...] = (
        "backend_unreachable",
        "capacity_drop",
        "request_opened",
        "request_decided",
        "request_passed_on",
    )
    """Kinds that do not wait for `digest`: they are sent at once, and then those of the next `gather` as one."""
    gather: SecondsOrZero = 60.0
    """How long kinds that are not urgent are kept, so that what comes together is sent together."""
    give_up: Seconds = 5 * 86400.0
    """How long a mail is tried again that the server refuses for now. It is dropped then, and the log says so."""
    email_attribute: str = Field(default="email", min_length=1)
    """The attribute of Keystone's users that holds the address."""
    users_at_most: int = Field(default=50, ge=1, le=1000)
    """So many users of a project or domain are asked for at Keystone, in the order of their names."""
    user_cache: Seconds = 3600.0
    """How long Keystone's answers about users and roles are kept."""
    unsubscribe: UnsubscribeSettings = UnsubscribeSettings()

    @model_validator(mode="after")
    def _links_are_signed(self) -> "MailSettings":
        if self.unsubscribe.url and len(self.unsubscribe.secret or "") < 16:
            raise ValueError("unsubscribe.url needs unsubscribe.secret, of at least 16 characters")
        return self
