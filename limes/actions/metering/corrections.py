"""Corrects closed days and months of which something was recorded after they were closed.

What was said before is kept, with the reason. What is older than single hours are kept stays as it is.
"""

import logging
from collections.abc import Mapping, Sequence
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

    def present(self, late: Mapping[str, int]) -> dict[str, Days]:
        """Returns the closed days that may be wrong, as they are told now: for each project (UUID) those from a time
        on."""
        return {project: self._days(project, self._first_day(at), anew=False) for project, at in late.items()}

    def correct(self, late: Mapping[str, int], before: Mapping[str, Days], reason: str) -> None:
        """Computes these days anew, and their months with them. `before` is what `present` has returned."""
        for project, at in late.items():
            self._correct(project, at, before[project], reason)

    def _correct(self, project: str, at: int, before: Days, reason: str) -> None:
        now = self.horizon.now
        changed: list[tuple[Meter, StoredAccount]] = []
        noted: list[Correction] = []
        for meter, rows in self._days(project, self._first_day(at), anew=True).items():
            olds = {row.begin: row for row in before.get(meter, ())}
            for row in rows:
                old = olds.get(row.begin) or _nothing(row.begin, row.counted_until)
                if old.account != row.account:
                    changed.append((meter, row._replace(version=old.version + 1)))
                    noted.append(Correction(now, reason, "day", meter, old))
        if not changed:
            return
        accounts.write_days(self.engine, changed)
        for month in sorted({month_of(row.begin) for _, row in changed}):
            of_month = {meter for meter, row in changed if month_of(row.begin) == month}
            noted += self._correct_month(project, of_month, month, reason)
        accounts.add_corrections(self.engine, noted)
        log.warning("project %s: %d closed days were corrected: %s", project, len(changed), reason)

    def _correct_month(self, project: str, meters: set[Meter], month: int, reason: str) -> list[Correction]:
        """Adds up a month anew. Returns what it said before, if it was closed."""
        noted, written = [], []
        end = min(next_month(month), self.state.closed_until)
        stored = sources.months(self.engine, [project], month, month + 1)
        so_far = self.month_so_far(project, month, end)
        for meter in sorted(meters):
            (old,) = stored.get(meter) or [_nothing(month, end)]
            if old.account != so_far[meter]:
                is_closed = end == next_month(month)
                written.append((meter, StoredAccount(month, so_far[meter], old.version + is_closed, end)))
                if is_closed:
                    noted.append(Correction(self.horizon.now, reason, "month", meter, old))
        accounts.write_months(self.engine, written)
        return noted

    def month_so_far(self, project: str, month: int, end: int) -> dict[Meter, Account]:
        """Returns the account of the closed days of a month, added up from the days."""
        first = max(month, day_of(self.state.begun_at))
        known = load_sources(self.engine, [project], first, end, Granularity.DAY, self.horizon)
        unknown = sources.gaps(self.engine, [project], month, first) if month < first else {}
        times = list(buckets(first, end, Granularity.DAY))
        found = {}
        for meter in known.meters():
            parts = [integrate(month, first, 0, gaps=unknown.get((project, meter.service), ()))] if unknown else []
            parts += [counted.account for counted in known.accounts(meter, times)]
            found[meter] = reduce(add, parts)
        return found

    def _first_day(self, at: int) -> int:
        """Returns the first day that can still be computed anew."""
        kept_since = day_of(self.horizon.now) - self.keep_hours * DAY
        return max(day_of(at), day_of(self.state.begun_at), kept_since)

    def _days(self, project: str, begin: int, *, anew: bool) -> dict[Meter, list[StoredAccount]]:
        end = self.state.closed_until
        if begin >= end:
            return {}
        known = load_sources(self.engine, [project], begin, end, Granularity.DAY, self.horizon, anew=anew)
        times = list(buckets(begin, end, Granularity.DAY))
        return {
            meter: [
                StoredAccount(day.begin, counted.account, counted.version, day.end)
                for day, counted in zip(times, known.accounts(meter, times), strict=True)
            ]
            for meter in known.meters()
        }


def _nothing(begin: int, end: int) -> StoredAccount:
    return StoredAccount(begin, integrate(begin, end, 0), 1, end)
