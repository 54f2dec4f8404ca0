"""The account of usage and commitments, as JSON and as rows of a spreadsheet.

A month of a large cloud has hundreds of thousands of entries with the same names again and again, so what lines of a
spreadsheet begin with is written once.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated

from msgspec import UNSET, UnsetType, field
from msgspec.json import Encoder
from pydantic import Field

from limes.actions.metering.entries import ClosedMonths
from limes.actions.metering.entries import UsageEntry as Entry
from limes.api.answers.common import Link, Named, PlacedNamed
from limes.core.catalog import Catalog
from limes.core.metering.calendar import render_time
from limes.db.queries.usage_sources import Meter, NameRow
from limes.validation.shape import Amount, Shape, Time, Unit
from limes.web.csv import write_csv_row

AmountSeconds = Annotated[int, Field(ge=0, description="amount-seconds: an amount of 3 for a minute is 180")]
Buckets = Mapping[str, Annotated[int, Field(ge=1)]]

_CSV_HEADER = (
    *("domain_id", "domain_name", "project_id", "project_name", "service_type", "resource_name", "unit"),
    *("availability_zone", "from", "until", "used", "committed", "beyond_commitments", "unknown_seconds"),
    *("smallest", "largest", "last", "closed", "version"),
)
_KEPT = 1000
"""Projects whose names are kept: entries come project by project."""


class Correction(Shape, kw_only=False):
    """When something was corrected after it was closed, and why."""

    at: Time
    reason: str


class UsageEntry(Shape, kw_only=False, rename={"begin": "from", "end": "until"}):
    """What one project has used of one resource in one time: in all AZs, or with `per_az` in one."""

    project: PlacedNamed
    service_type: str
    resource_name: str
    unit: Unit | UnsetType
    availability_zone: Annotated[str, Field(description="with `per_az`")] | UnsetType
    begin: Time
    end: Time
    used: AmountSeconds
    committed: AmountSeconds
    beyond_commitments: AmountSeconds
    unknown_seconds: Annotated[int, Field(ge=0, description="in which nobody knew the usage")]
    smallest: Annotated[Amount, Field(description="with `per_az`")] | UnsetType
    largest: Annotated[Amount, Field(description="with `per_az`")] | UnsetType
    last: Amount
    closed: Annotated[Buckets, Field(description="from how many closed hours, days and months this comes")]
    open: Annotated[Buckets, Field(description="the same of those that are not closed yet")] | UnsetType
    version: Annotated[int, Field(ge=1, description="more than 1 after a correction")]
    corrections: Sequence[Correction] | UnsetType


class UsageReport(Shape):
    """Nothing is told of times in which nothing was used or committed, which was known."""

    metering_began_at: Annotated[int, Field(ge=0, description="when the account begins: before, nothing is known")]
    begin: Time = field(name="from")
    until: Time
    granularity: str
    entries: list[UsageEntry]
    links: list[Link]


class UsageReportAnswer(Shape):
    """By project, service, resource and AZ, in the order of time."""

    usage_report: UsageReport


Part = list[Entry] | ClosedMonths


class UsageWriter:
    """Writes entries in both formats."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._encode = Encoder().encode
        self._unit = cache(self._find_unit)
        self._project = lru_cache(_KEPT)(_project)
        self._cells, self._place = lru_cache(_KEPT)(_cells), cache(_cells_of_place)

    def json(self, part: Part) -> bytes:
        """Returns one line for each entry, with commas in between."""
        return b",\n".join(map(self._encode, self._entries(part)))

    @staticmethod
    def csv_header() -> bytes:
        return write_csv_row(_CSV_HEADER)

    def csv(self, part: Part) -> bytes:
        return "".join(map(self._csv_line, self._entries(part))).encode()

    def _csv_line(self, entry: UsageEntry) -> str:
        project, domain = entry.project, entry.project.domain
        place = (entry.service_type, entry.resource_name, entry.unit, entry.availability_zone, entry.begin, entry.end)
        return (
            f"{self._cells(domain.id, domain.name, project.id, project.name)}{self._place(*place)}"
            f"{entry.used},{entry.committed},{entry.beyond_commitments},{entry.unknown_seconds},"
            f"{'' if entry.smallest is UNSET else entry.smallest},{'' if entry.largest is UNSET else entry.largest},"
            f"{entry.last},{'true' if entry.open is UNSET else 'false'},{entry.version}\r\n"
        )

    def _entries(self, part: Part) -> Iterator[UsageEntry]:
        return self._months(part) if isinstance(part, ClosedMonths) else map(self._entry, part)

    def _entry(self, entry: Entry) -> UsageEntry:
        meter, account = entry.meter, entry.account
        return UsageEntry(
            self._project(entry.names), meter.service, meter.resource,
            self._unit(meter.service, meter.resource, entry.unit), meter.az or UNSET, entry.begin, entry.end,
            account.used, account.committed, account.beyond, account.unknown,
            _or_unset(account.smallest), _or_unset(account.largest), account.last,
            entry.closed, entry.open or UNSET, entry.version, _corrections(entry.corrections),
        )  # fmt: skip

    def _months(self, part: ClosedMonths) -> Iterator[UsageEntry]:
        closed = {"month": part.months}
        named = cache(lambda project, begin: self._project(part.name(project, begin)))
        unit = cache(lambda ref, begin: self._unit(*ref, part.units.at(ref, begin)))
        for row in part.rows:
            (
                project, service, resource, az, begin,
                used, committed, beyond, unknown, smallest, largest, last, version,
            ) = row  # fmt: skip
            reasons = () if version == 1 else part.corrections.get((Meter(project, service, resource, az), begin), ())
            yield UsageEntry(
                named(project, begin), service, resource, unit((service, resource), begin), az or UNSET,
                begin, part.ends[begin], int(used), int(committed), int(beyond), unknown,
                _or_unset(smallest), _or_unset(largest), last, closed, UNSET, version, _corrections(reasons),
            )  # fmt: skip

    def _find_unit(self, service: str, resource: str, noted: str | None) -> str | UnsetType:
        """Returns the unit that was noted, or else the present one."""
        if noted is None and (found := self._catalog.find((service, resource))):
            noted = found.unit.value
        return noted or UNSET


def _project(names: NameRow) -> PlacedNamed:
    return PlacedNamed(names.project_uuid, names.project_name, Named(names.domain_uuid, names.domain_name))


def _or_unset(value: int | None) -> int | UnsetType:
    return UNSET if value is None else value


def _corrections(reasons: Sequence[tuple[int, str]]) -> list[Correction] | UnsetType:
    return [Correction(at, reason) for at, reason in reasons] or UNSET


def _cells(*cells: str) -> str:
    return write_csv_row((*cells, 0)).decode().removesuffix("0\r\n")


def _cells_of_place(service: str, resource: str, unit: str | UnsetType, az: str | UnsetType, *times: int) -> str:
    return _cells(service, resource, *("" if cell is UNSET else cell for cell in (unit, az)), *map(render_time, times))
