"""Corrects closed days and months of which something was recorded after they were closed.

What was said before is kept, with the reason. What is older than single hours are kept stays as it is.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from limes.actions.metering.sources import Horizon, load_sources
from limes.core.metering.account import Account, add, integrate
from limes.core.metering.calendar import DAY, Granularity, buckets, day_of, month_of, next_month
from limes.db.engine import Engine
from limes.db.queries import usage_accounts as accounts
from limes.db.queries import usage_sources as sources
from limes.db.queries.usage_accounts import Correction, State
from limes.db.queries.usage_sources import Meter, StoredAccount

log = logging.getLogger(__name__)

_PROJECTS = 20
"""Whose accounts are computed together."""
Days = Mapping[Meter, Sequence[StoredAccount]]
"""Closed days that follow each other."""


@dataclass(frozen=True, slots=True)
class CorrectAccounts:
    """The use case with what it works with. To be called in the transaction that has locked `state`."""

    engine: Engine
    state: State
    horizon: Horizon
    keep_hours: int
    """For how many days single hours are kept."""

    def present(self, late: Mapping[str, int]) -> Days:
        """Returns the closed days that may be wrong, as they are told now: of each project (UUID) at least those from
        a time on."""
        found: dict[Meter, list[StoredAccount]] = {}
        for some in in_parts(late):
            found |= self._days(some, anew=False)
        return found

    def correct(self, late: Mapping[str, int], before: Days, reason: str) -> None:
        """Computes these days anew, and their months with them. `before` is what `present` has returned."""
        for some in in_parts(late):
            self._correct(some, {meter: rows for meter, rows in before.items() if meter.project in some}, reason)

    def _correct(self, late: Mapping[str, int], before: Days, reason: str) -> None:
        written: list[tuple[Meter, StoredAccount]] = []
        noted: list[Correction] = []
        for meter, rows in self._days(late, anew=True, also=before).items():
            olds = {row.begin: row for row in before.get(meter, ())}
            begins_otherwise = False
            for row in rows:
                old = olds.get(row.begin) or _nothing(row.begin, row.counted_until)
                differs = old.account != row.account
                # if this day had no row, it would begin with what the day before ends with now
                if differs or begins_otherwise:
                    written.append((meter, row._replace(version=old.version + differs)))
                if differs:
                    noted.append(Correction(self.horizon.now, reason, "day", meter, old))
                begins_otherwise = differs and old.account.last != row.account.last
        if not noted:
            return
        accounts.write_days(self.engine, written)
        days_of = Counter(correction.meter.project for correction in noted)
        for month in sorted({month_of(row.begin) for _, row in written}):
            of_month = {meter for meter, row in written if month_of(row.begin) == month}
            noted += self._correct_month(of_month, month, reason)
        accounts.add_corrections(self.engine, noted)
        for project, days in sorted(days_of.items()):
            log.warning("project %s: %d closed days were corrected: %s", project, days, reason)

    def _correct_month(self, meters: set[Meter], month: int, reason: str) -> list[Correction]:
        """Adds up a month anew. Returns what it said before, if it was closed."""
        noted, written = [], []
        end = min(next_month(month), self.state.closed_until)
        projects = sorted({meter.project for meter in meters})
        stored = sources.months(self.engine, projects, month, month + 1)
        so_far = self.month_so_far(projects, month, end)
        for meter in sorted(meters):
            (old,) = stored.get(meter) or [_nothing(month, end)]
            differs = old.account != so_far[meter]
            if differs or meter not in stored:
                is_corrected = differs and end == next_month(month)
                written.append((meter, StoredAccount(month, so_far[meter], old.version + is_corrected, end)))
                if is_corrected:
                    noted.append(Correction(self.horizon.now, reason, "month", meter, old))
        accounts.write_months(self.engine, written)
        return noted

    def month_so_far(self, projects: Sequence[str], month: int, end: int) -> dict[Meter, Account]:
        """Returns the account of the closed days of a month, added up from the days."""
        first = max(month, day_of(self.state.begun_at))
        known = load_sources(self.engine, projects, first, end, Granularity.DAY, self.horizon)
        times = list(buckets(first, end, Granularity.DAY))
        found = {}
        for meter in known.meters():
            parts = [integrate(month, first, 0, gaps=self.horizon.gaps_at(month))] if month < first else []
            parts += [counted.account for counted in known.accounts(meter, times)]
            found[meter] = reduce(add, parts)
        return found

    def _first_day(self, at: int) -> int:
        """Returns the first day that can still be computed anew."""
        kept_since = day_of(self.horizon.now) - self.keep_hours * DAY
        return max(day_of(at), day_of(self.state.begun_at), kept_since)

    def _days(
        self, late: Mapping[str, int], *, anew: bool, also: Iterable[Meter] = ()
    ) -> dict[Meter, list[StoredAccount]]:
        """`also` is what to tell of even if there is nothing to say about it any more."""
        begin, end = self._first_day(min(late.values())), self.state.closed_until
        if begin >= end:
            return {}
        known = load_sources(self.engine, sorted(late), begin, end, Granularity.DAY, self.horizon, anew=anew)
        times = list(buckets(begin, end, Granularity.DAY))
        return {
            meter: [
                StoredAccount(day.begin, counted.account, counted.version, day.end)
                for day, counted in zip(times, known.accounts(meter, times), strict=True)
            ]
            for meter in sorted({*known.meters(), *also})
        }


def in_parts(late: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yields some projects at a time: those whose accounts are computed together."""
    projects = sorted(late)
    for start in range(0, len(projects), _PROJECTS):
        yield {project: late[project] for project in projects[start : start + _PROJECTS]}


def _nothing(begin: int, end: int) -> StoredAccount:
    return StoredAccount(begin, integrate(begin, end, 0), 1, end)
