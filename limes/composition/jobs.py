"""The jobs that one of all collectors does at a time, at regular intervals."""

from collections.abc import Callable
from dataclasses import dataclass

from limes.actions.check_consistency import CheckConsistency
from limes.actions.commitments.settle import renew_and_settle
from limes.actions.commitments.utilisation import sample_utilisation
from limes.actions.context import Limes
from limes.actions.growth.early_sample import JOB as GROWTH
from limes.actions.lifetimes import CleanUpLifetimes, followed_by
from limes.actions.quota_history import forget_history
from limes.actions.quota_requests.decide import expire_requests
from limes.actions.settle_temporary_quotas import settle_temporary_quotas
from limes.composition import use_cases
from limes.db.queries.sum_upkeep import fold_sums
from limes.settings import Settings

_HOUR = 3600.0
_DAY = 24 * _HOUR


@dataclass(frozen=True, slots=True)
class PeriodicJob:
    """What is to be done, how often (in seconds), and the counter of its runs."""

    name: str
    work: Callable[[Limes], object]
    every: Callable[[Settings], float]
    counter: str
    help: str
    dialects: tuple[str, ...] = ("sqlite", "postgresql")


def _check_consistency(limes: Limes) -> None:
    sync = use_cases.build_sync_catalog(limes)
    CheckConsistency(limes.engine, limes.catalog, limes.constraints, sync, limes.change_log).run()


def _clean_up_lifetimes(limes: Limes) -> None:
    retention = limes.settings.subresource_lifetimes.retention
    CleanUpLifetimes(limes.engine, followed_by(limes.settings, limes.catalog), limes.clock, retention).run()


JOBS = (
    PeriodicJob(
        "discovery",
        lambda limes: use_cases.build_discovery(limes).run(),
        lambda settings: settings.collector.discovery_interval,
        "limes_keystone_syncs",
        "Discoveries of domains and projects",
    ),
    PeriodicJob(
        "commitments",
        renew_and_settle,
        lambda settings: settings.collector.commitment_interval,
        "limes_commitment_runs",
        "Runs of the job that expires and confirms commitments",
    ),
    PeriodicJob(
        "commitment-use",
        sample_utilisation,
        lambda settings: settings.collector.commitment_use_interval,
        "limes_commitment_use_runs",
        "Runs of the job that measures the use of commitments",
    ),
    PeriodicJob(
        "expire-requests",
        expire_requests,
        lambda settings: 60.0,
        "limes_request_expiry_runs",
        "Runs of the job that closes requests for quota that have expired",
    ),
    PeriodicJob(
        "metering",
        lambda limes: use_cases.build_closing(limes).run(),
        lambda settings: settings.metering.interval,
        "limes_metering_runs",
        "Runs of the job that keeps the account of usage and commitments",
    ),
    PeriodicJob(
        GROWTH,
        lambda limes: use_cases.build_growth(limes).run(),
        lambda settings: 1800.0,  # so that each hour has a sample, even if one is late
        "limes_growth_runs",
        "Runs of the job that samples usage, quota, commitments and capacity",
    ),
    PeriodicJob(
        "temporary-quotas",
        settle_temporary_quotas,
        lambda settings: settings.collector.temporary_quota_interval,
        "limes_temporary_quota_runs",
        "Runs of the job that begins and ends temporary quotas",
    ),
    PeriodicJob(
        "consistency",
        _check_consistency,
        lambda settings: settings.collector.consistency_interval,
        "limes_cron_consistency_runs",
        "Runs of the consistency job",
    ),
    PeriodicJob(
        "history",
        forget_history,
        lambda settings: _DAY,
        "limes_history_runs",
        "Runs of the job that deletes old quota history",
    ),
    PeriodicJob(
        "lifetimes",
        _clean_up_lifetimes,
        lambda settings: _HOUR,
        "limes_lifetime_runs",
        "Runs of the job that deletes old lifetimes of subresources",
    ),
    PeriodicJob(
        "sums",
        lambda limes: fold_sums(limes.engine),
        lambda settings: 15.0,
        "limes_sum_runs",
        "Runs of the job that folds kept sums",
        dialects=("postgresql",),
    ),
)
