"""From the configured cluster to a collector with all of its jobs."""

from collections.abc import Iterator, Sequence
from functools import partial

from prometheus_client.registry import Collector as MetricSource

from limes.actions.autogrow import growing_resources
from limes.actions.context import Cluster, Limes, open_limes
from limes.actions.deliver_events import DeliverEvents
from limes.actions.distribute_quota import DistributionOutcome, distribute_next
from limes.actions.follow_configuration import FollowOverrides, follow_models
from limes.actions.growth.early_sample import sample_project
from limes.actions.lifetimes import followed_by, record_lifetimes
from limes.actions.metering.usage import meter_usage
from limes.actions.run_job import run_if_due
from limes.actions.scrape import Listener
from limes.actions.scrape_capacity import scrape_next_capacitor
from limes.actions.sync_catalog import sync_catalog
from limes.audit.initiator import of_job
from limes.audit.sinks.base import Sink
from limes.audit.sinks.log import LogSink
from limes.audit.sinks.rabbitmq import RabbitMQSink
from limes.backends.breaker import CircuitBreaker
from limes.collector.clocks import ClockWatch
from limes.collector.loop import Job, counted
from limes.collector.runner import Collector, claim_sqlite_file
from limes.collector.service_jobs import push_job, scrape_job
from limes.composition.cluster import build_cluster
from limes.composition.common import open_checked_engine
from limes.composition.identity import open_cloud
from limes.composition.jobs import JOBS
from limes.composition.metrics import figures_of_cloud, gauges_of_cloud
from limes.composition.notifications import notification_jobs
from limes.db.engine import Engine
from limes.metrics.counters import AuditCounters, JobMetrics, OutcomeCounter
from limes.metrics.gauges import circuit_gauge, ineffective_overrides, override_validity
from limes.settings import Settings
from limes.settings.audit import AuditSettings
from limes.system import Clock, Jitter, RandomJitter, SystemClock

Counters = dict[str, OutcomeCounter]


def open_collector(settings: Settings) -> Collector:
    """Opens everything that a collector works with. Raises `ConfigError`, `StartupError` and `Unavailable`."""
    engine = open_checked_engine(settings, "limes-collector")
    claim_sqlite_file(engine)
    cloud = open_cloud(settings)
    if settings.identity.method == "keystone":
        cloud.check()
    return build_collector(engine, build_cluster(settings, cloud), settings)


def build_collector(
    engine: Engine, cluster: Cluster, settings: Settings, clock: Clock | None = None, jitter: Jitter | None = None
) -> Collector:
    """Returns a collector that is ready to start, on a database whose schema is up to date.

    Makes the rows that mirror the configuration, and deletes those of capacitors that left it, and of services that
    left it long ago. Follows the configured models of distributing quota.
    """
    watch = ClockWatch(engine, settings.collector.max_clock_skew, every=settings.collector.poll_interval)
    may_work = watch.agrees if clock is None else lambda: True  # a given clock differs on purpose
    names = {service.service_type: service.type for service in settings.services}
    services = [(service, names[service]) for service in cluster.catalog.services]
    counted = JobMetrics(services)
    limes = open_limes(
        cluster, engine, settings, clock=clock or SystemClock(), jitter=jitter or RandomJitter(), telemetry=counted
    )
    sync_catalog(limes, prune=True)
    follow_models(limes)
    counters = _counters(limes, services)
    deliveries, delivered = audit_jobs(limes)
    notifications, notified = notification_jobs(limes)
    jobs: list[Job] = [
        *_service_jobs(limes, services, counters),
        _capacity_job(limes, counters["limes_capacity_scrapes"]),
        *_distribution_jobs(limes, counters["limes_quota_distributions"]),
        *_periodic_jobs(limes, counters),
        *deliveries,
        *notifications,
    ]
    counted.start_at_zero([job.name for job in jobs])
    data = settings.collector.data_metrics
    return Collector(
        engine,
        jobs,
        metrics=[*counters.values(), counted, delivered, *notified, *_own_gauges(limes)],
        state=gauges_of_cloud(limes),
        done=counted.task_done,
        may_work=may_work,
        figures=figures_of_cloud(limes, data.skip_zero) if data.expose else None,
        listen=settings.collector.listen,
        poll_interval=settings.collector.poll_interval,
    )


