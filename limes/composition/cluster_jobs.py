"""The jobs of the collector that one of all collectors does at a time."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from limes.actions.change_log import ChangeLog
from limes.actions.check_consistency import CheckConsistency
from limes.actions.commitments.auto_renew import RenewAutomatically
from limes.actions.commitments.settle import SettleCommitments
from limes.actions.growth.early_sample import JOB as GROWTH
from limes.actions.quota_history import ForgetHistory
from limes.actions.run_job import RunJob
from limes.actions.sync_catalog import SyncCatalog
from limes.audit.initiator import of_job
from limes.collector.cluster_job import ClusterJob
from limes.collector.loop import Job
from limes.composition.cluster import Cluster
from limes.composition.lifetimes import build_clean_up
from limes.composition.notifications import announcements, announcements_of_ends
from limes.composition.use_cases import (
    build_auto_renewal,
    build_closing,
    build_discovery,
    build_growth,
    build_request_expiry,
    build_settlement,
    build_temporary_quotas,
    build_utilisation,
)
from limes.db.engine import Engine
from limes.db.queries.kept_sums import are_kept
from limes.db.queries.sum_upkeep import fold_sums
from limes.metrics.counters import OutcomeCounter
from limes.settings import Settings
from limes.system import Clock, Jitter

_HOUR = 3600.0
_DAY = 24 * _HOUR
_EXPIRY_INTERVAL = 60.0
_FOLD_INTERVAL = 15.0
_GROWTH_INTERVAL = 1800.0
"""So that each hour has a sample, even if one is late."""


def cluster_wide_jobs(
    engine: Engine,
    cluster: Cluster,
    settings: Settings,
    sync_catalog: SyncCatalog,
    clock: Clock,
    jitter: Jitter,
    counters: dict[str, OutcomeCounter],
    change_log: ChangeLog,
) -> list[Job]:
    """Returns them, ready to run."""
    collector = settings.collector
    settle = build_settlement(engine, cluster, clock, change_log)
    renewal = build_auto_renewal(engine, cluster, clock, change_log)
    discovery = replace(build_discovery(settings, engine, cluster, change_log), clock=clock, commitments=settle)
    consistency = CheckConsistency(
        engine, cluster.catalog, cluster.constraints, sync_catalog, change_log.by(of_job("consistency"))
    )
    announce = announcements(settings, engine, cluster)
    expiry = build_request_expiry(settings, engine, cluster, clock, change_log, announce)
    ends = announcements_of_ends(settings, engine, cluster)
    use = build_utilisation(engine, cluster, clock, change_log)
    temporary = build_temporary_quotas(settings, engine, cluster, clock, change_log, ends)
    closing = build_closing(settings, engine, cluster, clock)

    def job(name: str, work: Callable[[], object], interval: float, counter: str) -> Job:
        run = RunJob(engine, clock, jitter, name, work, interval, collector.lease)
        return ClusterJob(name, run.run_if_due, counters[counter].count)

    folding = [job("sums", partial(fold_sums, engine), _FOLD_INTERVAL, "limes_sum_runs")] if are_kept(engine) else []
    return [
        *folding,
        job("discovery", discovery.by(of_job("discovery")).run, collector.discovery_interval, "limes_keystone_syncs"),
        job(
            "commitments",
            partial(_renew_and_settle, renewal.by(of_job("commitments")), settle.by(of_job("commitments"))),
            collector.commitment_interval,
            "limes_commitment_runs",
        ),
        job("commitment-use", use.take_sample, collector.commitment_use_interval, "limes_commitment_use_runs"),
        job("metering", closing.run, settings.metering.interval, "limes_metering_runs"),
        job(GROWTH, build_growth(settings, engine, cluster, clock).run, _GROWTH_INTERVAL, "limes_growth_runs"),
        job("temporary-quotas", temporary.run, collector.temporary_quota_interval, "limes_temporary_quota_runs"),
        job("expire-requests", expiry.run, _EXPIRY_INTERVAL, "limes_request_expiry_runs"),
        job("consistency", consistency.run, collector.consistency_interval, "limes_cron_consistency_runs"),
        job("history", ForgetHistory(engine, clock, settings.audit.history_retention).run, _DAY, "limes_history_runs"),
        job("lifetimes", build_clean_up(settings, engine, cluster.catalog, clock).run, _HOUR, "limes_lifetime_runs"),
    ]


def _renew_and_settle(renewal: RenewAutomatically, settle: SettleCommitments) -> None:
    renewal.run()  # first, so that what ends now is followed by its renewal
    settle.run()
