"""The jobs that one of all collectors does at a time, at regular intervals."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from limes.app.context import Limes
from limes.app.settings import Settings
from limes.audit.events import of_job
from limes.collector.discover import discover
from limes.collector.follow_configuration import check_consistency
from limes.collector.loop import Job, counted
from limes.commitments.reading import sample_utilisation
from limes.commitments.settle import renew_and_settle
from limes.growth.sample import JOB as GROWTH
from limes.growth.sample import sample_growth
from limes.lifetimes.record import clean_up_lifetimes
from limes.metering.close import close_days
from limes.projects.claims import run_if_due
from limes.quota.change_log import forget_history
from limes.quota.settle_temporary import settle_temporary_quotas
from limes.reports.metrics.counters import OutcomeCounter
from limes.requests.decide import expire_requests
from limes.usage.sum_upkeep import fold_sums

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


JOBS = (
    PeriodicJob(
        "discovery",
        discover,
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
        close_days,
        lambda settings: settings.metering.interval,
        "limes_metering_runs",
        "Runs of the job that keeps the account of usage and commitments",
    ),
    PeriodicJob(
        GROWTH,
        sample_growth,
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
        check_consistency,
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
        clean_up_lifetimes,
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


def periodic_jobs(limes: Limes, counters: Mapping[str, OutcomeCounter]) -> Iterator[Job]:
    """Yields those that this kind of database needs."""
    for job in JOBS:
        if limes.engine.dialect in job.dialects:
            of_its_own, every = limes.as_initiator(of_job(job.name)), job.every(limes.settings)
            run = partial(run_if_due, of_its_own, job.name, job.work, every)
            yield Job(job.name, counted(run, counters[job.counter].count))
