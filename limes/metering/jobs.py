"""What collectors do at regular intervals."""

from limes.metering.close import close_days
from limes.projects.claims import PeriodicJob

JOBS = (
    PeriodicJob(
        "metering",
        close_days,
        lambda limes: limes.settings.metering.interval,
        "limes_metering_runs",
        "Runs of the job that keeps the account of usage and commitments",
    ),
)
