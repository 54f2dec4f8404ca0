"""Notifications: whether each sink would take them now, whether recipients can be found, and whether templates work.

Nothing is sent.
"""

from collections.abc import Callable, Iterator

from limes.audit.sinks.log import LogSink
from limes.audit.sinks.webhook import WebhookSink
from limes.backends.timeouts import within
from limes.composition.identity import open_cloud
from limes.composition.mails import open_mailer, open_users
from limes.composition.notify_commands import template_problems
from limes.doctor.finding import Context, Finding, ok, problem, skipped, warning
from limes.errors import BackendOutage, LimesError
from limes.outgoing import GuardedSession
from limes.settings.mails import MailSettings

_MEND = {
    "log": "make the folder of notifications.log.path, and let our user write there",
    "webhook": "correct notifications.webhook.url, or start the receiver",
    "smtp": "correct notifications.smtp and LIMES_NOTIFICATIONS_SMTP_PASSWORD, or start the mail server",
    "mail_api": "correct notifications.mail_api.endpoint, or start the service",
}


def check(context: Context) -> Iterator[Finding]:
    """Everything that the section `notifications` leads to."""
    section = context.settings.notifications
    if not section.sinks:
        yield skipped("notifications", "notifications.sinks names none, so nobody is told what needs somebody")
        return
    for name in section.sinks:
        error = _try(context, _trial(context, name))
        if error is None:
            yield ok(f"notifications.{name}", f"the sink {name} takes notifications")
        else:
            yield problem(f"notifications.{name}", f"the sink {name} does not take notifications: {error}", _MEND[name])
    if "smtp" in section.sinks:
        yield from _recipients(context, section.mail)
    if {"smtp", "mail_api"} & set(section.sinks):
        yield from _templates(section.mail)


def _trial(context: Context, name: str) -> Callable[[], str | None]:
    section = context.settings.notifications
    if name == "log":
        return LogSink(section.log.path).try_out
    if name == "webhook":
        webhook = section.webhook
        return WebhookSink(
            webhook.url, "", GuardedSession(), context.clock, min(webhook.timeout, context.timeout)
        ).try_out
    return open_mailer(name, section, open_cloud(context.settings)).try_out


def _try(context: Context, trial: Callable[[], str | None]) -> str | None:
    try:
        return within(context.timeout, trial)
    except (BackendOutage, LimesError) as error:
        return str(error)


def _recipients(context: Context, mail: MailSettings) -> Iterator[Finding]:
    name = "notifications.recipients"
    users = open_users(context.settings, open_cloud(context.settings), context.clock)
    by_role = any(rule.roles_on_project or rule.roles_on_domain for rule in mail.recipients)
    if not mail.recipients:
        yield warning(name, "notifications.mail.recipients is empty", "name those who are to get mail")
    elif by_role and users is None:
        text = "recipients are named by their roles, but without Keystone nobody knows who has them"
        yield warning(name, text, "give addresses, or set identity.method to keystone")
    elif by_role and users is not None and (error := _try(context, users.try_out)):
        yield problem(
            name,
            f"recipients cannot be found by their roles: {error}",
            "give our user a role that may list role assignments",
        )
    else:
        yield ok(name, f"{len(mail.recipients)} rules say who gets mail")


def _templates(mail: MailSettings) -> Iterator[Finding]:
    problems = template_problems(mail)
    for text in problems:
        yield warning(
            "notifications.templates", text, "correct the file, or remove it; `limes notify preview` shows mails"
        )
    if not problems:
        yield ok("notifications.templates", "mails of all kinds can be rendered")
