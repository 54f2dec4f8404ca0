"""What collectors do at regular intervals, and with each scrape."""

from limes.growth.sample import JOB, sample_growth, sample_projects
from limes.projects.claims import PeriodicJob

JOBS = (
    PeriodicJob(
        JOB,
        sample_growth,
        lambda limes: 1800.0,  # so that each hour has a sample, even if one is late
        "limes_growth_runs",
        "Runs of the job that samples usage, quota, commitments and capacity",
    ),
)

LISTENERS = (lambda limes: sample_projects,)
