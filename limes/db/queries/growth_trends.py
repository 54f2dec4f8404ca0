"""How usage has grown, by series (docs/adr/0033)."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from peewee import JOIN

from limes.db.compiled import Compiled, any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import GrowthDay, GrowthHour, GrowthSeries, GrowthTrend


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


_SERIES = compiled(
    lambda p: (
        GrowthSeries.select(GrowthSeries.id).where(GrowthSeries.id > p.after).order_by(GrowthSeries.id).limit(p.limit)
    )
)
_DAYS = compiled(
    lambda p: (
        GrowthDay.select(GrowthDay.series, GrowthDay.begins, GrowthDay.usage)
        .where(any_of(GrowthDay.series, p.series), GrowthDay.begins >= p.begin, GrowthDay.begins < p.end)
        .order_by(GrowthDay.series, GrowthDay.begins)
    )
)
_TREND: list[Any] = [GrowthTrend.computed_at, GrowthTrend.days, GrowthTrend.level]
_TREND += [GrowthTrend.growth, GrowthTrend.lowest, GrowthTrend.highest]
_WRITE = compiled_insert(
    GrowthTrend,
    GrowthTrend.series,
    *_TREND,
    finish=lambda insert: insert.on_conflict(conflict_target=[GrowthTrend.series], preserve=_TREND),
)


def series_after(engine: Engine, after: int, limit: int) -> list[int]:
    """Returns at most so many ids after this one."""
    return engine.column(_SERIES, after=after, limit=limit)


def days_of(engine: Engine, series: Sequence[int], begin: int, end: int) -> list[DayOfSeries]:
    """Returns the days of these series that begin in this time, in order."""
    return engine.all(_DAYS, DayOfSeries, series=series, begin=begin, end=end)


def write_trends(engine: Engine, rows: Sequence[TrendRow]) -> None:
    """Writes trends."""
    engine.write(_WRITE, rows=rows)


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


@cache
def _present(every: bool) -> Compiled:
    series, hour = GrowthSeries, GrowthHour
    query = (
        series.select(
            *(series.service_type, series.resource_name, series.az, hour.begins),
            *(hour.usage, hour.committed, hour.quota, hour.capacity),
            *_TREND,
        )
        .join(hour, on=hour.series == series.id)
        .join_from(series, GrowthTrend, JOIN.LEFT_OUTER, on=GrowthTrend.series == series.id)
    )

    def build(p: Any) -> Any:
        conditions = [series.scope == p.scope, hour.begins == p.hour]
        return query.where(*conditions, series.az != "" if every else series.az == "")

    return compiled(build)


def present(engine: Engine, scope: str, hour: int, *, every_az: bool) -> list[Present]:
    """Returns what was sampled in this hour, of the cluster (empty) or a domain (UUID): for all AZs together, or for
    each single one."""
    return engine.all(_present(every_az), Present, scope=scope, hour=hour)
