"""From the configured cluster to a collector with all of its jobs."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from limes.actions.autogrow import growing_resources
from limes.actions.change_log import forget_history
from limes.actions.commitments.reading import sample_utilisation
from limes.actions.commitments.settle import renew_and_settle
from limes.actions.context import Cluster, Limes, open_limes
from limes.actions.deliver_events import DeliverEvents
from limes.actions.discover import discover
from limes.actions.distribute_quota import distribute_next
from limes.actions.follow_configuration import FollowOverrides, check_consistency, follow_models
from limes.actions.growth.sample import JOB as GROWTH
from limes.actions.growth.sample import sample_growth, sample_project
from limes.actions.lifetimes import clean_up_lifetimes, record_lifetimes
from limes.actions.metering.close import close_days
from limes.actions.metering.usage import meter_usage
from limes.actions.project_tasks import Listener, run_if_due
from limes.actions.quota_requests.decide import expire_requests
from limes.actions.scrape_capacity import scrape_next_capacitor
from limes.actions.settle_temporary_quotas import settle_temporary_quotas
from limes.actions.sync_catalog import sync_catalog
from limes.audit.events import of_job
from limes.audit.rabbitmq import RabbitMQSink
from limes.audit.sinks import LogSink, Sink
from limes.backends.breaker import CircuitBreaker
from limes.collector.loop import ClockWatch, Job, counted
from limes.collector.runner import Collector, claim_sqlite_file
from limes.collector.service_jobs import push_job, scrape_job
from limes.composition.cluster import build_cluster
from limes.composition.common import open_checked_engine
from limes.composition.identity import open_cloud
from limes.composition.mails import notification_jobs
from limes.composition.metrics import figures_of_cloud, gauges_of_cloud
from limes.core.lifetimes import followed_resources
from limes.db.engine import Engine
from limes.db.queries.sum_upkeep import fold_sums
from limes.metrics.counters import AuditCounters, JobMetrics, OutcomeCounter
from limes.metrics.gauges import circuit_gauge, ineffective_overrides, override_validity
from limes.settings import Settings
from limes.settings.audit import AuditSettings
from limes.system import Clock, Jitter, RandomJitter, SystemClock

_HOUR = 3600.0
_DAY = 24 * _HOUR


class PeriodicJob(NamedTuple):
    """What one of all collectors does at a time, and how often (in seconds)."""

    name: str
    work: Callable[[Limes], object]
    every: Callable[[Settings], float]
    dialects: tuple[str, ...] = ("sqlite", "postgresql")


JOBS = (
    PeriodicJob("discovery", discover, lambda settings: settings.collector.discovery_interval),
    PeriodicJob("commitments", renew_and_settle, lambda settings: settings.collector.commitment_interval),
    PeriodicJob("commitment-use", sample_utilisation, lambda settings: settings.collector.commitment_use_interval),
    PeriodicJob("expire-requests", expire_requests, lambda settings: 60.0),
    PeriodicJob("metering", close_days, lambda settings: settings.metering.interval),
    PeriodicJob(GROWTH, sample_growth, lambda settings: 1800.0),  # so that each hour has a sample, even if one is late
    PeriodicJob(
        "temporary-quotas", settle_temporary_quotas, lambda settings: settings.collector.temporary_quota_interval
    ),
    PeriodicJob("consistency", check_consistency, lambda settings: settings.collector.consistency_interval),
    PeriodicJob("history", forget_history, lambda settings: _DAY),
    PeriodicJob("lifetimes", clean_up_lifetimes, lambda settings: _HOUR),
    PeriodicJob("sums", lambda limes: fold_sums(limes.engine), lambda settings: 15.0, dialects=("postgresql",)),
)
RUNS = {
    "discovery": ("limes_keystone_syncs", "Discoveries of domains and projects"),
    "commitments": ("limes_commitment_runs", "Runs of the job that expires and confirms commitments"),
    "commitment-use": ("limes_commitment_use_runs", "Runs of the job that measures the use of commitments"),
    "expire-requests": (
        "limes_request_expiry_runs",
        "Runs of the job that closes requests for quota that have expired",
    ),
    "metering": ("limes_metering_runs", "Runs of the job that keeps the account of usage and commitments"),
    GROWTH: ("limes_growth_runs", "Runs of the job that samples usage, quota, commitments and capacity"),
    "temporary-quotas": ("limes_temporary_quota_runs", "Runs of the job that begins and ends temporary quotas"),
    "consistency": ("limes_cron_consistency_runs", "Runs of the consistency job"),
    "history": ("limes_history_runs", "Runs of the job that deletes old quota history"),
    "lifetimes": ("limes_lifetime_runs", "Runs of the job that deletes old lifetimes of subresources"),
    "sums": ("limes_sum_runs", "Runs of the job that folds kept sums"),
}
"""The counters of their runs: names and what they count."""


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
    """Returns a collector that is ready to start, on a database whose schema is up to date. Makes the rows that mirror
    the configuration, and deletes those of capacitors that left it, and of services that left it long ago. Follows the
    configured models of distributing quota."""
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
    deliveries, delivered = _audit_jobs(limes)
    notifications, notified = notification_jobs(limes)
    jobs = [
        *_service_jobs(limes, services, counters),
        *_cluster_jobs(limes, counters),
        *_periodic_jobs(limes, counters),
        *deliveries,
        *notifications,
    ]
    counted.start_at_zero([job.name for job in jobs])
    # they may differ between collectors: those of the machine's file, and of the process
    gauges = [override_validity(limes.overrides_are_valid), ineffective_overrides(limes)]
    data = settings.collector.data_metrics
    return Collector(
        engine,
        jobs,
        metrics=[*counters.values(), counted, delivered, *notified, *gauges, circuit_gauge(limes.backends.circuits)],
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
        *((*counter, (), [()]) for counter in RUNS.values()),
    ]
    return {counter[0]: OutcomeCounter(*counter) for counter in counters}


def _service_jobs(limes: Limes, services: list[tuple[str, str]], counters: Counters) -> Iterator[Job]:
    followed = followed_resources(limes.catalog, limes.settings.subresource_lifetimes.resources)
    listeners: list[Listener] = [meter_usage, partial(record_lifetimes, of=followed), sample_project]
    share = max(1, limes.settings.collector.threads // max(1, len(services)))
    threads = {entry.service_type: entry.threads or share for entry in limes.settings.services}
    scrapes, pushes = counters["limes_resource_scrapes"], counters["limes_quota_pushes"]
    for service in services:
        breaker = limes.backends.breakers.get(service[0]) or CircuitBreaker(f"service {service[0]}")
        yield scrape_job(limes, service, listeners, scrapes, breaker, threads[service[0]])
        yield push_job(limes, service, pushes, breaker, threads[service[0]])


def _cluster_jobs(limes: Limes, counters: Counters) -> Iterator[Job]:
    scrapes, distributions = counters["limes_capacity_scrapes"], counters["limes_quota_distributions"]
    scrape = partial(scrape_next_capacitor, limes.as_initiator(of_job("scrape-capacity")))
    workers = max(1, min(limes.settings.collector.threads, len(limes.backends.capacity)))
    yield Job("scrape-capacity", counted(scrape, lambda outcome: scrapes.count(*outcome)), workers)
    distribute = partial(distribute_next, limes.as_initiator(of_job("distribute-quota")))
    count = counted(distribute, lambda outcome: distributions.count(outcome.success, *outcome.ref))
    yield Job("distribute-quota", count)
    # each collector looks at its own machine's file, so that none works with an old one
    follow = FollowOverrides(limes)
    yield Job("quota-overrides", lambda: bool(follow.run()))


def _periodic_jobs(limes: Limes, counters: Counters) -> Iterator[Job]:
    for job in JOBS:
        if limes.engine.dialect in job.dialects:
            of_its_own, every = limes.as_initiator(of_job(job.name)), job.every(limes.settings)
            run = partial(run_if_due, of_its_own, job.name, job.work, every)
            yield Job(job.name, counted(run, counters[RUNS[job.name][0]].count))


def _audit_jobs(limes: Limes) -> tuple[list[Job], AuditCounters]:
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
