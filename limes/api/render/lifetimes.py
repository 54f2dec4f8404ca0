"""From when to when subresources existed, as JSON and CSV."""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from limes.core.metering.calendar import render_time
from limes.db.queries.lifetimes import LifetimeRow

CSV_HEADER = (
    *("domain_id", "domain_name", "project_id", "project_name", "service_type", "resource_name", "availability_zone"),
    *("id", "name", "attributes", "first_seen_at", "began_at", "last_seen_at", "ended_at", "seconds"),
)


def seconds_within(row: LifetimeRow, since: int, until: int) -> int:
    """Returns how much of a window a period covers. Consecutive windows add up to the whole."""
    end = until if row.ended_at is None else min(until, int(row.ended_at))
    return max(0, end - max(since, int(row.began_at)))


def render_lifetime(row: LifetimeRow, since: int, until: int) -> dict[str, Any]:
    """Returns a `Lifetime`."""
    document = {
        "id": row.id,
        "name": row.name,
        "project": {
            "id": row.project_uuid,
            "name": row.project_name,
            "domain": {"id": row.domain_uuid, "name": row.domain_name},
        },
        "service_type": row.service_type,
        "resource_name": row.resource_name,
        "availability_zone": row.az,
        "attributes": orjson.Fragment(row.attributes),
        "first_seen_at": int(row.first_seen_at),
        "began_at": int(row.began_at),
        "last_seen_at": int(row.last_seen_at),
        "seconds": seconds_within(row, since, until),
    }
    return document if row.ended_at is None else document | {"ended_at": int(row.ended_at)}


def csv_rows(rows: Iterable[LifetimeRow], since: int, until: int) -> Iterator[tuple[object, ...]]:
    """Yields the cells of each period, in the order of `CSV_HEADER`."""
    for row in rows:
        times = (row.first_seen_at, row.began_at, row.last_seen_at, row.ended_at)
        shown = [None if at is None else render_time(int(at)) for at in times]
        yield (*row[1:11], *shown, seconds_within(row, since, until))
