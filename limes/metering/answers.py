"""The account of usage and commitments, as JSON and as rows of a spreadsheet.

A month of a large cloud has hundreds of thousands of entries with the same names again and again, so what lines of a
spreadsheet begin with is written once.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated, Any

from msgspec import UNSET, UnsetType, field
from msgspec.json import Encoder, encode
from pydantic import Field

from limes.api.answers import Link, Named, PlacedNamed
from limes.catalog.catalog import Catalog
from limes.kernel.calendar import render_time
from limes.kernel.validation.shape import Amount, Shape, Time, Unit, stored
from limes.metering.entries import ClosedMonths
from limes.metering.entries import UsageEntry as Entry
from limes.metering.source_queries import Meter, Names
from limes.web.encoding import write_csv_row

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
    unknown_seconds: Annotated[int, Field(ge=0, description="in which the usage was unknown")]
    smallest: Annotated[Amount, Field(description="with `per_az`")] | UnsetType
    largest: Annotated[Amount, Field(description="with `per_az`")] | UnsetType
    last: Amount
    closed: Annotated[Buckets, Field(description="from how many closed hours, days and months this comes")]
    open: Annotated[Buckets, Field(description="the same for those that are not closed yet")] | UnsetType
    version: Annotated[int, Field(ge=1, description="more than 1 after a correction")]
    corrections: Sequence[Correction] | UnsetType


class UsageReport(Shape):
    """Times in which it is known that nothing was used or committed are left out."""

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
        self._encode_lines = Encoder().encode_lines
        self._unit = cache(self._find_unit)
        self._project, self._names = lru_cache(_KEPT)(_project), lru_cache(_KEPT)(_cells_of_project)
        self._place = cache(self._cells_of_place)

    def json(self, part: Part) -> bytes:
        """Returns one line for each entry, with commas in between."""
        entries = self._months(part) if isinstance(part, ClosedMonths) else map(self._entry, part)
        return self._encode_lines([*entries])[:-1].replace(b"\n", b",\n")

    @staticmethod
    def csv_header() -> bytes:
        return write_csv_row(_CSV_HEADER)

    def csv(self, part: Part) -> bytes:
        """Returns one line for each entry. Closed months are as they are stored: numbers as digits."""
        lines = self._month_lines(part) if isinstance(part, ClosedMonths) else map(self._line, part)
        return "".join(lines).encode()

    def _line(self, entry: Entry) -> str:
        meter, (used, committed, beyond, unknown, smallest, largest, last) = entry.meter, entry.account
        return (
            f"{self._names(meter.project, entry.names)}{self._place(*meter[1:], entry.begin, entry.end, entry.unit)}"
            f"{used},{committed},{beyond},{unknown},{'' if smallest is None else smallest},"
            f"{'' if largest is None else largest},{last},{'false' if entry.open else 'true'},{entry.version}\r\n"
        )

    def _month_lines(self, part: ClosedMonths) -> Iterator[str]:
        named = cache(lambda project, begin: self._names(project, part.name(project, begin)))
        place = cache(lambda *place: self._place(*place, part.ends[place[-1]], part.units.at(place[:2], place[-1])))
        for (
            project, service, resource, az, begin, used, committed, beyond, unknown, smallest, largest, last, version
        ) in part.rows:  # fmt: skip
            yield (
                f"{named(project, begin)}{place(service, resource, az, begin)}"
                f"{used},{committed},{beyond},{unknown},{'' if smallest is None else smallest},"
                f"{'' if largest is None else largest},{last},true,{version}\r\n"
            )

    def _entry(self, entry: Entry) -> UsageEntry:
        meter, account = entry.meter, entry.account
        return UsageEntry(
            self._project(meter.project, entry.names), meter.service, meter.resource,
            self._unit(meter.service, meter.resource, entry.unit), meter.az or UNSET, entry.begin, entry.end,
            account.used, account.committed, account.beyond, account.unknown,
            UNSET if account.smallest is None else account.smallest,
            UNSET if account.largest is None else account.largest, account.last,
            entry.closed, entry.open or UNSET, entry.version, _corrections(entry.corrections),
        )  # fmt: skip

    def _months(self, part: ClosedMonths) -> Iterator[UsageEntry]:
        closed, ends = stored(encode({"month": part.months}).decode()), part.ends
        named = cache(lambda project, begin: self._project(project, part.name(project, begin)))
        unit = cache(lambda *of: self._unit(*of[:2], part.units.at(of[:2], of[2])))
        for (
            project, service, resource, az, begin, used, committed, beyond, unknown, smallest, largest, last, version
        ) in part.rows:  # fmt: skip
            key = (Meter(project, service, resource, az), begin) if version > 1 else None
            yield UsageEntry(
                named(project, begin), service, resource, unit(service, resource, begin), az or UNSET,
                begin, ends[begin], int(used), int(committed), int(beyond), unknown,
                UNSET if smallest is None else smallest, UNSET if largest is None else largest, last, closed, UNSET,
                version, UNSET if key is None else _corrections(part.corrections.get(key, ())),
            )  # fmt: skip

    def _find_unit(self, service: str, resource: str, noted: str | None) -> str | UnsetType:
        """Returns the unit that was noted, or else the present one."""
        if noted is None and (found := self._catalog.find((service, resource))):
            noted = found.unit.value
        return noted or UNSET

    def _cells_of_place(self, service: str, resource: str, az: str, begin: int, end: int, unit: str | None) -> str:
        unit = self._unit(service, resource, unit) or ""
        return _cells(service, resource, unit, az, render_time(begin), render_time(end))


def _project(uuid: str, names: Names) -> Any:
    """Returns a `PlacedNamed` as it is encoded."""
    return stored(PlacedNamed(uuid, names.project_name, Named(names.domain_uuid, names.domain_name)).as_json())


def _corrections(reasons: Sequence[tuple[int, str]]) -> list[Correction] | UnsetType:
    return [Correction(at, reason) for at, reason in reasons] or UNSET


def _cells_of_project(uuid: str, names: Names) -> str:
    return _cells(names.domain_uuid, names.domain_name, uuid, names.project_name)


def _cells(*cells: str) -> str:
    return write_csv_row((*cells, 0)).decode().removesuffix("0\r\n")
