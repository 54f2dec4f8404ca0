"""What collectors do at regular intervals."""

from limes.commitments import reading, settle
from limes.projects.claims import PeriodicJob

JOBS = (
    PeriodicJob(
        "commitments",
        settle.renew_and_settle,
        lambda limes: limes.settings.collector.commitment_interval,
        "limes_commitment_runs",
        "Runs of the job that expires and confirms commitments",
    ),
    PeriodicJob(
        "commitment-use",
        reading.sample_utilisation,
        lambda limes: limes.settings.collector.commitment_use_interval,
        "limes_commitment_use_runs",
        "Runs of the job that measures the use of commitments",
    ),
)
