"""How usage has grown, by series (docs/adr/0033)."""

from collections.abc import Sequence
from typing import NamedTuple

from peewee import JOIN

from limes.db.compiled import any_of
from limes.db.models import GrowthDay, GrowthHour, GrowthSeries, GrowthTrend
from limes.db.query import Insert, Node, column, rows


class DayOfSeries(NamedTuple):
    """What was used on a day, on average."""

    series_id: int
    begins: int
    usage: int


class TrendRow(NamedTuple):
    """The trend of a series, from so many days; without figures as long as these are too few."""

    series_id: int
    computed_at: int
    days: int
    level: float | None
    growth: float | None
    lowest: float | None
    highest: float | None


@column(int)
def series_after(after: int, limit: int) -> Node:
    """At most so many ids after this one."""
    return GrowthSeries.select(GrowthSeries.id).where(GrowthSeries.id > after).order_by(GrowthSeries.id).limit(limit)


@rows(DayOfSeries)
def days_of(series: Sequence[int], begin: int, end: int) -> Node:
    """The days of these series that begin in this time, in order."""
    day = GrowthDay
    is_wanted = (any_of(day.series, series), day.begins >= begin, day.begins < end)
    return day.select(day.series, day.begins, day.usage).where(*is_wanted).order_by(day.series, day.begins)


write_trends = Insert(TrendRow, GrowthTrend, key=1)
"""Writes trends."""


class Present(NamedTuple):
    """The last sample of a series, and its trend, if there is one."""

    service: str
    resource: str
    az: str
    begins: int
    """When the hour of the sample has begun."""
    usage: int
    committed: int
    quota: int | None
    capacity: int | None
    computed_at: int | None
    days: int | None
    level: float | None
    growth: float | None
    lowest: float | None
    highest: float | None


@rows(Present)
def present(scope: str, hour: int, *, every_az: bool) -> Node:
    """What was sampled in this hour, of the cluster (empty) or a domain (UUID): for all AZs together, or for each
    single one."""
    series, sample, trend = GrowthSeries, GrowthHour, GrowthTrend
    return (
        series.select(
            *(series.service_type, series.resource_name, series.az, sample.begins),
            *(sample.usage, sample.committed, sample.quota, sample.capacity),
            *(trend.computed_at, trend.days, trend.level, trend.growth, trend.lowest, trend.highest),
        )
        .join(sample, on=sample.series == series.id)
        .join_from(series, trend, JOIN.LEFT_OUTER, on=trend.series == series.id)
        .where(series.scope == scope, sample.begins == hour, series.az != "" if every_az else series.az == "")
    )
