"""The account of usage and commitments, as JSON and as rows of a spreadsheet."""

from limes.actions.metering.report import UsageEntry
from limes.core.catalog import Catalog
from limes.core.metering.calendar import render_time
from limes.db.queries.usage_sources import Meter, NameRow
from limes.web.json import dump_part

CSV_HEADER = (
    *("domain_id", "domain_name", "project_id", "project_name", "service_type", "resource_name", "unit"),
    *("availability_zone", "from", "until", "used", "committed", "beyond_commitments", "unknown_seconds"),
    *("smallest", "largest", "last", "closed", "version"),
)


class EntryWriter:
    """Writes entries (`limes.api.shapes.usage`) as JSON.

    A month of a large cloud has hundreds of thousands of them, with the same names again and again. A general encoder
    takes several times as long, and knows no numbers of more than 64 bits, which totals may have.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._places: dict[tuple[str, str, str], str] = {}
        self._last: tuple[NameRow | None, str] = (None, "")

    def write(self, entry: UsageEntry) -> str:
        """Returns one entry."""
        meter, account = entry.meter, entry.account
        place = self._places.get(meter[1:]) or self._places.setdefault(meter[1:], self._place(meter))
        extremes = "" if account.smallest is None else f',"smallest":{account.smallest},"largest":{account.largest}'
        reasons = [{"at": at, "reason": reason} for at, reason in entry.corrections]
        corrections = f',"corrections":{_dump(reasons)}' if reasons else ""
        still_open = f',"open":{_dump(entry.open)}' if entry.open else ""
        return (
            f'{{"project":{self._project(entry.names)},{place},"from":{entry.begin},"until":{entry.end},'
            f'"used":{account.used},"committed":{account.committed},"beyond_commitments":{account.beyond},'
            f'"unknown_seconds":{account.unknown}{extremes},"last":{account.last},'
            f'"closed":{_dump(entry.closed)}{still_open},"version":{entry.version}{corrections}}}'
        )

    def _project(self, names: NameRow) -> str:
        if self._last[0] is not names:
            domain = {"id": names.domain_uuid, "name": names.domain_name}
            self._last = (names, _dump({"id": names.project_uuid, "name": names.project_name, "domain": domain}))
        return self._last[1]

    def _place(self, meter: Meter) -> str:
        unit = _unit(meter, self._catalog)
        document = {
            "service_type": meter.service,
            "resource_name": meter.resource,
            **({"unit": unit} if unit else {}),
            "availability_zone": meter.az,
        }
        return _dump(document)[1:-1]


def render_csv_row(entry: UsageEntry, catalog: Catalog) -> tuple[object, ...]:
    """Returns the cells that `CSV_HEADER` names."""
    names, meter, account = entry.names, entry.meter, entry.account
    return (
        *(names.domain_uuid, names.domain_name, meter.project, names.project_name),
        *(meter.service, meter.resource, _unit(meter, catalog), meter.az),
        *(render_time(entry.begin), render_time(entry.end)),
        *(account.used, account.committed, account.beyond, account.unknown),
        *(account.smallest, account.largest, account.last, not entry.open, entry.version),
    )


def _unit(meter: Meter, catalog: Catalog) -> str:
    resource = catalog.find((meter.service, meter.resource))
    return resource.unit.value if resource else ""


def _dump(document: object) -> str:
    return dump_part(document).decode()
