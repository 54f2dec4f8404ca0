"""When usage reaches a limit, if it goes on to grow as it has grown (docs/growth.md)."""

from typing import NamedTuple

DAY = 86400
MIN_DAYS = 7
"""Without so many days, there is no trend."""
HORIZON = 5 * 365
"""What is more days ahead than this is no end in sight."""


class Trend(NamedTuple):
    """How usage has grown. Growth is in amounts per day, and lies between `lowest` and `highest` in 9 of 10 cases."""

    computed_at: int
    level: float
    """Usage at that time, without what was unusual in the last days."""
    growth: float
    lowest: float
    highest: float


class Exhaustion(NamedTuple):
    """When a limit is reached, in seconds since the epoch. None: no end in sight."""

    at: int | None
    earliest: int | None
    latest: int | None


def exhaustion(trend: Trend, usage: int, limit: int, now: int) -> Exhaustion:
    """Returns when `limit` is reached. `usage` is that of now: what has reached the limit already does so now."""
    if usage >= limit:
        return Exhaustion(now, now, now)
    at, earliest, latest = (
        _reaches(trend, growth, limit, now) for growth in (trend.growth, trend.highest, trend.lowest)
    )
    return Exhaustion(at, earliest, latest)


def _reaches(trend: Trend, growth: float, limit: int, now: int) -> int | None:
    if growth <= 0:
        return None
    days = (limit - trend.level) / growth
    at = max(trend.computed_at + days * DAY, now)
    return int(at) if at <= now + HORIZON * DAY else None
