"""When usage reaches a limit, if it goes on to grow as it has grown (docs/growth.md)."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple

DAY = 86400
LOOK_BACK = 90
"""How many days a trend looks back."""
MIN_DAYS = 7
"""Without so many days, there is no trend."""
_RECENT = 7
"""Days that say how much is used now."""
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


def trend_of(
    computed_at: int, days: Sequence[float], amounts: Sequence[float], slope: tuple[float, float, float]
) -> Trend:
    """Returns the trend of what was used on these days, counted from `computed_at` (negative before it), with its
    growth, lowest and highest growth. The level is the middle of what the last days say."""
    growth = slope[0]
    recent = list(zip(days, amounts, strict=True))[-_RECENT:]
    level = statistics.median(amount - growth * day for day, amount in recent)
    return Trend(computed_at, level, *slope)


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