def _counters(limes: Limes, services: list[tuple[str, str]]) -> Counters:
    by_service, growing = ("service_type", "service_name"), growing_resources(limes.catalog)
    capacitors = [(name,) for name in limes.backends.capacity]
    counters: list[tuple[str, str, Sequence[str], Sequence[Sequence[str]]]] = [
        ("limes_resource_scrapes", "Scrapes of usage and quota", by_service, services),
        ("limes_quota_pushes", "Writes of quota to backends", by_service, services),
        ("limes_capacity_scrapes", "Scrapes of capacity", ("capacitor_id",), capacitors),
        ("limes_quota_distributions", "Computations of quota that follows usage", ("service", "resource"), growing),
        *((job.counter, job.help, (), [()]) for job in JOBS),
    ]
    return {name: OutcomeCounter(name, help_text, labels, known) for name, help_text, labels, known in counters}


def _own_gauges(limes: Limes) -> list[MetricSource]:
    """Returns those that may differ between collectors: of the machine's file, and of the process."""
    return [
        override_validity(limes.overrides_are_valid),
        ineffective_overrides(limes),
        circuit_gauge(limes.backends.circuits),
    ]


def _periodic_jobs(limes: Limes, counters: Counters) -> Iterator[Job]:
    for job in JOBS:
        if limes.engine.dialect in job.dialects:
            of_its_own, every = limes.as_initiator(of_job(job.name)), job.every(limes.settings)
            run = partial(run_if_due, of_its_own, job.name, job.work, every)
            yield Job(job.name, counted(run, counters[job.counter].count))


def _service_jobs(limes: Limes, services: list[tuple[str, str]], counters: Counters) -> Iterator[Job]:
    followed = followed_by(limes.settings, limes.catalog)
    listeners: list[Listener] = [meter_usage, partial(record_lifetimes, of=followed), sample_project]
    share = max(1, limes.settings.collector.threads // max(1, len(services)))
    threads = {entry.service_type: entry.threads or share for entry in limes.settings.services}
    scrapes, pushes = counters["limes_resource_scrapes"], counters["limes_quota_pushes"]
    for service in services:
        breaker = limes.backends.breakers.get(service[0]) or CircuitBreaker(f"service {service[0]}")
        yield scrape_job(limes, service, listeners, scrapes, breaker, threads[service[0]])
        yield push_job(limes, service, pushes, breaker, threads[service[0]])


def _capacity_job(limes: Limes, scrapes: OutcomeCounter) -> Job:
    run = partial(scrape_next_capacitor, limes.as_initiator(of_job("scrape-capacity")))
    workers = max(1, min(limes.settings.collector.threads, len(limes.backends.capacity)))
    return Job("scrape-capacity", counted(run, lambda outcome: scrapes.count(*outcome)), workers)


def _distribution_jobs(limes: Limes, distributions: OutcomeCounter) -> list[Job]:
    distribute = partial(distribute_next, limes.as_initiator(of_job("distribute-quota")))
    follow = FollowOverrides(limes)

    def count(outcome: DistributionOutcome) -> None:
        distributions.count(outcome.success, *outcome.ref)

    return [
        Job("distribute-quota", counted(distribute, count)),
        # each collector looks at its own machine's file, so that none works with an old one
        Job("quota-overrides", lambda: bool(follow.run())),
    ]


def audit_jobs(limes: Limes) -> tuple[list[Job], AuditCounters]:
    """Returns one job for each configured sink, and their common counters. Nothing is opened yet."""
    audit = limes.settings.audit
    counters = AuditCounters(audit.sinks)
    jobs: list[Job] = []
    for name in audit.sinks:
        action = DeliverEvents(limes, open_sink(name, audit), audit, audit.interval)
        jobs.append(Job(action.name, counted(action.run_if_due, partial(counters.count, name))))
    return jobs, counters


def open_sink(name: str, audit: AuditSettings) -> Sink:
    """Returns a sink by its name. Nothing is opened yet."""
    if name == "log":
        return LogSink(audit.log.path)
    broker = audit.rabbitmq
    return RabbitMQSink(
        broker.url, broker.queue_name, password=broker.password, cacert=broker.cacert, timeout=broker.timeout
    )
