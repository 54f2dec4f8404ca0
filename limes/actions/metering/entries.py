"""What is told of the account of usage: entries, and closed months as they are stored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from limes.core.calendar import MonthUnits
from limes.core.metering import Account
from limes.db.queries.usage_sources import Meter, Month, MonthRow, NameRow

ALL_AZS = ""
"""The AZ of meters that stand for all of them together."""


class UsageEntry(NamedTuple):
    """What one project used of one resource in one time: in one AZ, or in all of them."""

    names: NameRow
    """What the project was called at the end."""
    meter: Meter
    begin: int
    end: int
    account: Account
    closed: Mapping[str, int]
    """From how many closed hours, days and months the account comes, by granularity."""
    open: Mapping[str, int]
    """The same of those that are not closed yet."""
    version: int
    """More than 1 if something of it was corrected after it was closed."""
    corrections: Sequence[tuple[int, str]] = ()
    """When that was, and why."""
    unit: str | None = None
    """Of amounts, if it was ever noted; otherwise it is what the resource has at present."""


@dataclass(frozen=True, slots=True)
class ClosedMonths:
    """What is stored of closed months, in the order in which it is told.

    A large cloud has hundreds of thousands of these rows a month. To make an entry of each takes as long as to read it
    and to write it.
    """

    rows: Sequence[Month]
    ends: Mapping[int, int]
    """When a row's time ends, by its beginning."""
    months: int
    """Of how many months each row is."""
    names: Mapping[str, Sequence[NameRow]]
    corrections: Mapping[tuple[Meter, int], Sequence[tuple[int, str]]]
    """When and why rows were corrected, by what they are about and their beginning."""
    units: MonthUnits

    def name(self, project: str, begin: int) -> NameRow:
        """Returns what a project (UUID) was called at the end of a row's time."""
        return name_at(self.names[project], self.ends[begin])


def name_at(names: Sequence[NameRow], end: int) -> NameRow:
    """Returns what the project was called at the end of a time."""
    return next((row for row in reversed(names) if row.since < end), names[0])


_METER, _KEY = itemgetter(slice(0, 4)), itemgetter(0)
_ZERO = (0, 0, 0, 0, 0, 1)


def is_nothing(row: Month) -> bool:
    """Returns whether nothing was used or committed, which was known all the time."""
    _, _, _, _, _, used, committed, _, unknown, _, largest, last, _ = row
    return used == committed == "0" and not (unknown or largest or last)


def add_up_zones(rows: Iterable[Month]) -> list[Month]:
    """Returns one row for each resource and month: the sum over AZs, as `limes.core.metering.add_zones`
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
    return [_sum([*map(MonthRow._make, of_meter)], months) for _, of_meter in groupby(rows, _METER)]


def _sum(rows: Sequence[MonthRow], months: Sequence[int]) -> MonthRow:
    zero = [] if len(rows) == len(months) else [0]
    known = [value for row in rows for value in (row.smallest, row.largest) if value is not None] + zero
    used, committed, beyond = (str(sum(map(int, totals))) for totals in zip(*(row[5:8] for row in rows), strict=True))
    unknown = sum(row.unknown for row in rows)
    extremes = (min(known, default=None), max(known, default=None)) if rows[0].az != ALL_AZS else (None, None)
    version = max(row.version for row in rows)
    totals = (used, committed, beyond, unknown)
    return MonthRow(*rows[0][:4], months[0], *totals, *extremes, rows[-1].last, version)
