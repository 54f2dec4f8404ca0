"""From the configured cluster to a collector with all of its jobs."""

from dataclasses import dataclass, replace
from functools import partial

from prometheus_client.registry import Collector as MetricSource

from limes.actions.change_log import ChangeLog
from limes.actions.change_model import ChangeModel
from limes.actions.compute_quota import growing_resources
from limes.actions.deliver_events import DeliverEvents
from limes.actions.distribute_quota import DistributionOutcome
from limes.actions.follow_overrides import FollowOverrides
from limes.actions.growth.early_sample import sample_project
from limes.actions.lifetimes import record_lifetimes
from limes.actions.metering.usage import meter_usage
from limes.actions.project_tasks import Telemetry
from limes.actions.reports.ineffective_overrides import FindIneffectiveOverrides
from limes.actions.scrape_capacity import CapacityOutcome, ScrapeCapacity
from limes.actions.scrape_usage import ScrapeUsage
from limes.actions.sync_catalog import SyncCatalog
from limes.audit.initiator import of_job
from limes.audit.sinks.base import Sink
from limes.audit.sinks.log import LogSink
from limes.audit.sinks.rabbitmq import RabbitMQSink
from limes.backends.breaker import CircuitBreaker
from limes.collector.clocks import ClockWatch
from limes.collector.cluster_job import ClusterJob
from limes.collector.loop import Job
from limes.collector.runner import Collector
from limes.collector.service_jobs import PushJob, UsageJob
from limes.collector.single_instance import claim_sqlite_file
from limes.composition.cluster import Cluster, build_cluster
from limes.composition.cluster_jobs import cluster_wide_jobs
from limes.composition.common import open_checked_engine
from limes.composition.identity import open_cloud
from limes.composition.lifetimes import followed
from limes.composition.metrics import figures_of_cloud, gauges_of_cloud
from limes.composition.notifications import notification_jobs
from limes.composition.use_cases import (
    build_distribution,
    build_quota_push,
    build_settlement,
    open_change_log,
)
from limes.core.catalog import Ref
from limes.db.engine import Engine
from limes.metrics.counters import AuditCounters, JobMetrics, OutcomeCounter
from limes.metrics.gauges import circuit_gauge
from limes.metrics.overrides import ineffective_overrides, override_validity
from limes.settings import Settings
from limes.settings.audit import AuditSettings
from limes.system import Clock, Jitter, RandomJitter, SystemClock


def open_collector(settings: Settings) -> Collector:
    """Opens everything that a collector works with. Raises `ConfigError`, `StartupError` and `Unavailable`."""
    engine = open_checked_engine(settings, "limes-collector")
    claim_sqlite_file(engine)
    cloud = open_cloud(settings)
    if settings.identity.method == "keystone":
        cloud.check()
    return build_collector(engine, build_cluster(settings, cloud), settings)


