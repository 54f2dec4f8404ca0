"""Queries for the account of usage, and its entries, and closed months as they are stored."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct

from limes.kernel import calendar
from limes.kernel.calendar import DAY, Bucket, Granularity, day_of, render_time
from limes.kernel.errors import BadRequest
from limes.metering import rules, settings
from limes.metering.source_queries import NO_FILTER, Meter, MeterFilter, Month, Names


class UsageQuery(Struct, frozen=True):
    """What is asked for. None means "all"; times are seconds since the epoch."""

    begin: int
    end: int
    granularity: Granularity
    domains: Sequence[str] | None = None
    projects: Sequence[str] | None = None
    only: MeterFilter = NO_FILTER
    marker: str = ""
    limit: int | None = None
    """Maximum number of projects."""
    as_of: int | None = None
    """Without what was corrected after this time."""
    every_az: bool = False
    """One entry for each AZ, rather than one for all of them."""


def times_of(
    query: UsageQuery, keep: settings.MeteringSettings, now: int, begun_at: int, closed_until: int
) -> list[Bucket]:
    """Returns the times of a query that can be answered. Raises `BadRequest`. `closed_until` is the end of the last day
    that was closed: at the time that is asked for, if there is one."""
    if query.begin > now:
        raise BadRequest(f"query parameter from: expected no time in the future; it is {render_time(now)} now")
    if query.begin >= query.end:
        raise BadRequest("query parameter until: expected a time after `from`")
    named = "hour" if query.granularity is Granularity.TOTAL else query.granularity.value
    for name, time in (("from", query.begin), ("until", query.end)):
        if not calendar.begins_bucket(time, query.granularity):
            raise BadRequest(
                f"query parameter {name}: expected the beginning of a {named} (UTC), not {render_time(time)}"
            )
    latest = datetime(datetime.fromtimestamp(now, UTC).year + 2, 1, 1, tzinfo=UTC)
    if query.end > latest.timestamp():
        raise BadRequest("query parameter until: expected no time after the end of next year")
    found: list[Bucket] = []
    for bucket in calendar.buckets(query.begin, query.end, query.granularity):
        _check_retention(bucket, keep, now, begun_at)  # one by one: what is refused may have millions of hours
        found.append(bucket)
    if query.as_of is not None:
        _check_as_of(query.as_of, query.end, found, now, closed_until)
    return found


def _check_retention(bucket: Bucket, keep: settings.MeteringSettings, now: int, begun_at: int) -> None:
    today = day_of(now)
    if bucket.end <= begun_at:
        raise BadRequest(
            f"query parameter from: the account of usage begins on {render_time(begun_at)}; there is none before"
        )
    what, since = "", bucket.begin
    match bucket.granularity:
        case Granularity.HOUR:
            what, since = "hours", today - keep.keep_hours * DAY
        case Granularity.DAY:
            what, since = "days", today - keep.keep_days * DAY
        case Granularity.MONTH if keep.keep_months is not None:
            what, since = "months", calendar.months_kept_since(now, keep.keep_months)
    if bucket.begin < since:
        longer = "" if bucket.granularity is Granularity.MONTH else "longer times with `granularity`, or for "
        raise BadRequest(
            f"query parameter from: single {what} are kept from {render_time(since)} on; ask for {longer}later ones"
        )


def _check_as_of(as_of: int, end: int, times: Sequence[Bucket], now: int, closed_until: int) -> None:
    if as_of > now:
        raise BadRequest(f"query parameter as_of: expected no time in the future; it is {render_time(now)} now")
    if any(bucket.granularity is Granularity.HOUR for bucket in times):
        raise BadRequest("query parameter as_of: figures from before a correction are kept for days and months only")
    closed_until = min(closed_until, as_of)
    if end > closed_until:
        raise BadRequest(
            "query parameter as_of: past figures are kept for days and months that were closed at that time;"
            f" expected an `until` of {render_time(day_of(closed_until))} or before"
        )


# -- entries -----------------------------------------------------------------------------------------------------------

ALL_AZS = ""
"""The AZ of meters that stand for all of them together."""


class UsageEntry(NamedTuple):
    """What one project used of one resource in one time: in one AZ, or in all of them."""

    names: Names
    """What the project was called at the end."""
    meter: Meter
    begin: int
    end: int
    account: rules.Account
    closed: Mapping[str, int]
    """From how many closed hours, days and months the account comes, by granularity."""
    open: Mapping[str, int]
    """The same for the ones that are not closed yet."""
    version: int
    """More than 1 if something of it was corrected after it was closed."""
    corrections: Sequence[tuple[int, str]] = ()
    """When that was, and why."""
    unit: str | None = None
    """Of amounts, if it was ever noted; otherwise it is what the resource has at present."""


class ClosedMonths(Struct, frozen=True):
    """What is stored for closed months, in the order of reports. A large cloud has hundreds of thousands of
    these rows a month. To make an entry of each takes as long as to read it and to write it."""

    rows: Sequence[Month]
    ends: Mapping[int, int]
    """When a row's time ends, by its beginning."""
    months: int
    """Of how many months each row is."""
    names: Mapping[str, Sequence[Names]]
    corrections: Mapping[tuple[Meter, int], Sequence[tuple[int, str]]]
    """When and why rows were corrected, by what they are about and their beginning."""
    units: rules.MonthUnits

    def name(self, project: str, begin: int) -> Names:
        """Returns what a project (UUID) was called at the end of a row's time."""
        return name_at(self.names[project], self.ends[begin])


