"""From the section `notifications` to the jobs that tell people what needs them."""

from functools import partial

from prometheus_client.registry import Collector as MetricSource

from limes.actions.context import Limes
from limes.actions.deliver_events import DeliverEvents, Outcome
from limes.actions.mail_recipients import QueueMails
from limes.actions.notifications import BoundPosts
from limes.actions.notify import notify
from limes.actions.run_job import run_if_due
from limes.actions.send_mails import SendMails
from limes.audit.sinks.base import Sink
from limes.audit.sinks.log import LogSink
from limes.audit.sinks.webhook import WebhookSink
from limes.auth.session import CloudSession
from limes.collector.loop import Job, counted
from limes.composition.identity import open_cloud
from limes.composition.mails import MAIL_SINKS, mail_contents, open_mailer, open_recipients
from limes.core.notifications import PREFIX
from limes.metrics.counters import MailCounters, OutcomeCounter
from limes.outgoing import GuardedSession


def notification_jobs(limes: Limes) -> tuple[list[Job], list[MetricSource]]:
    """Returns one job that decides what people are told, and one or two for each sink; none if there are no sinks. Also
    returns their counters. Nothing is opened yet."""
    section = limes.settings.notifications
    runs = OutcomeCounter("limes_notification_runs", "Runs of the job that decides what people are told", (), [()])
    deliveries = OutcomeCounter(
        "limes_notification_deliveries",
        "Looks for notifications to deliver to a sink; failure if it refused one or did not answer",
        ("sink",),
        [(PREFIX + name,) for name in section.sinks],
    )
    mail_sinks = [name for name in section.sinks if name in MAIL_SINKS]
    mails = MailCounters(mail_sinks)
    jobs: list[Job] = []
    if section.sinks:
        run = partial(run_if_due, limes, "notifications", notify, section.interval)
        jobs.append(Job("notifications", counted(run, runs.count)))
    cloud = open_cloud(limes.settings) if mail_sinks else None
    for name in section.sinks:
        sink = _open_sink(name, limes, cloud)
        delivery = DeliverEvents(limes, sink, section, what="notification", job=PREFIX + name)
        count = partial(_count_round, deliveries, PREFIX + name)
        jobs.append(Job(delivery.name, counted(delivery.run_if_due, count)))
        if cloud is not None and name in MAIL_SINKS:
            mailer = open_mailer(name, section, cloud, limes.lease)
            send = SendMails(limes, name, mailer, mail_contents(section.mail))
            jobs.append(Job(send.name, counted(send.run_if_due, partial(mails.count, name))))
    return jobs, [runs, deliveries, mails]


def _count_round(deliveries: OutcomeCounter, sink: str, outcome: Outcome) -> None:
    deliveries.count(not outcome.refused and not outcome.failed, sink)


def _open_sink(name: str, limes: Limes, cloud: CloudSession | None) -> Sink:
    """Returns a sink by its name. Nothing is opened yet. For mails, it is their queue."""
    section, clock = limes.settings.notifications, limes.clock
    if name == "log":
        return LogSink(section.log.path, PREFIX + name)
    if cloud is not None and name in MAIL_SINKS:
        return QueueMails(limes, open_recipients(name, limes.settings, cloud, clock), name)
    url, secret, timeout = section.webhook.url, section.webhook.secret or "", section.webhook.timeout
    posts = WebhookSink(url, secret, GuardedSession(), clock, timeout=timeout, name=PREFIX + name)
    return BoundPosts(limes, posts)
