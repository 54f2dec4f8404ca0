"""Where audit events, notifications and metrics go: whether each sink would take them now, whether recipients can be
found and templates work, and the folder of the workers' metrics. Nothing is sent."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from limes.audit.sinks.log import LogSink
from limes.audit.sinks.webhook import WebhookSink
from limes.backends.breaker import within
from limes.composition.collector import open_sink
from limes.composition.identity import open_cloud
from limes.composition.mails import open_mailer, open_users
from limes.composition.notify_commands import template_problems
from limes.doctor.finding import Context, Finding, ok, problem, skipped, warning
from limes.errors import BackendOutage, LimesError
from limes.outgoing import GuardedSession
from limes.settings.mails import MailSettings

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_AUDIT = {
    "log": "make the folder of audit.log.path, and let our user write there",
    "rabbitmq": "correct audit.rabbitmq.url and LIMES_AUDIT_RABBITMQ_PASSWORD, or start the broker",
}
_NOTIFICATIONS = {
    "log": "make the folder of notifications.log.path, and let our user write there",
    "webhook": "correct notifications.webhook.url, or start the receiver",
    "smtp": "correct notifications.smtp and LIMES_NOTIFICATIONS_SMTP_PASSWORD, or start the mail server",
    "mail_api": "correct notifications.mail_api.endpoint, or start the service",
}


def check_audit(context: Context) -> Iterator[Finding]:
    """Whether each sink would take events now."""
    audit = context.settings.audit
    if not audit.sinks:
        yield skipped("audit", "audit.sinks names none, so nobody is told of changes")
    for name in audit.sinks:
        error = _try(context, open_sink(name, audit).try_out)
        yield _judge(f"audit.{name}", f"the sink {name}", "events", error, _AUDIT[name])


def check_notifications(context: Context) -> Iterator[Finding]:
    """Everything that the section `notifications` leads to."""
    section = context.settings.notifications
    if not section.sinks:
        yield skipped("notifications", "notifications.sinks names none, so nobody is told what needs somebody")
        return
    for name in section.sinks:
        error = _try(context, _trial(context, name))
        yield _judge(f"notifications.{name}", f"the sink {name}", "notifications", error, _NOTIFICATIONS[name])
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


def _judge(check: str, sink: str, things: str, error: str | None, mend: str) -> Finding:
    if error is None:
        return ok(check, f"{sink} takes {things}")
    return problem(check, f"{sink} does not take {things}: {error}", mend)


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


def check_metrics_folder(context: Context) -> Iterator[Finding]:
    """Whether the folder is there, and can be written."""
    configured = context.environ.get(_VARIABLE)
    name, folder = "metrics.folder", Path(configured or context.environ.get("TMPDIR") or tempfile.gettempdir())
    text = f"{_VARIABLE} is {folder}" if configured else f"metrics of workers go to a new folder in {folder}"
    if not folder.is_dir():
        yield problem(name, f"{text}, which is no folder", f"mkdir -p {folder}, for each API one of its own")
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield problem(name, f"{text}, which our user cannot write", f"chown {folder} to the user that runs Limes")
    else:
        yield ok(name, text)
