"""From the section `notifications` to jobs, mail servers, templates and recipients. Nothing is opened or asked yet."""

import logging
from functools import partial
from urllib.parse import urlsplit

from prometheus_client.registry import Collector as MetricSource

from limes.app.composition.cluster import open_cloud
from limes.app.context import Limes
from limes.app.settings import Settings
from limes.audit.sinks import LogSink, Sink, WebhookSink
from limes.auth.session import CloudSession
from limes.auth.without_keystone import SampleIdentities
from limes.collector.loop import Job, counted
from limes.db.engine import Engine
from limes.kernel.metrics import OutcomeCounter
from limes.kernel.outgoing import GuardedSession
from limes.kernel.system import Clock
from limes.notifications import deliver, metrics, outbox, project_posts, recipients, rules, send_mails
from limes.notifications.mail import keystone_users, templates
from limes.notifications.mail.mailer import Mailer, Unsubscribe
from limes.notifications.settings import MAIL_SINKS, MailSettings, NotificationSettings
from limes.projects.claims import run_if_due
from limes.reports.notify import notify
from limes.requests import deciders, lists

_SESSION = 0.8
"""The share of a lease after which a connection is cut."""


def open_mailer(sink: str, section: NotificationSettings, cloud: CloudSession, lease: float = 300.0) -> Mailer:
    """Returns the server of a sink. `lease`, in seconds, is that of the job which sends mails."""
    from limes.notifications.mail import servers  # rarely needed

    if sink == "mail_api":
        api = section.mail_api
        return servers.MailApi(cloud.adapter("mail", api.endpoint.rstrip("/"), timeout=api.timeout))
    return servers.SmtpMailer(section.smtp, _SESSION * lease)


def open_recipients(sink: str, settings: Settings, cloud: CloudSession, clock: Clock) -> recipients.Recipients:
    """Returns who gets the mails of a sink."""
    mail = settings.notifications.mail
    by_project = sink == "mail_api"
    return recipients.Recipients(mail, None if by_project else open_users(settings, cloud, clock), by_project)


def open_users(settings: Settings, cloud: CloudSession, clock: Clock) -> keystone_users.KeystoneUsers | None:
    """Returns what knows the addresses of users; None without Keystone."""
    if settings.identity.method != "keystone":
        return None
    mail = settings.notifications.mail
    adapter = cloud.adapter("identity", min_version=(3, 0))
    return keystone_users.KeystoneUsers(
        adapter, clock, mail.email_attribute, mail.users_at_most, mail.user_cache, cloud.gate.admit
    )


_NAMED_AT_MOST = 10
_NAMED_FOR = 300.0
"""How many users are shown to others, and for how many seconds they are kept."""


def open_people(settings: Settings, cloud: CloudSession, clock: Clock) -> deciders.People | None:
    """Returns what knows who has which roles; None if nothing does."""
    if settings.identity.method == "sample":
        return deciders.SamplePeople(SampleIdentities(settings.identity.sample).identities)
    if settings.identity.method != "keystone":
        return None
    adapter = cloud.adapter("identity", min_version=(3, 0))
    return keystone_users.KeystoneUsers(adapter, clock, at_most=_NAMED_AT_MOST, ttl=_NAMED_FOR, admit=cloud.gate.admit)


def open_mail_settings(
    settings: Settings, engine: Engine, cloud: CloudSession, clock: Clock
) -> recipients.MailPreferences | None:
    """Returns the use cases with which users choose their mails; None if they get none."""
    section = settings.notifications
    if "smtp" not in section.sinks:
        return None
    kinds = [kind for kind in templates.KINDS if kind not in section.except_kinds]
    return recipients.MailPreferences(engine, clock, kinds, open_users(settings, cloud, clock))


def mail_contents(mail: MailSettings) -> send_mails.Contents:
    return send_mails.Contents(templates.Templates(mail.templates, mail.language), mail.link, unsubscribe_links(mail))


def unsubscribe_links(mail: MailSettings) -> Unsubscribe | None:
    """Returns what makes and reads links to unsubscribe; None if there are none."""
    section = mail.unsubscribe
    return Unsubscribe(section.url, section.secret or "") if section.url and urlsplit(section.url).netloc else None


def notification_jobs(limes: Limes) -> tuple[list[Job], list[MetricSource]]:
    """Returns one job that decides which notifications to send, and one or two for each sink; none without sinks. Also
    returns their counters. Nothing is opened yet."""
    section = limes.settings.notifications
    own_webhooks = [rules.PROJECTS] if section.project_webhooks.allowed_hosts else []
    runs = OutcomeCounter(
        "limes_notification_runs", "Runs of the job that decides which notifications to send", (), [()]
    )
    deliveries = OutcomeCounter(
        "limes_notification_deliveries",
        "Looks for notifications to deliver to a sink; failure if it refused one or did not answer",
        ("sink",),
        [(rules.PREFIX + name,) for name in (*section.sinks, *own_webhooks)],
    )
    mail_sinks = [name for name in section.sinks if name in MAIL_SINKS]
    mails = metrics.MailCounters(mail_sinks)
    jobs: list[Job] = []
    if section.has_receivers:
        run = partial(run_if_due, limes, "notifications", notify, section.interval)
        jobs.append(Job("notifications", counted(run, runs.count)))
    cloud = open_cloud(limes.settings) if mail_sinks else None
    for name in section.sinks:
        sink = _open_sink(name, limes, cloud)
        delivery = deliver.DeliverEvents(limes, sink, section, what="notification", job=rules.PREFIX + name)
        count = partial(_count_round, deliveries, rules.PREFIX + name)
        jobs.append(Job(delivery.name, counted(delivery.run_if_due, count)))
        if cloud is not None and name in MAIL_SINKS:
            mailer = open_mailer(name, section, cloud, limes.lease)
            send = send_mails.SendMails(limes, name, mailer, mail_contents(section.mail))
            jobs.append(Job(send.name, counted(send.run_if_due, partial(mails.count, name))))
    if section.project_webhooks.allowed_hosts:
        own = _deliveries_to_projects(limes)
        jobs.append(Job(own.name, counted(own.run_if_due, partial(_count_round, deliveries, own.name))))
    return jobs, [runs, deliveries, mails]


def _deliveries_to_projects(limes: Limes) -> deliver.DeliverEvents:
    posts = outbox.BoundPosts(limes, project_posts.ProjectPosts(limes), lists.closed_without_decision, by_project=True)
    # what a project's receiver refuses is for the project to see, and no error of this cloud
    return deliver.DeliverEvents(
        limes, posts, limes.settings.notifications, what="notification", job=posts.name, refusals=logging.INFO
    )


def _count_round(deliveries: OutcomeCounter, sink: str, outcome: deliver.DeliveryResult) -> None:
    deliveries.count(not outcome.refused and not outcome.failed, sink)


def _open_sink(name: str, limes: Limes, cloud: CloudSession | None) -> Sink:
    """Returns a sink by its name. Nothing is opened yet. For mails, it is their queue."""
    section, clock = limes.settings.notifications, limes.clock
    if name == "log":
        return LogSink(section.log.path, rules.PREFIX + name)
    if cloud is not None and name in MAIL_SINKS:
        return recipients.QueueMails(limes, open_recipients(name, limes.settings, cloud, clock), name)
    url, secret, timeout = section.webhook.url, section.webhook.secret or "", section.webhook.timeout
    posts = WebhookSink(url, secret, GuardedSession(), clock, timeout=timeout, name=rules.PREFIX + name)
    return outbox.BoundPosts(limes, posts, lists.closed_without_decision)
