"""How usage, quota, commitments and capacity have grown, and their trends by series (docs/adr/0033)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from peewee import JOIN, Select, fn

from limes.catalog.catalog import Ref
from limes.commitments.models import CommitmentUse
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Insert, Node, collected, column, made, tuples
from limes.growth.models import GrowthDay, GrowthHour, GrowthMonth, GrowthSeries, GrowthTrend, QuotaTime
from limes.growth.rules import Trend
from limes.kernel.calendar import DAY, Granularity, day_of, month_of


class Point(NamedTuple):
    """An hour, a day or a month. What is not known is None."""

    begins: int
    used: int
    """On average; likewise `committed`."""
    committed: int
    largest: int | None = None
    last: int | None = None
    """At the end; likewise quota and capacity."""
    quota: int | None = None
    capacity: int | None = None


MODELS: dict[Granularity, Any] = {
    Granularity.HOUR: GrowthHour,
    Granularity.DAY: GrowthDay,
    Granularity.MONTH: GrowthMonth,
    Granularity.TOTAL: GrowthMonth,
}
LENGTHS = (Granularity.HOUR, Granularity.DAY, Granularity.MONTH)


@collected(tuple[str, str, str], Point)
def growth_history(scope: str, granularity: Granularity, begin: int, end: int, *, every_az: bool) -> Node:
    """What was sampled by service, resource and AZ, of the cluster (`scope` is empty) or a domain (UUID): of all AZs
    together, or of each single one."""
    series, model = GrowthSeries, MODELS[granularity]
    is_hour = model is GrowthHour
    largest, last = (model.usage, model.usage) if is_hour else (model.usage_largest, model.usage_last)
    az = series.az != "" if every_az else series.az == ""
    return (
        series.select(
            *(series.service_type, series.resource_name, series.az),
            *(model.begins, model.usage, model.committed, largest, last, model.quota, model.capacity),
        )
        .join(model, on=model.series == series.id)
        .where(series.scope == scope, az, model.begins >= begin, model.begins < end)
        .order_by(series.id, model.begins)
    )


class FirstTimes(NamedTuple):
    """When the oldest data of all begin: samples (exactly or in that month), and the use of commitments."""

    sample: int | None
    commitment_use: int | None


@tuples(tuple[int | None, int | None, int | None])
def _first_times() -> Node:
    month, day = (model.select(fn.MIN(model.begins)) for model in (GrowthMonth, GrowthDay))
    return Select(columns=[month, day, CommitmentUse.select(fn.MIN(CommitmentUse.day))])


def first_times(engine: Engine) -> FirstTimes:
    ((month, day, used_on),) = _first_times(engine)
    return FirstTimes(_exact(month, day, None), None if used_on is None else used_on * DAY)


@tuples(tuple[str, str, int | None, int | None, int | None])
def _first_samples(scope: str) -> Node:
    series, models = GrowthSeries, (GrowthMonth, GrowthDay, GrowthHour)
    firsts = [model.select(fn.MIN(model.begins)).where(model.series == series.id) for model in models]
    query = series.select(series.service_type, series.resource_name, *firsts)
    return query.where(series.scope == scope, series.az == "")


def first_samples(engine: Engine, scope: str) -> dict[Ref, int]:
    """Returns since when each resource of the cluster (`scope` is empty) or a domain (UUID) is sampled: as exactly as
    samples are kept."""
    samples = {(service, name): _exact(*firsts) for service, name, *firsts in _first_samples(engine, scope)}
    return {ref: first for ref, first in samples.items() if first is not None}


def _exact(month: int | None, day: int | None, hour: int | None) -> int | None:
    """Returns the first time of three that begin in each other, as far as they do."""
    first = month
    for later, begin in ((day, month_of), (hour, day_of)):
        if later is not None and (first is None or begin(later) <= first):
            first = later
    return first


class QuotaRow(NamedTuple):
    """From when to when a project had a quota; `until` is None for the present one."""

    since: int
    until: int | None
    quota: int


@collected(tuple[str, str], QuotaRow)
def quotas_of_project(project: str, begin: int, end: int) -> Node:
    """The quotas that a project (UUID) had in this time, by service type and resource, in order."""
    time = QuotaTime
    query = time.select(time.service_type, time.resource_name, time.since, time.until, time.quota)
    is_in = (time.since < end, time.until.is_null() | (time.until > begin))
    return query.where(time.project_uuid == project, *is_in).order_by(time.since)


@column(int)
def series_after(after: int, limit: int) -> Node:
    return GrowthSeries.select(GrowthSeries.id).where(GrowthSeries.id > after).order_by(GrowthSeries.id).limit(limit)


@collected(int, tuple[int, int])
def days_of(series: Sequence[int], begin: int, end: int) -> Node:
    """When the days of these series begin, in this time and in order, and what was used on average."""
    day = GrowthDay
    is_wanted = (any_of(day.series, series), day.begins >= begin, day.begins < end)
    return day.select(day.series, day.begins, day.usage).where(*is_wanted).order_by(day.series, day.begins)


_trend = (GrowthTrend.level, GrowthTrend.growth, GrowthTrend.lowest, GrowthTrend.highest)
write_trends = Insert(
    tuple[Any, ...], GrowthTrend, GrowthTrend.series, GrowthTrend.computed_at, GrowthTrend.days, *_trend, key=1
)
"""Writes trends, with the number of days they are based on; without figures as long as these are too few."""


class Present(NamedTuple):
    """The last sample of a series, and its trend."""

    service: str
    resource: str
    az: str
    begins: int
    """When the hour of the sample started."""
    usage: int
    committed: int
    quota: int | None
    capacity: int | None
    days: int | None
    """From how many days a trend was computed, or tried to."""
    trend: Trend | None


def _present(*row: Any) -> Present:
    *sample, computed_at, level, growth, lowest, highest = row
    return Present._make([*sample, None if level is None else Trend(computed_at, level, growth, lowest, highest)])


@made(_present, *[str] * 3, *[int] * 3, *[int | None] * 4, *[float | None] * 4)
def present(scope: str, hour: int, *, every_az: bool) -> Node:
    """What was sampled in this hour, of the cluster (empty) or a domain (UUID): for all AZs together, or for each
    single one."""
    series, sample, trend = GrowthSeries, GrowthHour, GrowthTrend
    return (
        series.select(
            *(series.service_type, series.resource_name, series.az, sample.begins),
            *(sample.usage, sample.committed, sample.quota, sample.capacity, trend.days),
            *(trend.computed_at, trend.level, trend.growth, trend.lowest, trend.highest),
        )
        .join(sample, on=sample.series == series.id)
        .join_from(series, trend, JOIN.LEFT_OUTER, on=trend.series == series.id)
        .where(series.scope == scope, sample.begins == hour, series.az != "" if every_az else series.az == "")
    )
