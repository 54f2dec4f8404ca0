"""Computes accounts from what is stored: steps, gaps, committed times, and closed days and months."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from limes.actions.metering.usage import unknown_since
from limes.core.metering.account import Account, CommittedTime, Gap, Step, add, constant, integrate
from limes.core.metering.calendar import (
    Bucket,
    Granularity,
    day_of,
    month_of,
    previous_month,
)
from limes.db.engine import Engine
from limes.db.queries import usage_sources as queries
from limes.db.queries.usage_sources import EVERYTHING, Meter, Only, StoredAccount

_FOR_EVER = 2**62


class Counted(NamedTuple):
    """The account of a bucket, and which version of a closed one it is."""

    account: Account
    version: int


class Horizon(NamedTuple):
    """What is known of the account as a whole."""

    now: int
    begun_at: int
    """Nothing is known of what was before."""
    closed_until: int
    valid_for: float
    """How long (in seconds) a scrape's findings count as known."""

    def gaps_at(self, begin: int) -> Sequence[Gap]:
        """Returns what is unknown of all projects in a time that begins then, whenever they were discovered."""
        return (Gap(0, self.begun_at),) if begin < self.begun_at else ()


@dataclass(frozen=True, slots=True)
class Sources:
    """What is known of some projects for a time. Open gaps last until `now`."""

    horizon: Horizon
    steps: Mapping[Meter, Sequence[Step]] = field(default_factory=dict)
    gaps: Mapping[tuple[str, str], Sequence[Gap]] = field(default_factory=dict)
    committed: Mapping[Meter, Sequence[CommittedTime]] = field(default_factory=dict)
    days: Mapping[Meter, Sequence[StoredAccount]] = field(default_factory=dict)
    months: Mapping[Meter, Sequence[StoredAccount]] = field(default_factory=dict)
    places: Sequence[Meter] = ()
    """What is reported of projects of which something was not known, even if nothing of it is used."""

    def meters(self) -> list[Meter]:
        """Returns what there may be something to say about, in order."""
        return sorted({*self.steps, *self.committed, *self.days, *self.months, *self.places})

    def accounts(self, meter: Meter, times: Iterable[Bucket]) -> Iterator[Counted]:
        """Yields the accounts of these times, of which each follows the one before. What is yet to come is left out."""
        days = {row.begin: row for row in self.days.get(meter, ())}
        usage: int | None = None
        for bucket in times:
            if usage is None:
                usage = self._usage_at(meter, bucket.begin)
            counted = self._account(meter, bucket, usage, days)
            yield counted
            usage = counted.account.last

    def _account(self, meter: Meter, bucket: Bucket, usage: int, days: Mapping[int, StoredAccount]) -> Counted:
        if bucket.granularity is Granularity.MONTH:
            return self._month(meter, bucket)
        if bucket.granularity is Granularity.DAY:
            stored = days.get(bucket.begin)
            if stored is not None:
                return Counted(stored.account, stored.version)
            if bucket.end <= self.horizon.closed_until:
                begin, end, committed = bucket.begin, bucket.end, self.committed.get(meter, ())
                return Counted(integrate(begin, end, usage, (), self.horizon.gaps_at(begin), committed), 1)
        return Counted(self._integrate(meter, bucket.begin, bucket.end, usage), 1)

    def _month(self, meter: Meter, bucket: Bucket) -> Counted:
        stored = self._stored_month(meter, bucket.begin)
        version = 1 if stored is None else stored.version
        return Counted(self.month_until(meter, bucket.begin, min(bucket.end, self.horizon.now)), version)

    def month_until(self, meter: Meter, month: int, end: int) -> Account:
        """Returns the account of a month from its beginning to a time that is not closed yet, or to its end.

        A stored month counts up to the last day on which something happened. From then on usage was the same, but for
        the steps in days that are not closed.
        """
        stored = self._stored_month(meter, month)
        if stored is None:
            return self._integrate(meter, month, end, self._usage_at(meter, month))
        if stored.counted_until >= end:
            return stored.account
        return add(stored.account, self._integrate(meter, stored.counted_until, end, stored.account.last))

    def _stored_month(self, meter: Meter, month: int) -> StoredAccount | None:
        return next((row for row in self.months.get(meter, ()) if row.begin == month), None)

    def _integrate(self, meter: Meter, begin: int, end: int, usage: int) -> Account:
        end = min(end, self.horizon.now)
        if begin >= end:
            return constant(begin, begin, usage)
        gaps = (*self.gaps.get((meter.project, meter.service), ()), *self.horizon.gaps_at(begin))
        return integrate(begin, end, usage, self.steps.get(meter, ()), gaps, self.committed.get(meter, ()))

    def _usage_at(self, meter: Meter, time: int) -> int:
        """Returns what was used before this time, as far as known."""
        known_at, usage = -1, 0
        for stored in (*self.months.get(meter, ()), *self.days.get(meter, ())):
            if known_at < stored.counted_until <= time:
                known_at, usage = stored.counted_until, stored.account.last
        for step in self.steps.get(meter, ()):
            if known_at <= step.at <= time:
                known_at, usage = step.at, step.usage
        return usage


def load_sources(
    engine: Engine,
    projects: Sequence[str],
    begin: int,
    end: int,
    finest: Granularity,
    horizon: Horizon,
    *,
    only: Only = EVERYTHING,
    anew: bool = False,
) -> Sources:
    """Loads what is needed for accounts from `begin` to `end` in hours, days or months, with seven queries at most.

    With `anew`, what is stored of these days is left out, so that they are computed anew. To be called inside a
    transaction.
    """
    now, closed_until = horizon.now, horizon.closed_until
    if anew:
        closed_until = min(closed_until, begin)
        horizon = horizon._replace(closed_until=closed_until)
    end = min(end, now)
    month = month_of(min(begin, closed_until))  # steps are loaded from there on, and go on from what was stored
    months = queries.months(engine, projects, previous_month(month), end, only)
    if finest is Granularity.MONTH and end <= closed_until:
        return Sources(horizon, months=months)
    days = {} if finest is Granularity.MONTH else queries.days(engine, projects, month, end, only)
    if anew:
        days = {meter: [row for row in rows if row.begin < begin] for meter, rows in days.items()}
        months = {meter: [row for row in rows if row.counted_until <= begin] for meter, rows in months.items()}
    committed = queries.committed(engine, projects, month, end, only)
    detailed = min(
        day_of(begin) if finest is Granularity.HOUR else _FOR_EVER, closed_until if end > closed_until else _FOR_EVER
    )
    if detailed >= end:
        return Sources(horizon, committed=committed, days=days, months=months)
    gaps = load_gaps(engine, projects, detailed, end, horizon)
    unknown = sorted({project for project, _ in gaps})
    places = [place for place in queries.places(engine, unknown, only) if place[:2] in gaps] if unknown else []
    steps = queries.steps(engine, projects, detailed, end, only)
    return Sources(horizon, steps, gaps, committed, days, months, places)


def load_gaps(
    engine: Engine, projects: Sequence[str], begin: int, end: int, horizon: Horizon
) -> dict[tuple[str, str], list[Gap]]:
    """Returns the times that overlap this one in which nobody knew the usage, by project and service. Some may last
    until now."""
    gaps = queries.gaps(engine, projects, begin, end)
    for project, service, scraped_at, failing_since in queries.scrape_times(engine, projects):
        since = unknown_since(scraped_at, failing_since, horizon.valid_for)
        if since is not None and since < min(end, horizon.now):
            gaps.setdefault((project, service), []).append(Gap(since, horizon.now))
    return gaps
