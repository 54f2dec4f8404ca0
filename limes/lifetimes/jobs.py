"""What collectors do at regular intervals."""

from limes.lifetimes.record import clean_up_lifetimes
from limes.projects.claims import PeriodicJob

JOBS = (
    PeriodicJob(
        "lifetimes",
        clean_up_lifetimes,
        lambda limes: 3600.0,
        "limes_lifetime_runs",
        "Runs of the job that deletes old lifetimes of subresources",
    ),
)
