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
from dataclasses import dataclass
from functools import partial

from limes.core.metering.calendar import HOUR
from limes.db.engine import Engine
from limes.db.queries.growth_samples import bring_forward
from limes.db.queries.scrapes import Figures

JOB = "growth"
"""What the job that takes samples is called."""
SOON = 15.0
"""Seconds, so that one sample has the figures of many projects."""
_CLOUD = ""


@dataclass(frozen=True, slots=True)
class AskForSample:
    """The use case. To be called inside the transaction that writes the figures; it works after that."""

    engine: Engine

    def for_project(self, domain: str, stored: Figures, present: Figures, now: float) -> None:
        """Asks if there are first figures of a project of this domain (UUID)."""
        # within the hour, other projects of the domain may have been sampled, but not this one
        self._ask(domain, _first_figures(stored, present), now, int(now) - int(now) % HOUR)

    def for_capacity(self, resources: Collection[int], now: float) -> None:
        """Asks if these resources, of which there is capacity, are new in the cloud."""
        self._ask(_CLOUD, resources, now, int(now) + 1)

    def _ask(self, scope: str, resources: Collection[int], now: float, sampled_before: int) -> None:
        if resources:
            self.engine.after_commit(partial(self._bring_forward, scope, resources, now, sampled_before))

    def _bring_forward(self, scope: str, resources: Collection[int], now: float, sampled_before: int) -> None:
        self.engine.atomic(partial(bring_forward, self.engine, JOB, now + SOON, scope, resources, sampled_before))


def _first_figures(stored: Figures, present: Figures) -> list[int]:
    """Returns the resources of which something is used or granted, and nothing was before."""
    before = {id_ for id_, row in stored.resources.items() if row.usage or row.quota}
    return [id_ for id_, row in present.resources.items() if (row.usage or row.quota) and id_ not in before]
