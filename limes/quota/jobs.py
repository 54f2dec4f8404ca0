"""What collectors do at regular intervals."""

from limes.projects.claims import PeriodicJob
from limes.quota import change_log, settle_temporary

JOBS = (
    PeriodicJob(
        "temporary-quotas",
        settle_temporary.settle_temporary_quotas,
        lambda limes: limes.settings.collector.temporary_quota_interval,
        "limes_temporary_quota_runs",
        "Runs of the job that begins and ends temporary quotas",
    ),
    PeriodicJob(
        "history",
        change_log.forget_history,
        lambda limes: 86_400.0,
        "limes_history_runs",
        "Runs of the job that deletes old quota history",
    ),
)
