"""Has a sample of growth taken soon after the first figures of something, so that a new cloud, domain or service has a
chart after 15 seconds instead of half an hour.

Invariant: of a resource that is new in a domain, the first figures of each project are in a sample that becomes due 15
seconds later at the latest, or were in one before; and so is the first capacity of a resource that is new in the cloud.
The scrape asks for the sample once its figures are stored. If a sample is being taken just then, which has not seen
them, asking ends its claim, so the job runs once more. After the first hour of a resource in a domain nothing is asked
for any more, and only scrapes of capacity, and those that find the first figures of a project, look whether that is so:
with one statement.
"""

from collections.abc import Collection
from functools import partial

from limes.actions.context import Limes
from limes.actions.scrape import Scrape
from limes.core.calendar import HOUR
from limes.db.queries.growth_samples import bring_forward

JOB = "growth"
"""What the job that takes samples is called."""
SOON = 15.0
"""Seconds, so that one sample has the figures of many projects."""
_CLOUD = ""


def sample_project(limes: Limes, scrape: Scrape) -> None:
    """Asks if something of the project is used or granted, and nothing was before."""
    before = {id_ for id_, row in scrape.stored.resources.items() if row.usage or row.quota}
    first = [id_ for id_, row in scrape.present.resources.items() if (row.usage or row.quota) and id_ not in before]
    # within the hour, other projects of the domain may have been sampled, but not this one
    _ask(limes, scrape.task.domain_uuid, first, scrape.now, int(scrape.now) - int(scrape.now) % HOUR)


def sample_capacity(limes: Limes, resources: Collection[int], now: float) -> None:
    """Asks if these resources are new in the cloud. Inside the transaction that writes their capacity."""
    _ask(limes, _CLOUD, resources, now, int(now) + 1)


def _ask(limes: Limes, scope: str, resources: Collection[int], now: float, sampled_before: int) -> None:
    engine = limes.engine

    def ask() -> None:
        engine.atomic(partial(bring_forward, engine, JOB, now + SOON, scope, resources, sampled_before))

    if resources:
        engine.after_commit(ask)
