"""Writes from when to when a scrape has found subresources. Called in the scrape's transaction."""

from collections.abc import Mapping
from dataclasses import dataclass

from limes.backends import ResourceUsage
from limes.core.lifetimes import Followed, compare, find
from limes.db.engine import Engine
from limes.db.queries import lifetimes as queries
from limes.db.queries.tasks import ProjectTask


@dataclass(frozen=True, slots=True)
class RecordLifetimes:
    """The use case. The scrape's claim and its locks keep all others from the project's periods."""

    engine: Engine
    followed: Followed

    def run(self, task: ProjectTask, usages: Mapping[str, ResourceUsage], now: float) -> None:
        """Writes what has changed since the last scrape; nothing if nothing has.

        `usages` is the report by resource. A service of which nothing is followed costs no statement.
        """
        followed = {
            name: attributes
            for (service_type, name), attributes in self.followed.items()
            if service_type == task.service_type and name in usages
        }
        if not followed:
            return
        known = queries.open_periods(self.engine, task)
        found = [
            find(name, az, entry, attributes)
            for name, attributes in followed.items()
            for az, item in usages[name].per_az.items()
            for entry in item.subresources
        ]
        changes = compare([period for period in known.periods if period.resource_name in followed], found)
        # a clock that was set back makes no period end before it began
        at = max([now, *(period.began_at for period in known.periods)])
        if changes.ended:
            queries.end_periods(self.engine, changes.ended, at, now if task.scraped_at is None else task.scraped_at)
        project_id = known.project_id
        if project_id is None and (changes.begun or known.periods):
            project_id = queries.name_project(self.engine, task)
        if project_id is not None:
            queries.begin_periods(self.engine, project_id, task.service_type, changes.begun, at)
