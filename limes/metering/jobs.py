"""What collectors do at regular intervals, and with each scrape."""

from limes.metering import close, usage
from limes.projects.claims import PeriodicJob

JOBS = (
    PeriodicJob(
        "metering",
        close.close_days,
        lambda limes: limes.settings.metering.interval,
        "limes_metering_runs",
        "Runs of the job that keeps the account of usage and commitments",
    ),
)

LISTENERS = (lambda limes: usage.meter_usage,)
