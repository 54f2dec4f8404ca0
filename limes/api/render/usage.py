"""The account of usage and commitments, as JSON and as rows of a spreadsheet.

A month of a large cloud has hundreds of thousands of entries with the same names again and again, so what lines begin
with is written once. General encoders take several times as long, and that of JSON knows no numbers of more than 64
bits, which totals may have.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from limes.actions.metering.entries import ClosedMonths, UsageEntry
from limes.core.catalog import Catalog
from limes.core.metering.calendar import render_time
from limes.db.queries.usage_sources import Month, NameRow
from limes.web.csv import write_csv_row
from limes.web.json import dump_part

_Place = tuple[str, str, str, str | None]
"""Service, resource, AZ (empty: all of them), and the unit if that is known."""
_CSV_HEADER = (
    *("domain_id", "domain_name", "project_id", "project_name", "service_type", "resource_name", "unit"),
    *("availability_zone", "from", "until", "used", "committed", "beyond_commitments", "unknown_seconds"),
    *("smallest", "largest", "last", "closed", "version"),
)


class _Writer(ABC):
    """Writes entries as lines. What they begin with, project and place, is written once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._places: dict[_Place, str] = {}
        self._last: tuple[NameRow | None, str] = (None, "")

    def lines(self, part: list[UsageEntry] | ClosedMonths) -> list[str]:
        """Returns one line for each entry."""
        return self._months(part) if isinstance(part, ClosedMonths) else [self._entry(entry) for entry in part]

    @abstractmethod
    def _entry(self, entry: UsageEntry) -> str: ...

    @abstractmethod
    def _months(self, part: ClosedMonths) -> list[str]:
        """Does the same for rows."""

    @abstractmethod
    def _render_project(self, names: NameRow) -> str: ...

    @abstractmethod
    def _render_place(self, service: str, resource: str, unit: str, az: str) -> str: ...

    def _beginnings(self, part: ClosedMonths) -> Iterator[tuple[str, Month]]:
        """Yields what the line of each row begins with, and the row."""
        projects: dict[tuple[str, int], str] = {}
        places: dict[tuple[str, str, str, int], str] = {}
        for row in part.rows:
            project, begin = row[0], row[4]
            called = projects.get((project, begin))
            if called is None:
                called = projects[project, begin] = self._project(part.name(project, begin))
            place = places.get(row[1:5])
            if place is None:
                place = places[row[1:5]] = self._place((*row[1:4], part.unit(row)))
            yield called + place, row

    def _beginning(self, entry: UsageEntry) -> str:
        meter = entry.meter
        return self._project(entry.names) + self._place((meter.service, meter.resource, meter.az, entry.unit))

    def _project(self, names: NameRow) -> str:
        if self._last[0] is not names:
            self._last = (names, self._render_project(names))
        return self._last[1]

    def _place(self, place: _Place) -> str:
        text = self._places.get(place)
        if text is None:
            service, resource, az, unit = place
            if unit is None:
                found = self._catalog.find((service, resource))
                unit = found.unit.value if found else ""
            text = self._places[place] = self._render_place(service, resource, unit, az)
        return text


class JsonWriter(_Writer):
    """Writes entries (`limes.api.shapes.usage`) as JSON."""

    def _entry(self, entry: UsageEntry) -> str:
        account = entry.account
        still_open = f',"open":{_dump(entry.open)}' if entry.open else ""
        return (
            f'{self._beginning(entry)}"from":{entry.begin},"until":{entry.end},'
            f'"used":{account.used},"committed":{account.committed},"beyond_commitments":{account.beyond},'
            f'"unknown_seconds":{account.unknown}{_extremes(account.smallest, account.largest)},"last":{account.last},'
            f'"closed":{_dump(entry.closed)}{still_open},"version":{entry.version}{_reasons(entry.corrections)}}}'
        )

    def _months(self, part: ClosedMonths) -> list[str]:
        spans = {begin: f'"from":{begin},"until":{end},"used":' for begin, end in part.ends.items()}
        closed = f'"closed":{_dump({"month": part.months})},"version":'
        lines = []
        for beginning, row in self._beginnings(part):
            begin, used, committed, beyond, unknown, smallest, largest, last, version = row[4:13]
            reasons = "" if version == 1 else _reasons(part.reasons_of(row))
            extremes = _extremes(smallest, largest)
            lines.append(
                f'{beginning}{spans[begin]}{used},"committed":{committed},"beyond_commitments":{beyond},'
                f'"unknown_seconds":{unknown}{extremes},"last":{last},{closed}{version}{reasons}}}'
            )
        return lines

    def _render_project(self, names: NameRow) -> str:
        domain = {"id": names.domain_uuid, "name": names.domain_name}
        document = {"id": names.project_uuid, "name": names.project_name, "domain": domain}
        return f'{{"project":{_dump(document)},'

    def _render_place(self, service: str, resource: str, unit: str, az: str) -> str:
        document = {
            "service_type": service,
            "resource_name": resource,
            **({"unit": unit} if unit else {}),
            **({"availability_zone": az} if az else {}),
        }
        return f"{_dump(document)[1:-1]},"


def _extremes(smallest: int | None, largest: int | None) -> str:
    return "" if smallest is None else f',"smallest":{smallest},"largest":{largest}'


def _reasons(corrections: Sequence[tuple[int, str]]) -> str:
    reasons = [{"at": at, "reason": reason} for at, reason in corrections]
    return f',"corrections":{_dump(reasons)}' if reasons else ""


class CsvWriter(_Writer):
    """Writes entries as rows of a spreadsheet, with the ends of lines."""

    @staticmethod
    def header() -> bytes:
        """Returns the line that names the cells."""
        return write_csv_row(_CSV_HEADER)

    def _entry(self, entry: UsageEntry) -> str:
        account = entry.account
        closed = "false" if entry.open else "true"
        smallest, largest = _cell(account.smallest), _cell(account.largest)
        return (
            f"{self._beginning(entry)}{render_time(entry.begin)},{render_time(entry.end)},"
            f"{account.used},{account.committed},{account.beyond},{account.unknown},"
            f"{smallest},{largest},{account.last},{closed},{entry.version}\r\n"
        )

    def _months(self, part: ClosedMonths) -> list[str]:
        spans = {begin: f"{render_time(begin)},{render_time(end)}," for begin, end in part.ends.items()}
        lines = []
        for beginning, row in self._beginnings(part):
            begin, used, committed, beyond, unknown, smallest, largest, last, version = row[4:13]
            lines.append(
                f"{beginning}{spans[begin]}{used},{committed},{beyond},{unknown},"
                f"{_cell(smallest)},{_cell(largest)},{last},true,{version}\r\n"
            )
        return lines

    def _render_project(self, names: NameRow) -> str:
        return _cells(names.domain_uuid, names.domain_name, names.project_uuid, names.project_name)

    def _render_place(self, service: str, resource: str, unit: str, az: str) -> str:
        return _cells(service, resource, unit, az)


def _cells(*cells: str) -> str:
    return write_csv_row((*cells, 0)).decode().removesuffix("0\r\n")


def _cell(value: int | None) -> str:
    return "" if value is None else str(value)


def _dump(document: object) -> str:
    return dump_part(document).decode()
