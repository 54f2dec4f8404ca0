"""What collectors do at regular intervals."""

from limes.projects.claims import PeriodicJob
from limes.requests.decide import expire_requests

JOBS = (
    PeriodicJob(
        "expire-requests",
        expire_requests,
        lambda limes: 60.0,
        "limes_request_expiry_runs",
        "Runs of the job that closes requests for quota that have expired",
    ),
)
