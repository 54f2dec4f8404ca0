"""From the section `notifications` to the jobs that tell people what needs them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from prometheus_client.registry import Collector as MetricSource

from limes.actions.bound_posts import BoundPosts
from limes.actions.context import Limes
from limes.actions.deliver_events import DeliverEvents, Outcome
from limes.actions.mails.queue_mails import QueueMails
from limes.actions.mails.send_mails import SendMails
from limes.actions.notify import notify
from limes.actions.run_job import run_if_due
from limes.audit.sinks.base import Sink
from limes.audit.sinks.log import LogSink
from limes.audit.sinks.webhook import WebhookSink
from limes.auth.session import CloudSession
from limes.collector.cluster_job import ClusterJob
from limes.collector.loop import Job
from limes.composition.identity import open_cloud
from limes.composition.mails import MAIL_SINKS, mail_contents, open_mailer, open_recipients
from limes.core.notifications import PREFIX
from limes.db.engine import Engine
from limes.metrics.counters import OutcomeCounter
from limes.metrics.mails import MailCounters
from limes.outgoing import GuardedSession
from limes.settings import Settings
from limes.system import Clock


@dataclass(frozen=True, slots=True)
class NotificationJobs:
    """One job that decides what people are told, and one for each sink; none if there are no sinks."""

    jobs: Sequence[Job]
    counters: Sequence[MetricSource]


def notification_jobs(limes: Limes) -> NotificationJobs:
    """Returns the jobs. Nothing is opened yet."""
    settings, section = limes.settings, limes.settings.notifications
    runs = OutcomeCounter("limes_notification_runs", "Runs of the job that decides what people are told", (), [()])
    deliveries = OutcomeCounter(
        "limes_notification_deliveries",
        "Looks for notifications to deliver to a sink; failure if it refused one or did not answer",
        ("sink",),
        [(PREFIX + name,) for name in section.sinks],
    )
    mail_sinks = [name for name in section.sinks if name in MAIL_SINKS]
    mails = MailCounters(mail_sinks)
    if not section.sinks:
        return NotificationJobs([], [runs, deliveries, mails])
    run = partial(run_if_due, limes, "notifications", partial(notify, limes), section.interval)
    jobs: list[Job] = [ClusterJob("notifications", run, runs.count)]
    cloud = open_cloud(settings) if mail_sinks else None
    for name in section.sinks:
        delivery = DeliverEvents(
            limes.engine,
            limes.clock,
            limes.jitter,
            open_notification_sink(name, settings, limes.engine, limes.clock, cloud),
            retry=section.retry,
            retry_max=section.retry_max,
            lease=limes.lease,
            retention=section.delivered_retention,
            what="notification",
            job=PREFIX + name,
        )
        count = partial(_count_round, deliveries, PREFIX + name)
        jobs.append(ClusterJob(delivery.name, delivery.run_if_due, count))
        if cloud is not None and name in MAIL_SINKS:
            send = _send_mails(name, limes, cloud)
            jobs.append(ClusterJob(send.name, send.run_if_due, partial(mails.count, name)))
    return NotificationJobs(jobs, [runs, deliveries, mails])


def _count_round(deliveries: OutcomeCounter, sink: str, outcome: Outcome) -> None:
    deliveries.count(not outcome.refused and not outcome.failed, sink)


def _send_mails(name: str, limes: Limes, cloud: CloudSession) -> SendMails:
    section, mail = limes.settings.notifications, limes.settings.notifications.mail
    return SendMails(
        limes.engine,
        limes.clock,
        limes.jitter,
        limes.ids,
        name,
        open_mailer(name, section, cloud, limes.lease),
        mail_contents(mail),
        digest=mail.digest,
        gather=mail.gather,
        urgent=frozenset(mail.urgent),
        give_up=mail.give_up,
        retry=section.retry,
        retry_max=section.retry_max,
        lease=limes.lease,
        retention=section.delivered_retention,
    )


def open_notification_sink(
    name: str, settings: Settings, engine: Engine, clock: Clock, cloud: CloudSession | None = None
) -> Sink:
    """Returns a sink by its name. Nothing is opened yet. For mails, it is their queue."""
    section = settings.notifications
    if name == "log":
        return LogSink(section.log.path, PREFIX + name)
    if name == "webhook":
        webhook = section.webhook
        posts = WebhookSink(
            webhook.url, webhook.secret or "", GuardedSession(), clock, timeout=webhook.timeout, name=PREFIX + name
        )
        return BoundPosts(engine, clock, posts, webhook.at_most_per_minute)
    mail = section.mail
    recipients = open_recipients(name, settings, cloud or open_cloud(settings), clock)
    return QueueMails(engine, clock, recipients, PREFIX + name, name, mail.gather, frozenset(mail.urgent))