def build_collector(
    engine: Engine,
    cluster: Cluster,
    settings: Settings,
    clock: Clock | None = None,
    jitter: Jitter | None = None,
) -> Collector:
    """Returns a collector that is ready to start, on a database whose schema is up to date.

    Makes the rows that mirror the configuration, and deletes those of capacitors that left it, and of services that
    left it long ago. Follows the configured models of distributing quota.
    """
    watch = ClockWatch(engine, settings.collector.max_clock_skew, every=settings.collector.poll_interval)
    may_work = watch.agrees if clock is None else lambda: True  # a given clock differs on purpose
    clock = clock or SystemClock()
    jitter = jitter or RandomJitter()
    capacitors, grace = list(cluster.backends.capacity), settings.collector.service_grace
    sync_catalog = SyncCatalog(engine, cluster.catalog, capacitors, clock, grace, settings.usage_valid_for)
    sync_catalog.run(prune=True)
    change_log = open_change_log(settings, engine, cluster, clock)
    ChangeModel(engine, cluster.catalog, clock, change_log).run()
    names = {service.service_type: service.type for service in settings.services}
    services = [(service, names[service]) for service in cluster.catalog.services]
    counters = _counters(services, capacitors, growing_resources(cluster.catalog))
    counted = JobMetrics(services)
    audit = audit_jobs(settings, engine, clock, jitter)
    notifications = notification_jobs(settings, engine, cluster, clock, jitter)
    jobs: list[Job] = [
        *_service_jobs(engine, cluster, settings, services, clock, jitter, counters, counted, change_log),
        _capacity_job(engine, cluster, settings, clock, jitter, counters["limes_capacity_scrapes"], change_log),
        *_distribution_jobs(engine, cluster, settings, clock, jitter, counters, change_log),
        *cluster_wide_jobs(engine, cluster, settings, sync_catalog, clock, jitter, counters, change_log),
        *audit.jobs,
        *notifications.jobs,
    ]
    counted.start_at_zero([job.name for job in jobs])
    own = _own_gauges(engine, cluster, clock)
    data = settings.collector.data_metrics
    return Collector(
        engine,
        jobs,
        metrics=[*counters.values(), counted, audit.counters, *notifications.counters, *own],
        state=gauges_of_cloud(engine, cluster, settings, clock),
        done=counted.task_done,
        may_work=may_work,
        figures=figures_of_cloud(engine, cluster, settings, data.skip_zero) if data.expose else None,
        listen=settings.collector.listen,
        poll_interval=settings.collector.poll_interval,
    )


def _counters(services: list[tuple[str, str]], capacitors: list[str], growing: list[Ref]) -> dict[str, OutcomeCounter]:
    by_service = ("service_type", "service_name")
    counters = (
        ("limes_resource_scrapes", "Scrapes of usage and quota", by_service, services),
        ("limes_quota_pushes", "Writes of quota to backends", by_service, services),
        ("limes_capacity_scrapes", "Scrapes of capacity", ("capacitor_id",), [(name,) for name in capacitors]),
        ("limes_quota_distributions", "Computations of quota that follows usage", ("service", "resource"), growing),
        ("limes_keystone_syncs", "Discoveries of domains and projects", (), [()]),
        ("limes_commitment_runs", "Runs of the job that expires and confirms commitments", (), [()]),
        ("limes_commitment_use_runs", "Runs of the job that measures the use of commitments", (), [()]),
        ("limes_request_expiry_runs", "Runs of the job that closes requests for quota that have expired", (), [()]),
        ("limes_metering_runs", "Runs of the job that keeps the account of usage and commitments", (), [()]),
        ("limes_growth_runs", "Runs of the job that samples usage, quota, commitments and capacity", (), [()]),
        ("limes_temporary_quota_runs", "Runs of the job that begins and ends temporary quotas", (), [()]),
        ("limes_cron_consistency_runs", "Runs of the consistency job", (), [()]),
        ("limes_history_runs", "Runs of the job that deletes old quota history", (), [()]),
        ("limes_lifetime_runs", "Runs of the job that deletes old lifetimes of subresources", (), [()]),
        ("limes_sum_runs", "Runs of the job that folds kept sums", (), [()]),
    )
    return {name: OutcomeCounter(name, help_text, labels, known) for name, help_text, labels, known in counters}


def _own_gauges(engine: Engine, cluster: Cluster, clock: Clock) -> list[MetricSource]:
    """Returns those that may differ between collectors: of the machine's file, and of the process."""
    find = FindIneffectiveOverrides(engine, cluster.catalog, clock)
    return [
        override_validity(cluster.overrides.is_valid),
        ineffective_overrides(find, cluster.overrides.current),
        circuit_gauge(cluster.backends.circuits),
    ]


