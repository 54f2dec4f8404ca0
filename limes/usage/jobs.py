"""What collectors do at regular intervals."""

from limes.projects.claims import PeriodicJob
from limes.usage.sum_upkeep import fold_sums

JOBS = (
    PeriodicJob(
        "sums",
        lambda limes: fold_sums(limes.engine),
        lambda limes: 15.0,
        "limes_sum_runs",
        "Runs of the job that folds kept sums",
        dialects=("postgresql",),
    ),
)
