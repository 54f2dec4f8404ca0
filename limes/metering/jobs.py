"""What collectors do at regular intervals, and with each scrape."""

from limes.metering.close import close_days
from limes.metering.usage import meter_usage
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

LISTENERS = (lambda limes: meter_usage,)
