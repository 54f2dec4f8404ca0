"""Hours, days and months, all in UTC."""

import enum
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

HOUR = 3600
DAY = 86400


class Granularity(enum.StrEnum):
    """How long the times are that an account is divided into."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"
    TOTAL = "total"
    """One time: the whole that was asked for."""


class Bucket(NamedTuple):
    """An hour, a day or a month; `end` itself is not part of it."""

    granularity: Granularity
    begin: int
    end: int


def day_of(time: int) -> int:
    """When the day of this time started; likewise the others."""
    return time - time % DAY


def month_of(time: int) -> int:
    moment = datetime.fromtimestamp(time, UTC)
    return int(datetime(moment.year, moment.month, 1, tzinfo=UTC).timestamp())


def next_month(month: int) -> int:
    return month_of(month + 31 * DAY)


def previous_month(month: int) -> int:
    return month_of(month - 1)


def months_kept_since(now: int, months: int) -> int:
    """Returns when the first month that is kept begins."""
    first = month_of(now) - months * 31 * DAY
    return next_month(month_of(first - 1))


def bucket_of(time: int, granularity: Granularity) -> Bucket:
    """Returns the hour, day or month of this time; the hour for a total."""
    if granularity is Granularity.MONTH:
        begin = month_of(time)
        return Bucket(granularity, begin, next_month(begin))
    seconds = DAY if granularity is Granularity.DAY else HOUR
    begin = time - time % seconds
    return Bucket(granularity, begin, begin + seconds)


def begins_bucket(time: int, granularity: Granularity) -> bool:
    """A total may begin with any hour."""
    return time == bucket_of(time, granularity).begin


def buckets(begin: int, end: int, granularity: Granularity) -> Iterator[Bucket]:
    """Yields the times from `begin` to `end`, which both are starts of this granularity. A total is made of the
    longest that fit: hours, days, months, days, hours."""
    while begin < end:
        found = [granularity]
        if granularity is Granularity.TOTAL:
            found = [each for each in (Granularity.MONTH, Granularity.DAY) if begins_bucket(begin, each)]
            found = [each for each in found if bucket_of(begin, each).end <= end] or [Granularity.HOUR]
        bucket = bucket_of(begin, found[0])
        yield bucket
        begin = bucket.end


def render_time(time: float) -> str:
    """Returns a time as people read it."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def render_minute(time: float) -> str:
    """Returns a time for sentences, without its seconds."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")