def name_at(names: Sequence[Names], end: int) -> Names:
    return next((row for row in reversed(names) if row.since < end), names[0])


_METER, _KEY = itemgetter(slice(0, 4)), itemgetter(0)
_ZERO = (0, 0, 0, 0, 0, 1)


def is_nothing(row: Month) -> bool:
    """Returns whether nothing was used or committed, which was known all the time."""
    _, _, _, _, _, used, committed, _, unknown, _, largest, last, _ = row
    return used == committed == "0" and not (unknown or largest or last)


def add_up_zones(rows: Iterable[Month]) -> list[Month]:
    """Returns one row for each resource and month: the sum over AZs, as `limes.metering.rules.add_zones`
    computes it. There are hundreds of thousands of rows."""
    sums: dict[tuple[str, str, str, int], tuple[int, int, int, int, int, int]] = {}
    for project, service, resource, _, begin, used, committed, beyond, unknown, _, _, last, version in rows:
        key = (project, service, resource, begin)
        other = sums.get(key, _ZERO)
        sums[key] = (
            *(other[0] + int(used), other[1] + int(committed), other[2] + int(beyond)),
            *(unknown if unknown > other[3] else other[3], other[4] + last),
            version if version > other[5] else other[5],
        )
    return [
        (*key[:3], ALL_AZS, key[3], str(used), str(committed), str(beyond), unknown, None, None, last, version)
        for key, (used, committed, beyond, unknown, last, version) in sorted(sums.items(), key=_KEY)
    ]


def add_up(rows: Sequence[Month], months: Sequence[int]) -> Sequence[Month]:
    """Returns one row for each meter: the sum of its rows, which are in order. `months` are the beginnings of
    all of them; in those without a row, nothing was used."""
    if len(months) == 1:
        return rows
    return [_sum([*of_meter], months) for _, of_meter in groupby(rows, _METER)]


def _sum(rows: Sequence[Month], months: Sequence[int]) -> Month:
    *_, used, committed, beyond, unknown, smallest, largest, last, versions = zip(*rows, strict=True)
    totals = (str(sum(map(int, used))), str(sum(map(int, committed))), str(sum(map(int, beyond))), sum(unknown))
    known = [value for value in (*smallest, *largest) if value is not None]
    if len(rows) < len(months):
        known.append(0)
    extremes = (min(known, default=None), max(known, default=None)) if rows[0][3] != ALL_AZS else (None, None)
    return (*rows[0][:4], months[0], *totals, *extremes, last[-1], max(versions))
