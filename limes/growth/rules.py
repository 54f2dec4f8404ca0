"""When usage reaches a limit, if it goes on to grow as it has grown (docs/growth.md).

Growth is the median of the slopes between all pairs of days (Theil and Sen), with its confidence interval (Sen 1968). A
series of 90 days takes a millisecond.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

_QUANTILE = 1.6448536269514715
"""Of the normal distribution, for a confidence of 0.9."""


class Slope(NamedTuple):
    """How amounts grow per day: in 9 of 10 cases between `lowest` and `highest`."""

    growth: float
    lowest: float
    highest: float


def slope(days: Sequence[float], amounts: Sequence[float]) -> Slope:
    """Returns the slope of two points or more, each of another day."""
    import statistics  # rarely needed

    points = list(zip(days, amounts, strict=True))
    slopes = sorted((after - before) / (later - day) for (day, before), (later, after) in combinations(points, 2))
    # of Kendall's S if there were no trend; amounts that are the same make it less
    variance = (_term(len(amounts)) - sum(map(_term, Counter(amounts).values()))) / 18
    # what is between these ranks is what chance may have made of the median
    width = _QUANTILE * math.sqrt(variance)
    lowest = max(round((len(slopes) - width) / 2) - 1, 0)
    highest = min(round((len(slopes) + width) / 2), len(slopes) - 1)
    return Slope(statistics.median(slopes), slopes[lowest], slopes[highest])


def _term(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)


DAY = 86400
LOOK_BACK = 90
"""How many days a trend looks back."""
MIN_DAYS = 7
"""With fewer days, there is no trend."""
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


def trend_of(computed_at: int, usage: Sequence[tuple[int, float]]) -> Trend:
    """Returns the trend of days, each with its beginning in seconds and what was used on average: at noon. The level
    is the middle of what the last days say."""
    import statistics  # rarely needed

    days = [(begins - computed_at) / DAY + 0.5 for begins, _ in usage]
    amounts = [amount for _, amount in usage]
    found = slope(days, amounts)
    recent = zip(days[-_RECENT:], amounts[-_RECENT:], strict=True)
    level = statistics.median(amount - found.growth * day for day, amount in recent)
    return Trend(computed_at, level, *found)


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
