"""From the section `notifications` to the jobs that tell people what needs them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from limes.actions.deliver_events import DeliverEvents, Outcome
from limes.actions.notify import PREFIX, Notify
from limes.actions.reports.alerts import ReportAlerts
from limes.actions.run_job import RunJob
from limes.audit.sinks.base import Sink
from limes.audit.sinks.log import LogSink
from limes.audit.sinks.webhook import WebhookSink
from limes.collector.cluster_jobs import ClusterWideJob, DeliveryJob
from limes.collector.loop import Job
from limes.composition.cluster import Cluster
from limes.composition.rules import alert_rules
from limes.db.engine import Engine
from limes.metrics.counters import OutcomeCounter
from limes.outgoing import GuardedSession
from limes.settings import Settings
from limes.settings.notifications import NotificationSettings
from limes.system import Clock, Jitter, SystemIds


@dataclass(frozen=True, slots=True)
class NotificationJobs:
    """One job that decides what people are told, and one for each sink; none if there are no sinks."""

    jobs: Sequence[Job]
    counters: Sequence[OutcomeCounter]


def notification_jobs(
    settings: Settings, engine: Engine, cluster: Cluster, clock: Clock, jitter: Jitter
) -> NotificationJobs:
    """Returns the jobs. Nothing is opened yet."""
    section, lease = settings.notifications, settings.collector.lease
    runs = OutcomeCounter("limes_notification_runs", "Runs of the job that decides what people are told", (), [()])
    deliveries = OutcomeCounter(
        "limes_notification_deliveries",
        "Looks for notifications to deliver to a sink; failure if it refused one or did not answer",
        ("sink",),
        [(PREFIX + name,) for name in section.sinks],
    )
    if not section.sinks:
        return NotificationJobs([], [runs, deliveries])
    alerts = ReportAlerts(engine, cluster.catalog, alert_rules(settings))
    excepted = frozenset(section.except_kinds)
    decide = Notify(engine, alerts, clock, SystemIds(), section.sinks, excepted, section.hysteresis)
    run = RunJob(engine, clock, jitter, "notifications", decide.run, section.interval, lease)
    jobs: list[Job] = [ClusterWideJob(run, runs)]
    for name in section.sinks:
        delivery = DeliverEvents(
            engine,
            clock,
            jitter,
            open_notification_sink(name, section, clock),
            retry=section.retry,
            retry_max=section.retry_max,
            lease=lease,
            retention=section.delivered_retention,
            what="notification",
            job=PREFIX + name,
        )
        jobs.append(DeliveryJob(delivery, partial(_count_round, deliveries, PREFIX + name)))
    return NotificationJobs(jobs, [runs, deliveries])


def _count_round(deliveries: OutcomeCounter, sink: str, outcome: Outcome) -> None:
    deliveries.count(not outcome.refused and not outcome.failed, sink)


def open_notification_sink(name: str, section: NotificationSettings, clock: Clock) -> Sink:
    """Returns a sink by its name. Nothing is opened yet."""
    if name == "log":
        return LogSink(section.log.path, PREFIX + name)
    webhook = section.webhook
    return WebhookSink(
        webhook.url, webhook.secret or "", GuardedSession(), clock, timeout=webhook.timeout, name=PREFIX + name
    )
