"""What may be asked of the account of usage, and what is refused because it is not kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from limes.core.calendar import DAY, Bucket, Granularity, begins_bucket, buckets, day_of, months_kept_since, render_time
from limes.db.queries.usage_sources import NO_FILTER, MeterFilter
from limes.errors import BadRequest
from limes.settings.metering import MeteringSettings


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """What is asked for. None means "all"; times are seconds since the epoch."""

    begin: int
    end: int
    granularity: Granularity
    domains: Sequence[str] | None = None
    projects: Sequence[str] | None = None
    only: MeterFilter = NO_FILTER
    marker: str = ""
    limit: int | None = None
    """At most so many projects."""
    as_of: int | None = None
    """Without what was corrected after this time."""
    every_az: bool = False
    """One entry for each AZ, rather than one for all of them."""


def times_of(query: UsageQuery, keep: MeteringSettings, now: int, begun_at: int, closed_until: int) -> list[Bucket]:
    """Returns the times of a query that can be answered. Raises `BadRequest`.

    `closed_until` is the end of the last day that was closed: at the time that is asked for, if there is one.
    """
    if query.begin > now:
        raise BadRequest(f"query parameter from: expected no time in the future; it is {render_time(now)} now")
    if query.begin >= query.end:
        raise BadRequest("query parameter until: expected a time after `from`")
    named = "hour" if query.granularity is Granularity.TOTAL else query.granularity.value
    for name, time in (("from", query.begin), ("until", query.end)):
        if not begins_bucket(time, query.granularity):
            raise BadRequest(
                f"query parameter {name}: expected the beginning of a {named} (UTC), not {render_time(time)}"
            )
    if query.end > _end_of_next_year(now):
        raise BadRequest("query parameter until: expected no time after the end of next year")
    found: list[Bucket] = []
    for bucket in buckets(query.begin, query.end, query.granularity):
        _check_retention(bucket, keep, now, begun_at)  # one by one: what is refused may have millions of hours
        found.append(bucket)
    if query.as_of is not None:
        _check_as_of(query.as_of, query.end, found, now, closed_until)
    return found


def _check_retention(bucket: Bucket, keep: MeteringSettings, now: int, begun_at: int) -> None:
    today = day_of(now)
    if bucket.end <= begun_at:
        raise BadRequest(
            f"query parameter from: the account of usage begins on {render_time(begun_at)}; there is none before"
        )
    what, since = "", bucket.begin
    match bucket.granularity:
        case Granularity.HOUR:
            what, since = "hours", today - keep.keep_hours * DAY
        case Granularity.DAY:
            what, since = "days", today - keep.keep_days * DAY
        case Granularity.MONTH if keep.keep_months is not None:
            what, since = "months", months_kept_since(now, keep.keep_months)
    if bucket.begin < since:
        longer = "" if bucket.granularity is Granularity.MONTH else "longer times with `granularity`, or for "
        raise BadRequest(
            f"query parameter from: single {what} are kept from {render_time(since)} on; ask for {longer}later ones"
        )


def _check_as_of(as_of: int, end: int, times: Sequence[Bucket], now: int, closed_until: int) -> None:
    if as_of > now:
        raise BadRequest(f"query parameter as_of: expected no time in the future; it is {render_time(now)} now")
    if any(bucket.granularity is Granularity.HOUR for bucket in times):
        raise BadRequest("query parameter as_of: what was said before a correction is kept of days and months only")
    closed_until = min(closed_until, as_of)
    if end > closed_until:
        raise BadRequest(
            "query parameter as_of: what was said at a time is kept of days and months that were closed then;"
            f" expected an `until` of {render_time(day_of(closed_until))} or before"
        )


def _end_of_next_year(now: int) -> int:
    return int(datetime(datetime.fromtimestamp(now, UTC).year + 2, 1, 1, tzinfo=UTC).timestamp())
