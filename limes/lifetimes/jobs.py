"""What collectors do at regular intervals, and with each scrape."""

from functools import partial

from limes.app.context import Limes
from limes.lifetimes.record import clean_up_lifetimes, record_lifetimes
from limes.lifetimes.rules import followed_resources
from limes.projects.claims import PeriodicJob
from limes.projects.scrapes import Listener

JOBS = (
    PeriodicJob(
        "lifetimes",
        clean_up_lifetimes,
        lambda limes: 3600.0,
        "limes_lifetime_runs",
        "Runs of the job that deletes old lifetimes of subresources",
    ),
)


def _recording(limes: Limes) -> Listener:
    return partial(
        record_lifetimes, of=followed_resources(limes.catalog, limes.settings.subresource_lifetimes.resources)
    )


LISTENERS = (_recording,)
