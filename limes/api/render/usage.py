"""The account of usage and commitments, as JSON and as rows of a spreadsheet.

A month of a large cloud has hundreds of thousands of entries with the same names again and again, so what lines begin
with is written once. General encoders take several times as long, and that of JSON knows no numbers of more than 64
bits, which totals may have.
"""

from collections.abc import Sequence

from limes.actions.metering.entries import ClosedMonths, UsageEntry
from limes.core.catalog import Catalog
from limes.core.metering.calendar import render_time
from limes.db.queries.usage_sources import NameRow
from limes.web.csv import write_csv_row
from limes.web.json import dump_part

_Place = tuple[str, str, str]
"""Service, resource, AZ."""
_CSV_HEADER = (
    *("domain_id", "domain_name", "project_id", "project_name", "service_type", "resource_name", "unit"),
    *("availability_zone", "from", "until", "used", "committed", "beyond_commitments", "unknown_seconds"),
    *("smallest", "largest", "last", "closed", "version"),
)


class JsonWriter:
    """Writes entries (`limes.api.shapes.usage`) as JSON."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._places: dict[_Place, str] = {}
        self._last: tuple[NameRow | None, str] = (None, "")

    def lines(self, part: list[UsageEntry] | ClosedMonths) -> list[str]:
        """Returns one line for each entry."""
        return self._months(part) if isinstance(part, ClosedMonths) else [self._entry(entry) for entry in part]

    def _entry(self, entry: UsageEntry) -> str:
        meter, account = entry.meter, entry.account
        place = self._place(meter.service, meter.resource, meter.az)
        still_open = f',"open":{_dump(entry.open)}' if entry.open else ""
        return (
            f'{self._project(entry.names)}{place}"from":{entry.begin},"until":{entry.end},'
            f'"used":{account.used},"committed":{account.committed},"beyond_commitments":{account.beyond},'
            f'"unknown_seconds":{account.unknown}{_extremes(account.smallest, account.largest)},"last":{account.last},'
            f'"closed":{_dump(entry.closed)}{still_open},"version":{entry.version}{_reasons(entry.corrections)}}}'
        )

    def _months(self, part: ClosedMonths) -> list[str]:
        """Does the same for rows."""
        spans = {begin: f'"from":{begin},"until":{end},"used":' for begin, end in part.ends.items()}
        closed = f'"closed":{_dump({"month": part.months})},"version":'
        projects: dict[tuple[str, int], str] = {}
        lines = []
        for row in part.rows:
            (
                project,
                service,
                resource,
                az,
                begin,
                used,
                committed,
                beyond,
                unknown,
                smallest,
                largest,
                last,
                version,
            ) = row
            called = projects.get((project, begin))
            if called is None:
                called = projects[project, begin] = self._project(part.name(project, begin))
            place = self._places.get((service, resource, az)) or self._place(service, resource, az)
            reasons = "" if version == 1 else _reasons(part.reasons_of(row))
            extremes = _extremes(smallest, largest)
            lines.append(
                f'{called}{place}{spans[begin]}{used},"committed":{committed},"beyond_commitments":{beyond},'
                f'"unknown_seconds":{unknown}{extremes},"last":{last},{closed}{version}{reasons}}}'
            )
        return lines

    def _project(self, names: NameRow) -> str:
        if self._last[0] is not names:
            domain = {"id": names.domain_uuid, "name": names.domain_name}
            document = {"id": names.project_uuid, "name": names.project_name, "domain": domain}
            self._last = (names, f'{{"project":{_dump(document)},')
        return self._last[1]

    def _place(self, service: str, resource: str, az: str) -> str:
        place = self._places.get((service, resource, az))
        if place is None:
            unit = _unit(service, resource, self._catalog)
            document = {
                "service_type": service,
                "resource_name": resource,
                **({"unit": unit} if unit else {}),
                "availability_zone": az,
            }
            place = self._places[service, resource, az] = f"{_dump(document)[1:-1]},"
        return place


def _extremes(smallest: int | None, largest: int | None) -> str:
    return "" if smallest is None else f',"smallest":{smallest},"largest":{largest}'


def _reasons(corrections: Sequence[tuple[int, str]]) -> str:
    reasons = [{"at": at, "reason": reason} for at, reason in corrections]
    return f',"corrections":{_dump(reasons)}' if reasons else ""


class CsvWriter:
    """Writes entries as rows of a spreadsheet."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._places: dict[_Place, str] = {}
        self._last: tuple[NameRow | None, str] = (None, "")

    @staticmethod
    def header() -> bytes:
        """Returns the line that names the cells."""
        return write_csv_row(_CSV_HEADER)

    def lines(self, part: list[UsageEntry] | ClosedMonths) -> list[str]:
        """Returns one line for each entry, with its end."""
        return self._months(part) if isinstance(part, ClosedMonths) else [self._entry(entry) for entry in part]

    def _entry(self, entry: UsageEntry) -> str:
        meter, account = entry.meter, entry.account
        place = self._place(meter.service, meter.resource, meter.az)
        closed = "false" if entry.open else "true"
        smallest, largest = _cell(account.smallest), _cell(account.largest)
        return (
            f"{self._project(entry.names)}{place}{render_time(entry.begin)},{render_time(entry.end)},"
            f"{account.used},{account.committed},{account.beyond},{account.unknown},"
            f"{smallest},{largest},{account.last},{closed},{entry.version}\r\n"
        )

    def _months(self, part: ClosedMonths) -> list[str]:
        """Does the same for rows."""
        spans = {begin: f"{render_time(begin)},{render_time(end)}," for begin, end in part.ends.items()}
        projects: dict[tuple[str, int], str] = {}
        lines = []
        for row in part.rows:
            (
                project,
                service,
                resource,
                az,
                begin,
                used,
                committed,
                beyond,
                unknown,
                smallest,
                largest,
                last,
                version,
            ) = row
            called = projects.get((project, begin))
            if called is None:
                called = projects[project, begin] = self._project(part.name(project, begin))
            place = self._places.get((service, resource, az)) or self._place(service, resource, az)
            lines.append(
                f"{called}{place}{spans[begin]}{used},{committed},{beyond},{unknown},"
                f"{_cell(smallest)},{_cell(largest)},{last},true,{version}\r\n"
            )
        return lines

    def _project(self, names: NameRow) -> str:
        if self._last[0] is not names:
            cells = (names.domain_uuid, names.domain_name, names.project_uuid, names.project_name)
            self._last = (names, _cells(*cells))
        return self._last[1]

    def _place(self, service: str, resource: str, az: str) -> str:
        place = self._places.get((service, resource, az))
        if place is None:
            place = _cells(service, resource, _unit(service, resource, self._catalog), az)
            self._places[service, resource, az] = place
        return place


def _cells(*cells: str) -> str:
    return write_csv_row((*cells, 0)).decode().removesuffix("0\r\n")


def _cell(value: int | None) -> str:
    return "" if value is None else str(value)


def _unit(service: str, resource: str, catalog: Catalog) -> str:
    found = catalog.find((service, resource))
    return found.unit.value if found else ""


def _dump(document: object) -> str:
    return dump_part(document).decode()
