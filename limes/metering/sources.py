"""Computes accounts from what is stored: steps, gaps, committed times, and closed days and months."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct, field

from limes.app.context import Limes
from limes.catalog.catalog import ANY_AZ
from limes.db.engine import Engine
from limes.kernel.calendar import DAY, Bucket, Granularity, day_of, month_of, previous_month
from limes.metering import accounts as usage_accounts
from limes.metering import source_queries as queries
from limes.metering.accounts import AccountState
from limes.metering.rules import Account, CommittedTime, Gap, Step, Zone, add, constant, integrate_each, integrate_zones
from limes.metering.source_queries import NO_FILTER, Meter, MeterFilter, StoredAccount
from limes.metering.usage import unknown_since

_FOR_EVER = 2**62
Usages = Mapping[Meter, int]
"""What was used of a resource at a time, by AZ."""


class VersionedAccount(NamedTuple):
    """Of a bucket; the version is more than 1 only if a closed one was corrected."""

    account: Account
    version: int


class MeteringWindow(NamedTuple):
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


def window_at(limes: Limes, state: AccountState, now: int) -> MeteringWindow:
    return MeteringWindow(now, state.begun_at, state.closed_until, limes.settings.usage_valid_for)


def lock_account(limes: Limes) -> AccountState:
    """Returns how far the account has come. Until the transaction ends, nothing else is closed or corrected."""
    state = usage_accounts.lock_state(limes.engine)
    assert state is not None, "metering has started"
    return state


class Sources(Struct, frozen=True):
    """What is known of some projects for a time. Open gaps last until `now`."""

    window: MeteringWindow
    steps: Mapping[Meter, Sequence[Step]] = field(default_factory=dict)
    gaps: Mapping[tuple[str, str], Sequence[Gap]] = field(default_factory=dict)
    committed: Mapping[Meter, Sequence[CommittedTime]] = field(default_factory=dict)
    days: Mapping[Meter, Sequence[StoredAccount]] = field(default_factory=dict)
    months: Mapping[Meter, Sequence[StoredAccount]] = field(default_factory=dict)
    places: Sequence[Meter] = ()
    """What is reported for projects with unknown usage, even if nothing of it is used."""
    pools: bool = True
    """Whether commitments in the AZ `any` cover usage in others. They did not in earlier releases."""

    def meters(self) -> list[Meter]:
        """Returns what there may be something to say about, in order."""
        return sorted({*self.steps, *self.committed, *self.days, *self.months, *self.places})

    def resources(self, also: Iterable[Meter] = ()) -> Iterator[list[Meter]]:
        """Yields the same and `also`, all AZs of a resource of a project at a time."""
        meters = sorted({*self.meters(), *also}) if also else self.meters()
        for _, zones in groupby(meters, itemgetter(slice(0, 3))):
            yield [*zones]

    def accounts(self, zones: Sequence[Meter], times: Iterable[Bucket]) -> Iterator[dict[Meter, VersionedAccount]]:
        """Yields the accounts of a resource in all of its AZs, for each of these times, where each follows the one
        before. What is yet to come is left out."""
        days = {meter: {row.begin: row for row in self.days.get(meter, ())} for meter in zones}
        usages: Usages | None = None
        for bucket in times:
            if usages is None:
                usages = {meter: self._usage_at(meter, bucket.begin) for meter in zones}
            counted = self._counted(bucket, usages, days)
            yield counted
            usages = {meter: each.account.last for meter, each in counted.items()}

    def _counted(
        self, bucket: Bucket, usages: Usages, days: Mapping[Meter, Mapping[int, StoredAccount]]
    ) -> dict[Meter, VersionedAccount]:
        if bucket.granularity is Granularity.MONTH:
            told = self.month_until([*usages], bucket.begin, min(bucket.end, self.window.now))
            stored_months = {meter: self._stored_month(meter, bucket.begin) for meter in usages}
            return {
                meter: VersionedAccount(told[meter], row.version if row else 1) for meter, row in stored_months.items()
            }
        day = day_of(bucket.begin)
        if day + DAY > self.window.closed_until:
            return _as_first_version(self._eventful(bucket.begin, bucket.end, usages))
        # a closed day without a row was one on which nothing happened
        rows = {meter: days[meter][day] for meter in usages if day in days[meter]}
        uneventful = {meter: usage for meter, usage in usages.items() if meter not in rows}
        found = _as_first_version(self._uneventful(bucket.begin, bucket.end, uneventful))
        if bucket.granularity is Granularity.DAY:
            return found | {meter: VersionedAccount(row.account, row.version) for meter, row in rows.items()}
        eventful = {meter: usages[meter] for meter in rows}
        return found | _as_first_version(self._eventful(bucket.begin, bucket.end, eventful))

    def month_until(self, zones: Sequence[Meter], month: int, end: int) -> dict[Meter, Account]:
        """Returns the accounts of a month, from its beginning to a time that is not closed yet, or to its end: the sum
        of its days. A stored month counts up to the last day on which something happened. From then on usage was the
        same, but for the steps in days that are not closed."""
        stored = {meter: self._stored_month(meter, month) for meter in zones}
        usages = {
            meter: self._usage_at(meter, month) if row is None else row.account.last for meter, row in stored.items()
        }
        found = {meter: row.account for meter, row in stored.items() if row is not None}
        since = {meter: month if row is None else row.counted_until for meter, row in stored.items()}
        for begin in {*since.values()}:
            if begin < end or begin == month:
                later = self._since(begin, end, usages)
                for meter in (meter for meter in zones if since[meter] == begin):
                    found[meter] = add(found[meter], later[meter]) if meter in found else later[meter]
        return found

    def _since(self, begin: int, end: int, usages: Usages) -> dict[Meter, Account]:
        """Returns the accounts of a time that begins with closed days on which nothing has happened."""
        open_since = min(max(begin, self.window.closed_until), end)
        if begin >= open_since:
            return self._eventful(begin, end, usages)
        found = self._uneventful(begin, open_since, usages)
        if open_since >= end:
            return found
        later = self._eventful(open_since, end, usages)
        return {meter: add(account, later[meter]) for meter, account in found.items()}

    def _stored_month(self, meter: Meter, month: int) -> StoredAccount | None:
        return next((row for row in self.months.get(meter, ()) if row.begin == month), None)

    def _uneventful(self, begin: int, end: int, usages: Usages) -> dict[Meter, Account]:
        """Returns the accounts of (a part of) closed days on which usage has not changed, and was known."""
        zones = {meter.az: Zone(usage, (), self.committed.get(meter, ())) for meter, usage in usages.items()}
        return self._integrate(begin, end, usages, zones, self.window.gaps_at(begin))

    def _eventful(self, begin: int, end: int, usages: Usages) -> dict[Meter, Account]:
        end = min(end, self.window.now)
        if begin >= end:
            return {meter: constant(begin, begin, usage) for meter, usage in usages.items()}
        zones = {}
        for meter, usage in usages.items():
            zones[meter.az] = Zone(usage, self.steps.get(meter, ()), self.committed.get(meter, ()))
        gaps = [gap for meter in [*usages][:1] for gap in self.gaps.get(meter[:2], ())]
        return self._integrate(begin, end, usages, zones, [*gaps, *self.window.gaps_at(begin)])

    def _integrate(
        self, begin: int, end: int, usages: Usages, zones: Mapping[str, Zone], gaps: Sequence[Gap]
    ) -> dict[Meter, Account]:
        found = integrate_zones(begin, end, zones, gaps) if self.pools else integrate_each(begin, end, zones, gaps)
        return {meter: found[meter.az] for meter in usages}

    def is_pooled(self, zones: Iterable[Meter], begin: int, end: int) -> bool:
        """Returns whether a commitment to this resource covered usage in all AZs at some time."""
        times = [time for meter in zones if meter.az == ANY_AZ for time in self.committed.get(meter, ())]
        return any(time.begin < end and time.end > begin for time in times)

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


def _as_first_version(accounts: Mapping[Meter, Account]) -> dict[Meter, VersionedAccount]:
    return {meter: VersionedAccount(account, 1) for meter, account in accounts.items()}


def load_sources(
    engine: Engine,
    projects: Sequence[str],
    begin: int,
    end: int,
    finest: Granularity,
    window: MeteringWindow,
    *,
    only: MeterFilter = NO_FILTER,
    anew: bool = False,
) -> Sources:
    """Loads what is needed for accounts from `begin` to `end` in hours, days or months, with seven queries at most.
    With `anew`, what is stored for these days is left out, so that they are computed again. All AZs are loaded,
    whatever `only` says: what counts in one may depend on others. To be called inside a transaction."""
    now, closed_until, only = window.now, window.closed_until, only._replace(azs=None)
    if anew:
        closed_until = min(closed_until, begin)
        window = window._replace(closed_until=closed_until)
    end = min(end, now)
    month = month_of(min(begin, closed_until))  # steps are loaded from there on, and go on from what was stored
    months = queries.months(engine, projects, previous_month(month), end, only)
    if finest is Granularity.MONTH and end <= closed_until:
        return Sources(window, months=months)
    # days after that were closed by a clock that was ahead
    closed = min(end, window.closed_until)
    days = {} if finest is Granularity.MONTH else queries.days(engine, projects, month, closed, only)
    if anew:
        months = {meter: [row for row in rows if row.counted_until <= begin] for meter, rows in months.items()}
    committed = queries.committed(engine, projects, month, end, only)
    detailed = min(
        day_of(begin) if finest is Granularity.HOUR else _FOR_EVER, closed_until if end > closed_until else _FOR_EVER
    )
    if detailed >= end:
        return Sources(window, committed=committed, days=days, months=months)
    gaps = load_gaps(engine, projects, detailed, end, window)
    unknown = sorted({project for project, _ in gaps})
    places = [place for place in queries.places(engine, unknown, only) if place[:2] in gaps] if unknown else []
    steps = queries.steps(engine, projects, detailed, end, only)
    return Sources(window, steps, gaps, committed, days, months, places)


def load_gaps(
    engine: Engine, projects: Sequence[str], begin: int, end: int, window: MeteringWindow
) -> dict[tuple[str, str], list[Gap]]:
    """Returns the times that overlap this one in which the usage is unknown, by project and service. Some may last
    until now."""
    gaps = queries.gaps(engine, projects, begin, end)
    for project, service, scraped_at, failing_since in queries.scrape_times(engine, True, projects):
        since = unknown_since(scraped_at, failing_since, window.valid_for)
        if since is not None and since < min(end, window.now):
            gaps.setdefault((project, service), []).append(Gap(since, window.now))
    return gaps
