"""What may be asked of the account of usage, and what is refused because it is not kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from limes.actions.metering.close import Retention
from limes.core.metering.calendar import (
    DAY,
    Bucket,
    Granularity,
    begins_bucket,
    buckets,
    day_of,
    months_kept_since,
    render_time,
)
from limes.db.queries.usage_accounts import State
from limes.db.queries.usage_sources import EVERYTHING, Only
from limes.errors import BadRequest


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """What is asked for. None means "all"; times are seconds since the epoch."""

    begin: int
    end: int
    granularity: Granularity
    domains: Sequence[str] | None = None
    projects: Sequence[str] | None = None
    only: Only = EVERYTHING
    marker: str = ""
    limit: int | None = None
    """At most so many projects."""
    as_of: int | None = None
    """Without what was corrected after this time."""
    every_az: bool = False
    """One entry for each AZ, rather than one for all of them."""


@dataclass(frozen=True, slots=True)
class CheckUsageQuery:
    """Checks queries, with what it has to know."""

    state: State
    retention: Retention
    now: int
    closed_until: int
    """The end of the last day that was closed: at the time that is asked for, if there is one."""

    def times(self, query: UsageQuery) -> list[Bucket]:
        """Returns the times of a query that can be answered. Raises `BadRequest`."""
        if query.begin > self.now:
            raise BadRequest(f"query parameter from: expected no time in the future; it is {render_time(self.now)} now")
        if query.begin >= query.end:
            raise BadRequest("query parameter until: expected a time after `from`")
        named = "hour" if query.granularity is Granularity.TOTAL else query.granularity.value
        for name, time in (("from", query.begin), ("until", query.end)):
            if not begins_bucket(time, query.granularity):
                raise BadRequest(
                    f"query parameter {name}: expected the beginning of a {named} (UTC), not {render_time(time)}"
                )
        if query.end > _end_of_next_year(self.now):
            raise BadRequest("query parameter until: expected no time after the end of next year")
        found: list[Bucket] = []
        for bucket in buckets(query.begin, query.end, query.granularity):
            self._check_retention(bucket)  # one by one: what is refused may have millions of hours
            found.append(bucket)
        if query.as_of is not None:
            self._check_as_of(query.as_of, query.end, found)
        return found

    def _check_retention(self, bucket: Bucket) -> None:
        state, keep, today = self.state, self.retention, day_of(self.now)
        if bucket.end <= state.begun_at:
            raise BadRequest(
                f"query parameter from: the account of usage begins on {render_time(state.begun_at)};"
                f" there is none before"
            )
        what, since = "", bucket.begin
        match bucket.granularity:
            case Granularity.HOUR:
                what, since = "hours", today - keep.hours * DAY
            case Granularity.DAY:
                what, since = "days", today - keep.days * DAY
            case Granularity.MONTH if keep.months is not None:
                what, since = "months", months_kept_since(self.now, keep.months)
        if bucket.begin < since:
            longer = "" if bucket.granularity is Granularity.MONTH else "longer times with `granularity`, or for "
            raise BadRequest(
                f"query parameter from: single {what} are kept from {render_time(since)} on; ask for {longer}later ones"
            )

    def _check_as_of(self, as_of: int, end: int, times: Sequence[Bucket]) -> None:
        if as_of > self.now:
            raise BadRequest(
                f"query parameter as_of: expected no time in the future; it is {render_time(self.now)} now"
            )
        if any(bucket.granularity is Granularity.HOUR for bucket in times):
            raise BadRequest("query parameter as_of: what was said before a correction is kept of days and months only")
        closed_until = min(self.closed_until, as_of)
        if end > closed_until:
            raise BadRequest(
                "query parameter as_of: what was said at a time is kept of days and months that were closed then;"
                f" expected an `until` of {render_time(day_of(closed_until))} or before"
            )


def _end_of_next_year(now: int) -> int:
    return int(datetime(datetime.fromtimestamp(now, UTC).year + 2, 1, 1, tzinfo=UTC).timestamp())
