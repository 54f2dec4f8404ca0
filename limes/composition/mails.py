"""From the configuration to mail servers, templates and recipients. Nothing is opened or asked yet."""

from urllib.parse import urlsplit

from limes.actions.mail_recipients import MailPreferences, Recipients
from limes.actions.send_mails import Contents
from limes.auth.session import CloudSession
from limes.db.engine import Engine
from limes.mail.keystone_users import KeystoneUsers
from limes.mail.mailer import Mailer, Unsubscribe
from limes.mail.servers import MailApi, SmtpMailer
from limes.mail.templates import KINDS, Templates
from limes.settings import Settings
from limes.settings.notifications import MailSettings, NotificationSettings
from limes.system import Clock

_SESSION = 0.8
"""The share of a lease after which a connection is cut."""
MAIL_SINKS = ("smtp", "mail_api")


def open_mailer(sink: str, section: NotificationSettings, cloud: CloudSession, lease: float = 300.0) -> Mailer:
    """Returns the server of a sink. `lease`, in seconds, is that of the job which sends mails."""
    if sink == "mail_api":
        api = section.mail_api
        return MailApi(cloud.adapter("mail", api.endpoint.rstrip("/"), timeout=api.timeout))
    return SmtpMailer(section.smtp, _SESSION * lease)


def open_recipients(sink: str, settings: Settings, cloud: CloudSession, clock: Clock) -> Recipients:
    """Returns who gets the mails of a sink."""
    mail = settings.notifications.mail
    by_project = sink == "mail_api"
    return Recipients(mail, None if by_project else open_users(settings, cloud, clock), by_project)


def open_users(settings: Settings, cloud: CloudSession, clock: Clock) -> KeystoneUsers | None:
    """Returns what knows the addresses of users; None without Keystone."""
    if settings.identity.method != "keystone":
        return None
    mail = settings.notifications.mail
    adapter = cloud.adapter("identity", min_version=(3, 0))
    return KeystoneUsers(adapter, clock, mail.email_attribute, mail.users_at_most, mail.user_cache, cloud.gate.admit)


def open_mail_settings(settings: Settings, engine: Engine, cloud: CloudSession, clock: Clock) -> MailPreferences | None:
    """Returns the use cases with which users choose their mails; None if they get none."""
    section = settings.notifications
    if "smtp" not in section.sinks:
        return None
    kinds = [kind for kind in KINDS if kind not in section.except_kinds]
    return MailPreferences(engine, clock, kinds, open_users(settings, cloud, clock))


def mail_contents(mail: MailSettings) -> Contents:
    """Returns what mails look like."""
    return Contents(Templates(mail.templates, mail.language), mail.link, unsubscribe_links(mail))


def unsubscribe_links(mail: MailSettings) -> Unsubscribe | None:
    """Returns what makes and reads links to unsubscribe; None if there are none."""
    section = mail.unsubscribe
    return Unsubscribe(section.url, section.secret or "") if section.url and urlsplit(section.url).netloc else None
