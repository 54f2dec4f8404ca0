"""What collectors do at regular intervals."""

from limes.commitments.reading import sample_utilisation
from limes.commitments.settle import renew_and_settle
from limes.projects.claims import PeriodicJob

JOBS = (
    PeriodicJob(
        "commitments",
        renew_and_settle,
        lambda limes: limes.settings.collector.commitment_interval,
        "limes_commitment_runs",
        "Runs of the job that expires and confirms commitments",
    ),
    PeriodicJob(
        "commitment-use",
        sample_utilisation,
        lambda limes: limes.settings.collector.commitment_use_interval,
        "limes_commitment_use_runs",
        "Runs of the job that measures the use of commitments",
    ),
)
