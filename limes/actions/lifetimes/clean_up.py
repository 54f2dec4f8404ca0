"""Ends periods that no scrape can end any more, and deletes old ones."""

from dataclasses import dataclass

from limes.core.lifetimes import Followed
from limes.db.engine import Engine
from limes.db.queries import lifetimes as queries
from limes.system import Clock

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class CleanUpLifetimes:
    """The use case. Periods are kept for `retention` seconds after their end."""

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
