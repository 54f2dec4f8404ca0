"""From the configured cluster to a collector with all of its jobs."""

from collections.abc import Iterator, Sequence
from functools import partial

from limes.app.composition import common, mails
from limes.app.composition.cluster import build_cluster, open_cloud
from limes.app.composition.metrics import figures_of_cloud, gauges_of_cloud
from limes.app.context import Cluster, Limes, open_limes
from limes.app.features import entries
from limes.app.settings import Settings
from limes.audit import events, sinks
from limes.audit.settings import AuditSettings
from limes.autogrow.compute import growing_resources
from limes.autogrow.distribute import distribute_next
from limes.backends.breaker import CircuitBreaker
from limes.collector import follow_configuration, metrics, runner, scrape_capacity, service_jobs
from limes.collector.loop import ClockWatch, Job, counted
from limes.collector.sync_catalog import sync_catalog
from limes.db.engine import Engine
from limes.kernel.metrics import OutcomeCounter
from limes.kernel.system import Clock, Jitter, RandomJitter
from limes.notifications.deliver import DeliverEvents
from limes.notifications.metrics import AuditCounters
from limes.projects.claims import PeriodicJob, run_if_due
from limes.projects.scrapes import Listener
from limes.reports.metrics import ineffective_overrides, override_validity

Counters = dict[str, OutcomeCounter]


def open_collector(settings: Settings) -> runner.Collector:
    """Opens everything that a collector works with. Raises `ConfigError`, `StartupError` and `Unavailable`."""
    engine = common.open_checked_engine(settings, "limes-collector")
    runner.claim_sqlite_file(engine)
    cloud = open_cloud(settings)
    if settings.identity.method == "keystone":
        cloud.check()
    return build_collector(engine, build_cluster(settings, cloud), settings)


def build_collector(
    engine: Engine, cluster: Cluster, settings: Settings, clock: Clock | None = None, jitter: Jitter | None = None
) -> runner.Collector:
    """Returns a collector that is ready to start, on a database whose schema is up to date. Makes the rows that mirror
    the configuration, and deletes those of capacitors that left it, and of services that left it long ago. Follows the
    configured models of distributing quota."""
    watch = ClockWatch(engine, settings.collector.max_clock_skew, every=settings.collector.poll_interval)
    may_work = watch.agrees if clock is None else lambda: True  # a given clock differs on purpose
    names = {service.service_type: service.type for service in settings.services}
    services = [(service, names[service]) for service in cluster.catalog.services]
    counted = metrics.JobMetrics(services)
    limes = open_limes(
        cluster, engine, settings, clock=clock or watch, jitter=jitter or RandomJitter(), telemetry=counted
    )
    sync_catalog(limes, prune=True)
    follow_configuration.follow_models(limes)
    counters = _counters(limes, services)
    deliveries, delivered = _audit_jobs(limes)
    notifications, notified = mails.notification_jobs(limes)
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
    return runner.Collector(
        engine,
        jobs,
        metrics=[
            *counters.values(),
            counted,
            delivered,
            *notified,
            *gauges,
            metrics.circuit_gauge(limes.backends.circuits),
        ],
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
        *((job.counter, job.help, (), [()]) for job in entries("jobs", "JOBS")),
    ]
    return {name: OutcomeCounter(name, text, labels, known) for name, text, labels, known in counters}


def _service_jobs(limes: Limes, services: list[tuple[str, str]], counters: Counters) -> Iterator[Job]:
    listeners: list[Listener] = [make(limes) for make in entries("jobs", "LISTENERS")]
    share = max(1, limes.settings.collector.threads // max(1, len(services)))
    threads = {entry.service_type: entry.threads or share for entry in limes.settings.services}
    scrapes, pushes = counters["limes_resource_scrapes"], counters["limes_quota_pushes"]
    for service in services:
        breaker = limes.backends.breakers.get(service[0]) or CircuitBreaker(f"service {service[0]}")
        yield service_jobs.scrape_job(limes, service, listeners, scrapes, breaker, threads[service[0]])
        yield service_jobs.push_job(limes, service, pushes, breaker, threads[service[0]])


def _cluster_jobs(limes: Limes, counters: Counters) -> Iterator[Job]:
    scrapes, distributions = counters["limes_capacity_scrapes"], counters["limes_quota_distributions"]
    scrape = partial(scrape_capacity.scrape_next_capacitor, limes.as_initiator(events.of_job("scrape-capacity")))
    workers = max(1, min(limes.settings.collector.threads, len(limes.backends.capacity)))
    yield Job("scrape-capacity", counted(scrape, lambda outcome: scrapes.count(*outcome)), workers)
    distribute = partial(distribute_next, limes.as_initiator(events.of_job("distribute-quota")))
    count = counted(distribute, lambda outcome: distributions.count(outcome.success, *outcome.ref))
    yield Job("distribute-quota", count)
    # each collector looks at its own machine's file, so that none works with an old one
    follow = follow_configuration.FollowOverrides(limes)
    yield Job("quota-overrides", lambda: bool(follow.run()))


def _periodic_jobs(limes: Limes, counters: Counters) -> Iterator[Job]:
    job: PeriodicJob
    for job in entries("jobs", "JOBS"):
        if limes.engine.dialect in job.dialects:
            of_its_own = limes.as_initiator(events.of_job(job.name))
            run = partial(run_if_due, of_its_own, job.name, job.work, job.every(limes))
            yield Job(job.name, counted(run, counters[job.counter].count))


def _audit_jobs(limes: Limes) -> tuple[list[Job], AuditCounters]:
    audit = limes.settings.audit
    counters = AuditCounters(audit.sinks)
    jobs: list[Job] = []
    for name in audit.sinks:
        action = DeliverEvents(limes, open_sink(name, audit), audit, audit.interval)
        jobs.append(Job(action.name, counted(action.run_if_due, partial(counters.count, name))))
    return jobs, counters


def open_sink(name: str, audit: AuditSettings) -> sinks.Sink:
    """Returns a sink by its name. Nothing is opened yet."""
    if name == "log":
        return sinks.LogSink(audit.log.path)
    from limes.audit import rabbitmq  # pika takes 2 MiB

    broker = audit.rabbitmq
    return rabbitmq.RabbitMQSink(
        broker.url, broker.queue_name, password=broker.password, cacert=broker.cacert, timeout=broker.timeout
    )
