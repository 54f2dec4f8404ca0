"""The account of usage and commitments, as JSON and as rows of a spreadsheet."""

from typing import Any

import orjson

from limes.actions.metering.report import UsageEntry, render_time
from limes.core.catalog import Catalog

CSV_HEADER = (
    *("domain_id", "domain_name", "project_id", "project_name", "service_type", "resource_name", "unit"),
    *("availability_zone", "from", "until", "used", "committed", "beyond_commitments", "unknown_seconds"),
    *("smallest", "largest", "last", "closed", "version"),
)
_LARGEST = 2**63 - 1


def render_entry(entry: UsageEntry, catalog: Catalog) -> dict[str, Any]:
    """Returns one entry (`limes.api.shapes.usage`)."""
    names, meter, account = entry.names, entry.meter, entry.account
    document = {
        "project": {
            "id": meter.project,
            "name": names.project_name,
            "domain": {"id": names.domain_uuid, "name": names.domain_name},
        },
        "service_type": meter.service,
        "resource_name": meter.resource,
        "availability_zone": meter.az,
        "from": entry.begin,
        "until": entry.end,
        "used": _number(account.used),
        "committed": _number(account.committed),
        "beyond_commitments": _number(account.beyond),
        "unknown_seconds": account.unknown,
        "last": account.last,
        "closed": entry.closed,
        "version": entry.version,
    }
    if unit := _unit(entry, catalog):
        document["unit"] = unit
    if account.smallest is not None:
        document |= {"smallest": account.smallest, "largest": account.largest}
    if entry.open:
        document["open"] = entry.open
    return document


def render_csv_row(entry: UsageEntry, catalog: Catalog) -> tuple[object, ...]:
    """Returns the cells that `CSV_HEADER` names."""
    names, meter, account = entry.names, entry.meter, entry.account
    return (
        *(names.domain_uuid, names.domain_name, meter.project, names.project_name),
        *(meter.service, meter.resource, _unit(entry, catalog), meter.az),
        *(render_time(entry.begin), render_time(entry.end)),
        *(account.used, account.committed, account.beyond, account.unknown),
        *(account.smallest, account.largest, account.last, not entry.open, entry.version),
    )


def _unit(entry: UsageEntry, catalog: Catalog) -> str:
    resource = catalog.find((entry.meter.service, entry.meter.resource))
    return resource.unit.value if resource else ""


def _number(total: int) -> int | orjson.Fragment:
    """Returns a number that orjson can write: it knows none of more than 64 bits."""
    return total if total <= _LARGEST else orjson.Fragment(str(total))
