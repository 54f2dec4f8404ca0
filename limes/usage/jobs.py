"""What collectors do at regular intervals."""

from limes.projects.claims import PeriodicJob
from limes.usage.sum_upkeep import compact_sums

JOBS = (
    PeriodicJob(
        "sums",
        lambda limes: compact_sums(limes.engine),
        lambda limes: 15.0,
        "limes_sum_runs",
        "Runs of the job that compacts stored sums",
        dialects=("postgresql",),
    ),
)
