"""The answers about how usage has grown, and when it reaches its limits."""

from datetime import UTC, datetime

from limes.actions.growth.forecast import Forecast, Forecasts, LimitForecast
from limes.actions.growth.history import Growth, GrowthOfResource
from limes.actions.growth.project_points import Point
from limes.api.render.common import unit_name
from limes.api.shapes import growth as shapes
from limes.core.metering.calendar import Granularity

_DATES = {Granularity.HOUR: "%Y-%m-%dT%H:%M:%SZ", Granularity.DAY: "%Y-%m-%d", Granularity.MONTH: "%Y-%m"}


def render_usage_history(found: Growth) -> shapes.UsageHistoryAnswer:
    """All resources, in the order in which they were found."""
    usage = [_usage(each, found.granularity) for each in found.resources]
    return shapes.UsageHistoryAnswer(granularity=found.granularity.value, usage_history=usage)


def _usage(each: GrowthOfResource, granularity: Granularity) -> shapes.UsageOfResource:
    points = [_point(point, _DATES[granularity]) for point in each.points]
    return shapes.UsageOfResource(
        service=each.named.ref[0],
        resource=each.named.ref[1],
        unit=unit_name(each.named.unit),
        availability_zone=each.az or None,
        since=each.since,
        days=points if granularity is Granularity.DAY else [],
        hours=points if granularity is Granularity.HOUR else None,
        months=points if granularity is Granularity.MONTH else None,
    )


def _point(point: Point, date: str) -> shapes.UsageDay:
    return shapes.UsageDay(
        date=datetime.fromtimestamp(point.begins, UTC).strftime(date),
        used=point.used,
        committed=point.committed,
        largest=point.largest,
        last=point.last,
        quota=point.quota,
        capacity=point.capacity,
    )


def render_forecasts(found: Forecasts) -> shapes.ForecastAnswer:
    """What is full first comes first."""
    return shapes.ForecastAnswer(forecasts=[_forecast(each) for each in found.forecasts], sampled_at=found.sampled_at)


def _forecast(each: Forecast) -> shapes.ResourceForecast:
    present, trend, growth = each.present, each.trend, None
    if trend is not None:
        expected, lowest, highest = (round(value, 3) for value in (trend.growth, trend.lowest, trend.highest))
        growth = shapes.GrowthPerDay(expected=expected, lowest=lowest, highest=highest)
    return shapes.ResourceForecast(
        service=each.named.ref[0],
        resource=each.named.ref[1],
        unit=unit_name(each.named.unit),
        usage=present.usage,
        days=present.days or 0,
        limits=[_limit(limit) for limit in each.limits],
        availability_zone=present.az or None,
        missing_days=each.missing_days if trend is None else None,
        growth_per_day=growth,
    )


def _limit(limit: LimitForecast) -> shapes.LimitForecast:
    at, earliest, latest = limit.expected or (None, None, None)
    return shapes.LimitForecast(limit=limit.limit, amount=limit.amount, at=at, earliest=earliest, latest=latest)
