"""What usage reports say, entry by entry."""

from typing import NamedTuple

from limes.app.context import Limes
from limes.metering.entries import ClosedMonths, UsageEntry, UsageQuery
from limes.metering.report import find_page, read_parts
from limes.metering.rules import Account
from limes.metering.source_queries import Meter


class MonthRow(NamedTuple):
    """A `Month` with names."""

    project: str
    service: str
    resource: str
    az: str
    begin: int
    used: str
    committed: str
    beyond: str
    unknown: int
    smallest: int | None
    largest: int | None
    last: int
    version: int

    @property
    def meter(self) -> Meter:
        return Meter._make(self[:4])

    @property
    def account(self) -> Account:
        return Account(int(self.used), int(self.committed), int(self.beyond), *self[8:12])


def read_entries(limes: Limes, query: UsageQuery) -> list[UsageEntry]:
    """All on one page."""
    page = find_page(limes, query)
    assert page.next is None
    parts = list(read_parts(limes, page))
    return [entry for part in parts for entry in (entries_of(part) if isinstance(part, ClosedMonths) else part)]


def entries_of(months: ClosedMonths) -> list[UsageEntry]:
    """Stored months as entries."""
    closed = {"month": months.months}
    return [
        UsageEntry(
            *(months.name(row.project, row.begin), row.meter, row.begin, months.ends[row.begin], row.account),
            *(closed, {}, row.version, months.corrections.get((row.meter, row.begin), ())),
            months.units.at((row.service, row.resource), row.begin),
        )
        for row in map(MonthRow._make, months.rows)
    ]
