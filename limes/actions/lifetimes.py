"""From when to when subresources were there: recorded by scrapes, shown for bills, and forgotten in the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limes.actions.lookup import find_domain, find_project
from limes.backends import ResourceUsage
from limes.core.lifetimes import Followed, compare, find
from limes.db.engine import Engine
from limes.db.queries import lifetime_reports as reports
from limes.db.queries import lifetimes as queries
from limes.db.queries.lifetime_reports import LifetimeFilter, LifetimeRow
from limes.db.queries.tasks import ProjectTask
from limes.system import Clock

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class RecordLifetimes:
    """Writes what a scrape has found, in its transaction.

    The scrape's claim and its locks keep all others from the project's periods.
    """

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


@dataclass(frozen=True, slots=True)
class ShowLifetimes:
    """Shows periods."""

    engine: Engine

    def run(self, wanted: LifetimeFilter, after: int, limit: int) -> Sequence[LifetimeRow]:
        """Returns a page of periods. Raises `NotFound` for a domain or project that is not there and never had any."""

        def read() -> Sequence[LifetimeRow]:
            domain, project = wanted.domain_uuid, wanted.project_uuid
            if domain is not None and not reports.was_there(self.engine, domain, project):
                find_domain(self.engine, domain)
                if project is not None:
                    find_project(self.engine, domain, project)
            return reports.page(self.engine, wanted, after, limit)

        return self.engine.snapshot(read)


@dataclass(frozen=True, slots=True)
class CleanUpLifetimes:
    """Ends periods that no scrape can end any more, and deletes old ones.

    Periods are kept for `retention` seconds after their end.
    """

    engine: Engine
    followed: Followed
    clock: Clock
    retention: float

    def run(self) -> None:
        """The job. Several may run it at once."""
        now = self.clock.now().timestamp()
        followed = ["/".join(ref) for ref in self.followed]
        self.engine.atomic(lambda: queries.end_others(self.engine, followed, now))
        before = now - self.retention
        while self.engine.atomic(lambda: queries.delete_ended_before(self.engine, before, _BATCH)) == _BATCH:
            pass
        self.engine.atomic(lambda: queries.delete_projects_without_periods(self.engine))
