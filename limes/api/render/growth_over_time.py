"""The answers about how usage has grown, and when it reaches its limits."""

from datetime import UTC, datetime
from typing import cast

from limes.actions.growth.forecast import Forecast, Forecasts, LimitForecast
from limes.actions.growth.history import Growth, GrowthOfResource
from limes.actions.growth.project_points import Point
from limes.api.render.attention import named_resource
from limes.api.shapes import growth as shapes
from limes.core.metering.calendar import Granularity

_DATES = {Granularity.HOUR: "%Y-%m-%dT%H:%M:%SZ", Granularity.DAY: "%Y-%m-%d", Granularity.MONTH: "%Y-%m"}


def render_usage_history(found: Growth) -> shapes.UsageHistoryAnswer:
    """Returns the document."""
    granularity = found.granularity
    return {
        "granularity": granularity.value,
        "usage_history": [_usage(each, granularity) for each in found.resources],
    }


def _usage(each: GrowthOfResource, granularity: Granularity) -> shapes.UsageOfResource:
    document = cast(shapes.UsageOfResource, named_resource(each.named))
    if each.az:
        document["availability_zone"] = each.az
    document["since"] = each.since
    points = [_point(point, _DATES[granularity]) for point in each.points]
    document["days"] = points if granularity is Granularity.DAY else []
    if granularity is Granularity.HOUR:
        document["hours"] = points
    if granularity is Granularity.MONTH:
        document["months"] = points
    return document


def _point(point: Point, date: str) -> shapes.UsageDay:
    document: shapes.UsageDay = {
        "date": datetime.fromtimestamp(point.begins, UTC).strftime(date),
        "used": point.used,
        "committed": point.committed,
    }
    if point.largest is not None:
        document["largest"] = point.largest
    if point.last is not None:
        document["last"] = point.last
    if point.quota is not None:
        document["quota"] = point.quota
    if point.capacity is not None:
        document["capacity"] = point.capacity
    return document


def render_forecasts(found: Forecasts) -> shapes.ForecastAnswer:
    """Returns the document."""
    document: shapes.ForecastAnswer = {"forecasts": [_forecast(each) for each in found.forecasts]}
    if found.sampled_at is not None:
        document["sampled_at"] = found.sampled_at
    return document


def _forecast(each: Forecast) -> shapes.ResourceForecast:
    present, trend = each.present, each.trend
    document = cast(shapes.ResourceForecast, named_resource(each.named))
    document["usage"] = present.usage
    document["days"] = present.days or 0
    document["limits"] = [_limit(limit) for limit in each.limits]
    if present.az:
        document["availability_zone"] = present.az
    if trend is None:
        document["missing_days"] = each.missing_days
    else:
        document["growth_per_day"] = {
            "expected": round(trend.growth, 3),
            "lowest": round(trend.lowest, 3),
            "highest": round(trend.highest, 3),
        }
    return document


def _limit(limit: LimitForecast) -> shapes.LimitForecast:
    document: shapes.LimitForecast = {"limit": limit.limit, "amount": limit.amount}
    if limit.expected is None:
        return document
    at, earliest, latest = limit.expected
    if at is not None:
        document["at"] = at
    if earliest is not None:
        document["earliest"] = earliest
    if latest is not None:
        document["latest"] = latest
    return document
