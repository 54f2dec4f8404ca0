"""From the configured cluster to a collector with all of its jobs."""

from collections.abc import Callable

from limes.actions.discover import Discover
from limes.actions.enforce_constraints import EnforceConstraints
from limes.actions.push_quota import PushQuota
from limes.actions.run_job import RunJob
from limes.actions.scrape_capacity import ScrapeCapacity
from limes.actions.scrape_usage import ScrapeUsage
from limes.actions.sync_catalog import SyncCatalog
from limes.collector.jobs.capacity import CapacityJob
from limes.collector.jobs.cluster_wide import ClusterWideJob
from limes.collector.jobs.push import PushJob
from limes.collector.jobs.usage import UsageJob
from limes.collector.loop import Job
from limes.collector.runner import Collector
from limes.composition.cluster import Cluster
from limes.db.engine import Engine
from limes.metrics.outcomes import OutcomeCounter
from limes.metrics.scrapes import ScrapeGauges
from limes.seams import Clock, Jitter, RandomJitter, SystemClock
from limes.settings import Settings


def make_discover(engine: Engine, cluster: Cluster, settings: Settings, clock: Clock) -> Discover:
    """The use case that follows Keystone."""
    return Discover(
        engine,
        cluster.backends.discovery,
        cluster.catalog,
        cluster.constraints,
        clock,
        settings.discovery.except_domains,
        settings.discovery.only_domains,
    )


def make_push_quota(engine: Engine, cluster: Cluster, settings: Settings, clock: Clock, jitter: Jitter) -> PushQuota:
    """The use case that writes quota into backends."""
    collector = settings.collector
    return PushQuota(
        engine,
        cluster.catalog,
        cluster.backends.quota,
        clock,
        jitter,
        lease=collector.lease,
        retry=collector.push_retry,
        retry_max=collector.push_retry_max,
    )


def build_collector(
    engine: Engine,
    cluster: Cluster,
    settings: Settings,
    clock: Clock | None = None,
    jitter: Jitter | None = None,
) -> Collector:
    """A collector that is ready to start, on a database whose schema is up to date.

    Makes the rows that mirror the configuration, and deletes those of services and capacitors that left it.
    """
    clock = clock or SystemClock()
    jitter = jitter or RandomJitter()
    sync_catalog = SyncCatalog(engine, cluster.catalog, list(cluster.backends.capacity), clock)
    sync_catalog.run(prune=True)
    names = {service.service_type: service.type for service in settings.services}
    services = [(service, names[service]) for service in cluster.catalog.services]
    counters = _counters(services, list(cluster.backends.capacity))
    jobs: list[Job] = [
        *_service_jobs(engine, cluster, settings, services, clock, jitter, counters),
        _capacity_job(engine, cluster, settings, clock, jitter, counters["limes_capacity_scrapes"]),
        *_cluster_wide_jobs(engine, cluster, settings, sync_catalog, clock, jitter, counters),
    ]
    return Collector(
        engine,
        jobs,
        metrics=[*counters.values(), ScrapeGauges(engine, names)],
        listen=settings.collector.listen,
        poll_interval=settings.collector.poll_interval,
    )


def _counters(services: list[tuple[str, str]], capacitors: list[str]) -> dict[str, OutcomeCounter]:
    by_service = ("service_type", "service_name")
    counters = (
        ("limes_resource_scrapes", "Scrapes of usage and quota", by_service, services),
        ("limes_quota_pushes", "Writes of quota into backends", by_service, services),
        ("limes_capacity_scrapes", "Scrapes of capacity", ("capacitor_id",), [(name,) for name in capacitors]),
        ("limes_keystone_syncs", "Discoveries of domains and projects", (), [()]),
        ("limes_cron_consistency_runs", "Runs of the consistency job", (), [()]),
    )
    return {name: OutcomeCounter(name, help_text, labels, known) for name, help_text, labels, known in counters}


def _service_jobs(
    engine: Engine,
    cluster: Cluster,
    settings: Settings,
    services: list[tuple[str, str]],
    clock: Clock,
    jitter: Jitter,
    counters: dict[str, OutcomeCounter],
) -> list[Job]:
    collector = settings.collector
    scrape = ScrapeUsage(
        engine,
        cluster.catalog,
        cluster.constraints,
        cluster.backends.quota,
        clock,
        jitter,
        authoritative=collector.authoritative,
        interval=collector.scrape_interval,
        retry=collector.scrape_retry,
        lease=collector.lease,
    )
    push = make_push_quota(engine, cluster, settings, clock, jitter)
    workers = max(1, collector.threads // max(1, len(services)))
    jobs: list[Job] = []
    for service, name in services:
        jobs.append(UsageJob(service, name, scrape, counters["limes_resource_scrapes"], workers))
        jobs.append(PushJob(service, name, push, counters["limes_quota_pushes"], workers))
    return jobs


def _capacity_job(
    engine: Engine, cluster: Cluster, settings: Settings, clock: Clock, jitter: Jitter, scrapes: OutcomeCounter
) -> Job:
    collector = settings.collector
    action = ScrapeCapacity(
        engine,
        cluster.catalog,
        cluster.backends.capacity,
        clock,
        jitter,
        interval=collector.capacity_interval,
        retry=collector.capacity_retry,
        lease=collector.lease,
    )
    return CapacityJob(action, scrapes, workers=max(1, min(collector.threads, len(cluster.backends.capacity))))


def _cluster_wide_jobs(
    engine: Engine,
    cluster: Cluster,
    settings: Settings,
    sync_catalog: SyncCatalog,
    clock: Clock,
    jitter: Jitter,
    counters: dict[str, OutcomeCounter],
) -> list[Job]:
    collector = settings.collector
    discover = make_discover(engine, cluster, settings, clock)
    enforce = EnforceConstraints(engine, cluster.catalog, cluster.constraints)

    def consistency() -> None:
        sync_catalog.run(prune=True)
        enforce.run()

    def job(name: str, work: Callable[[], object], interval: float, counter: str) -> Job:
        return ClusterWideJob(RunJob(engine, clock, jitter, name, work, interval, collector.lease), counters[counter])

    return [
        job("discovery", discover.everything, collector.discovery_interval, "limes_keystone_syncs"),
        job("consistency", consistency, collector.consistency_interval, "limes_cron_consistency_runs"),
    ]
