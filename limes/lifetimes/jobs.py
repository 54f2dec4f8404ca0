"""What collectors do at regular intervals, and with each scrape."""

from functools import partial

from limes.app.context import Limes
from limes.lifetimes import record, rules
from limes.projects import claims, scrapes

JOBS = (
    claims.PeriodicJob(
        "lifetimes",
        record.clean_up_lifetimes,
        lambda limes: 3600.0,
        "limes_lifetime_runs",
        "Runs of the job that deletes old lifetimes of subresources",
    ),
)


def _recording(limes: Limes) -> scrapes.Listener:
    return partial(
        record.record_lifetimes,
        of=rules.followed_resources(limes.catalog, limes.settings.subresource_lifetimes.resources),
    )


LISTENERS = (_recording,)
