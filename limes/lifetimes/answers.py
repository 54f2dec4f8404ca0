"""From when to when subresources existed, as JSON and CSV."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from msgspec import field
from pydantic import Field

from limes.api.answers import Link, Named, PlacedNamed
from limes.kernel.calendar import render_time
from limes.kernel.validation.shape import Shape, Time, seconds, stored
from limes.lifetimes.queries import LifetimeRow

CSV_HEADER = (
    *("domain_id", "domain_name", "project_id", "project_name", "service_type", "resource_name", "availability_zone"),
    *("id", "name", "attributes", "first_seen_at", "began_at", "last_seen_at", "ended_at", "seconds"),
)


class Lifetime(Shape, kw_only=False):
    """A period in which a subresource was in one AZ with the same billed attributes."""

    id: Annotated[str, Field(description="the subresource's; its name if it has no id")]
    name: str
    project: PlacedNamed
    service_type: str
    resource_name: str
    availability_zone: str
    attributes: dict[str, Any]
    first_seen_at: Annotated[int, Field(ge=0, description="maybe in an earlier period, UNIX timestamp")]
    began_at: Time
    last_seen_at: Time
    seconds: Annotated[int, Field(ge=0, description="how much of `from` to `until` it covers")]
    ended_at: Time | None = None


class LifetimesAnswer(Shape):
    """Periods that overlap with the time asked for, and a link to more of them."""

    since: Time = field(name="from")
    until: Time
    subresources: list[Lifetime]
    subresources_links: list[Link]


def seconds_within(row: LifetimeRow, since: int, until: int) -> int:
    """Returns how much of a window a period covers. Consecutive windows add up to the whole."""
    end = until if row.ended_at is None else min(until, int(row.ended_at))
    return max(0, end - max(since, int(row.began_at)))


def render_lifetime(row: LifetimeRow, since: int, until: int) -> Lifetime:
    project = PlacedNamed(row.project_uuid, row.project_name, Named(row.domain_uuid, row.domain_name))
    place = (row.service_type, row.resource_name, row.az)
    seen = (int(row.first_seen_at), int(row.began_at), int(row.last_seen_at))
    covered = seconds_within(row, since, until)
    return Lifetime(row.id, row.name, project, *place, stored(row.attributes), *seen, covered, seconds(row.ended_at))


def csv_rows(rows: Iterable[LifetimeRow], since: int, until: int) -> Iterator[tuple[object, ...]]:
    """Yields the cells of each period, in the order of `CSV_HEADER`."""
    for row in rows:
        times = (row.first_seen_at, row.began_at, row.last_seen_at, row.ended_at)
        shown = [None if at is None else render_time(int(at)) for at in times]
        yield (*row[1:11], *shown, seconds_within(row, since, until))
