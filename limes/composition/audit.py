"""Sinks of audit events, and the jobs that deliver to them."""

from dataclasses import dataclass

from limes.actions.deliver_events import DeliverEvents
from limes.audit.sinks.base import Sink
from limes.audit.sinks.log import LogSink
from limes.audit.sinks.rabbitmq import RabbitMQSink
from limes.collector.jobs.audit import AuditJob
from limes.db.engine import Engine
from limes.metrics.audit import AuditCounters
from limes.settings import Settings
from limes.settings.audit import AuditSettings
from limes.system import Clock, Jitter


@dataclass(frozen=True, slots=True)
class AuditJobs:
    """One job for each sink, with their common counters."""

    jobs: list[AuditJob]
    counters: AuditCounters


def audit_jobs(settings: Settings, engine: Engine, clock: Clock, jitter: Jitter) -> AuditJobs:
    """The jobs for the configured sinks. Nothing is opened yet."""
    audit = settings.audit
    counters = AuditCounters(audit.sinks)
    jobs = []
    for name in audit.sinks:
        action = DeliverEvents(
            engine,
            clock,
            jitter,
            open_sink(name, audit),
            interval=audit.interval,
            retry=audit.retry,
            retry_max=audit.retry_max,
            lease=settings.collector.lease,
            retention=audit.delivered_retention,
        )
        jobs.append(AuditJob(action, counters))
    return AuditJobs(jobs, counters)


def open_sink(name: str, audit: AuditSettings) -> Sink:
    """A sink by its name. Nothing is opened yet."""
    if name == "log":
        return LogSink(audit.log.path)
    broker = audit.rabbitmq
    return RabbitMQSink(
        broker.url, broker.queue_name, password=broker.password, cacert=broker.cacert, timeout=broker.timeout
    )
