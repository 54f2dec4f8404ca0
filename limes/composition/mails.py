"""From the configuration to mail servers, templates and recipients. Nothing is opened or asked yet."""

from urllib.parse import urlsplit

from limes.actions.mails.mail_settings import MailSettings
from limes.actions.mails.queue_mails import Languages, ProjectItself, Recipients
from limes.actions.mails.send_mails import Contents
from limes.auth.session import CloudSession
from limes.core.notifications import LanguageRule, Level, RecipientRule
from limes.db.engine import Engine
from limes.mail.keystone_users import KeystoneUsers
from limes.mail.mail_api import MailApi
from limes.mail.mailer import Mailer
from limes.mail.samples import KINDS
from limes.mail.smtp import Sender, SmtpMailer, SmtpServer
from limes.mail.templates import Templates
from limes.mail.unsubscribe import Unsubscribe
from limes.settings import Settings
from limes.settings.mails import MailSettings as MailSection
from limes.settings.notifications import NotificationSettings
from limes.system import Clock

_SESSION = 0.8
"""The share of a lease after which a connection is cut."""
MAIL_SINKS = ("smtp", "mail_api")


def open_mailer(sink: str, section: NotificationSettings, cloud: CloudSession, lease: float = 300.0) -> Mailer:
    """Returns the server of a sink. `lease`, in seconds, is that of the job which sends mails."""
    if sink == "mail_api":
        api = section.mail_api
        return MailApi(cloud.adapter("mail", api.endpoint.rstrip("/"), timeout=api.timeout))
    smtp = section.smtp
    server = SmtpServer(smtp.host, smtp.port, smtp.security, smtp.username, smtp.password, smtp.cacert, smtp.timeout)
    return SmtpMailer(server, Sender(smtp.sender or "", smtp.sender_name, smtp.reply_to), _SESSION * lease)


def open_recipients(sink: str, settings: Settings, cloud: CloudSession, clock: Clock) -> Recipients | ProjectItself:
    """Returns who gets the mails of a sink."""
    mail = settings.notifications.mail
    languages = Languages(mail.language, [LanguageRule(each.domain, each.language) for each in mail.languages])
    if sink == "mail_api":
        return ProjectItself(languages)
    rules = [
        RecipientRule(
            each.addresses,
            each.roles_on_project,
            each.roles_on_domain,
            each.domain,
            each.project,
            [Level(level) for level in each.levels],
            frozenset(each.kinds),
            each.language or "",
        )
        for each in mail.recipients
    ]
    return Recipients(rules, languages, open_users(settings, cloud, clock), mail.to_requester)


def open_users(settings: Settings, cloud: CloudSession, clock: Clock) -> KeystoneUsers | None:
    """Returns what knows the addresses of users; None without Keystone."""
    if settings.identity.method != "keystone":
        return None
    mail = settings.notifications.mail
    adapter = cloud.adapter("identity", min_version=(3, 0))
    return KeystoneUsers(adapter, clock, mail.email_attribute, mail.users_at_most, mail.user_cache, cloud.gate.admit)


def open_mail_settings(settings: Settings, engine: Engine, cloud: CloudSession, clock: Clock) -> MailSettings | None:
    """Returns the use cases with which users choose their mails; None if they get none."""
    section = settings.notifications
    if "smtp" not in section.sinks:
        return None
    kinds = [kind for kind in KINDS if kind not in section.except_kinds]
    return MailSettings(engine, clock, kinds, open_users(settings, cloud, clock))


def mail_contents(mail: MailSection) -> Contents:
    """Returns what mails look like."""
    return Contents(Templates(mail.templates, mail.language), mail.link, unsubscribe_links(mail))


def unsubscribe_links(mail: MailSection) -> Unsubscribe | None:
    """Returns what makes and reads links to unsubscribe; None if there are none."""
    section = mail.unsubscribe
    return Unsubscribe(section.url, section.secret or "") if section.url and urlsplit(section.url).netloc else None