def _service_jobs(
    engine: Engine,
    cluster: Cluster,
    settings: Settings,
    services: list[tuple[str, str]],
    clock: Clock,
    jitter: Jitter,
    counters: dict[str, OutcomeCounter],
    telemetry: Telemetry,
    change_log: ChangeLog,
) -> list[Job]:
    collector = settings.collector
    scrape = ScrapeUsage(
        engine,
        cluster.catalog,
        cluster.constraints,
        cluster.backends.quota,
        clock,
        jitter,
        build_settlement(engine, cluster, clock, change_log),
        change_log,
        authoritative=collector.authoritative,
        interval=collector.scrape_interval,
        retry=collector.scrape_retry,
        retry_max=collector.scrape_retry_max,
        lease=collector.lease,
        telemetry=telemetry,
        listeners=[
            partial(meter_usage, settings.usage_valid_for),
            partial(record_lifetimes, followed(settings, cluster.catalog)),
            sample_project,
        ],
    )
    push = replace(build_quota_push(settings, engine, cluster), clock=clock, jitter=jitter, telemetry=telemetry)
    share = max(1, collector.threads // max(1, len(services)))
    threads = {entry.service_type: entry.threads or share for entry in settings.services}
    jobs: list[Job] = []
    for service, name in services:
        breaker = cluster.backends.breakers.get(service) or CircuitBreaker(f"service {service}")
        scrapes, pushes = counters["limes_resource_scrapes"], counters["limes_quota_pushes"]
        action = scrape.by(of_job(f"scrape-usage:{service}"))
        jobs.append(UsageJob(service, name, action, scrapes, breaker, workers=threads[service], batch=collector.batch))
        jobs.append(PushJob(service, name, push, pushes, breaker, threads[service]))
    return jobs


def _capacity_job(
    engine: Engine,
    cluster: Cluster,
    settings: Settings,
    clock: Clock,
    jitter: Jitter,
    scrapes: OutcomeCounter,
    change_log: ChangeLog,
) -> Job:
    collector = settings.collector
    action = ScrapeCapacity(
        engine,
        cluster.catalog,
        cluster.backends.capacity,
        clock,
        jitter,
        build_settlement(engine, cluster, clock, change_log.by(of_job("scrape-capacity"))),
        interval=collector.capacity_interval,
        retry=collector.capacity_retry,
        lease=collector.lease,
        tolerated_drop=collector.capacity_drop_percent,
    )

    def count(outcome: CapacityOutcome) -> None:
        scrapes.count(outcome.success, outcome.capacitor)

    workers = max(1, min(collector.threads, len(cluster.backends.capacity)))
    return ClusterJob("scrape-capacity", action.run_next, count, workers)


def _distribution_jobs(
    engine: Engine,
    cluster: Cluster,
    settings: Settings,
    clock: Clock,
    jitter: Jitter,
    counters: dict[str, OutcomeCounter],
    change_log: ChangeLog,
) -> list[Job]:
    """Returns the jobs about quota that follows usage."""
    change_log = change_log.by(of_job("distribute-quota"))
    action = replace(build_distribution(settings, engine, cluster, clock, change_log), jitter=jitter)
    follow = FollowOverrides(engine, cluster.catalog, clock, cluster.overrides.current)

    def count(outcome: DistributionOutcome) -> None:
        counters["limes_quota_distributions"].count(outcome.success, *outcome.ref)

    return [
        ClusterJob("distribute-quota", action.run_next, count),
        # each collector looks at its own machine's file, so that none works with an old one
        ClusterJob("quota-overrides", lambda: follow.run() or None, lambda _: None),
    ]


@dataclass(frozen=True, slots=True)
class AuditJobs:
    """One job for each sink, with their common counters."""

    jobs: list[Job]
    counters: AuditCounters


def audit_jobs(settings: Settings, engine: Engine, clock: Clock, jitter: Jitter) -> AuditJobs:
    """Returns the jobs for the configured sinks. Nothing is opened yet."""
    audit = settings.audit
    counters = AuditCounters(audit.sinks)
    jobs: list[Job] = []
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
        jobs.append(ClusterJob(action.name, action.run_if_due, partial(counters.count, name)))
    return AuditJobs(jobs, counters)


def open_sink(name: str, audit: AuditSettings) -> Sink:
    """Returns a sink by its name. Nothing is opened yet."""
    if name == "log":
        return LogSink(audit.log.path)
    broker = audit.rabbitmq
    return RabbitMQSink(
        broker.url, broker.queue_name, password=broker.password, cacert=broker.cacert, timeout=broker.timeout
    )
