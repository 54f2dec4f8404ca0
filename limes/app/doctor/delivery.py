"""Where audit events, notifications and metrics go: whether each sink would take them now, whether recipients can be
found and templates work, and the folder of the workers' metrics. Nothing is sent."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from limes.app.composition import cluster, collector, mails
from limes.app.doctor.context import Context
from limes.app.doctor.warnings import template_problems
from limes.audit.sinks import LogSink, WebhookSink
from limes.backends.breaker import within
from limes.kernel.errors import BackendOutage, LimesError
from limes.kernel.findings import Finding, ok, problem, skipped, warning
from limes.kernel.outgoing import GuardedSession
from limes.notifications.settings import MailSettings

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
    audit = context.settings.audit
    if not audit.sinks:
        yield skipped("audit", "audit.sinks names none, so changes are not reported anywhere")
    for name in audit.sinks:
        yield _judge(context, f"audit.{name}", "events", collector.open_sink(name, audit).try_out, _AUDIT[name])


def check_notifications(context: Context) -> Iterator[Finding]:
    section = context.settings.notifications
    if not section.sinks:
        yield skipped("notifications", "notifications.sinks names none, so no notifications are sent")
        return
    for name in section.sinks:
        yield _judge(context, f"notifications.{name}", "notifications", _trial(context, name), _NOTIFICATIONS[name])
    if "smtp" in section.sinks:
        yield _recipients(context, section.mail)
    if {"smtp", "mail_api"} & set(section.sinks):
        check, problems = "notifications.templates", template_problems(section.mail)
        mend = "correct the file, or remove it; `limes notify preview` shows mails"
        yield from (warning(check, text, mend) for text in problems)
        if not problems:
            yield ok(check, "mails of all kinds can be rendered")


def _trial(context: Context, name: str) -> Callable[[], str | None]:
    section = context.settings.notifications
    if name == "log":
        return LogSink(section.log.path).try_out
    if name == "webhook":
        timeout = min(section.webhook.timeout, context.timeout)
        return WebhookSink(section.webhook.url, "", GuardedSession(), context.clock, timeout).try_out
    return mails.open_mailer(name, section, cluster.open_cloud(context.settings)).try_out


def _judge(context: Context, check: str, things: str, trial: Callable[[], str | None], mend: str) -> Finding:
    sink = f"the sink {check.partition('.')[2]}"
    if (error := _try(context, trial)) is not None:
        return problem(check, f"{sink} does not take {things}: {error}", mend)
    return ok(check, f"{sink} takes {things}")


def _try(context: Context, trial: Callable[[], str | None]) -> str | None:
    """Returns what is wrong, if anything is."""
    try:
        return within(context.timeout, trial)
    except (BackendOutage, LimesError) as error:
        return str(error)


def _recipients(context: Context, mail: MailSettings) -> Finding:
    name = "notifications.recipients"
    users = mails.open_users(context.settings, cluster.open_cloud(context.settings), context.clock)
    by_role = any(rule.roles_on_project or rule.roles_on_domain for rule in mail.recipients)
    if not mail.recipients:
        return warning(name, "notifications.mail.recipients is empty", "name those who are to get mail")
    if by_role and users is None:
        text = "recipients are named by their roles, but without Keystone nobody knows who has them"
        return warning(name, text, "give addresses, or set identity.method to keystone")
    if by_role and users is not None and (error := _try(context, users.try_out)):
        text = f"recipients cannot be found by their roles: {error}"
        return problem(name, text, "give our user a role that may list role assignments")
    return ok(name, f"{len(mail.recipients)} rules say who gets mail")


def check_metrics_folder(context: Context) -> Iterator[Finding]:
    configured = context.environ.get(_VARIABLE)
    name, folder = "metrics.folder", Path(configured or context.environ.get("TMPDIR") or tempfile.gettempdir())
    text = f"{_VARIABLE} is {folder}" if configured else f"metrics of workers go to a new folder in {folder}"
    if not folder.is_dir():
        yield problem(name, f"{text}, which is no folder", f"mkdir -p {folder}, for each API one of its own")
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield problem(name, f"{text}, which our user cannot write", f"chown {folder} to the user that runs Limes")
    else:
        yield ok(name, text)
