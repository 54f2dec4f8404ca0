"""How usage has grown, and when it reaches its limits."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from limes.api.answers import OfResource
from limes.growth import forecast, history
from limes.kernel.calendar import Granularity
from limes.kernel.validation.shape import Amount, Shape, Time

_DATES = {Granularity.HOUR: "%Y-%m-%dT%H:%M:%SZ", Granularity.DAY: "%Y-%m-%d", Granularity.MONTH: "%Y-%m"}


class UsageDay(Shape, kw_only=False):
    """An hour, a day or a month (UTC)."""

    date: Annotated[str, Field(description="such as `2026-11-01T10:00:00Z`, `2026-11-01` or `2026-11`")]
    used: Annotated[int, Field(ge=0, description="on average")]
    committed: Annotated[int, Field(ge=0, description="on average")]
    largest: Annotated[int, Field(ge=0, description="largest usage")] | None = None
    last: Annotated[int, Field(ge=0, description="usage at the end")] | None = None
    quota: Annotated[int, Field(ge=0, description="at the end")] | None = None
    capacity: Annotated[int, Field(ge=0, description="at the end; of the cloud only")] | None = None


class UsageOfResource(OfResource):
    """One resource, the oldest first."""

    availability_zone: str | None = None
    since: Annotated[Time, Field(description="when the oldest data begin, whatever was asked for")]
    days: Annotated[list[UsageDay], Field(description="empty if hours or months were asked for")]
    hours: list[UsageDay] | None = None
    months: list[UsageDay] | None = None


class UsageHistoryAnswer(Shape):
    """By resource."""

    granularity: Annotated[str, Field(description="of the times: `hour`, `day` or `month`")]
    usage_history: list[UsageOfResource]


def render_usage_history(found: history.Growth) -> UsageHistoryAnswer:
    usage, granularity = [], found.granularity
    for each in found.resources:
        points = [
            UsageDay(datetime.fromtimestamp(point.begins, UTC).strftime(_DATES[granularity]), *point[1:])
            for point in each.points
        ]
        shown = UsageOfResource(
            service=each.named.ref[0],
            resource=each.named.ref[1],
            unit=each.named.unit.value or None,
            availability_zone=each.az or None,
            since=each.since,
            days=points if granularity is Granularity.DAY else [],
            hours=points if granularity is Granularity.HOUR else None,
            months=points if granularity is Granularity.MONTH else None,
        )
        usage.append(shown)
    return UsageHistoryAnswer(granularity=granularity.value, usage_history=usage)


class GrowthPerDay(Shape, kw_only=False):
    """In the resource's unit. In 9 of 10 cases it is between the lowest and the highest, if usage goes on as it did."""

    expected: float
    lowest: float
    highest: float


class LimitForecast(Shape, kw_only=False):
    """When usage reaches a limit. A time that is missing is no end in sight."""

    limit: forecast.Limit
    amount: Amount
    at: Time | None = None
    earliest: Time | None = None
    latest: Time | None = None


class ResourceForecast(OfResource):
    """The limit that counts comes first. Without growth, the number of days of data that a forecast still needs."""

    usage: Amount
    days: Annotated[int, Field(ge=0, description="how many days of data the forecast comes from")]
    limits: list[LimitForecast]
    availability_zone: str | None = None
    missing_days: Annotated[int, Field(ge=0)] | None = None
    growth_per_day: GrowthPerDay | None = None


class ForecastAnswer(Shape):
    """What will be full first is at the top. `sampled_at` is when usage and limits were looked at."""

    forecasts: list[ResourceForecast]
    sampled_at: Time | None = None


def render_forecast(each: forecast.Forecast) -> ResourceForecast:
    present, trend, growth = each.present, each.trend, None
    if trend is not None:
        growth = GrowthPerDay(round(trend.growth, 3), round(trend.lowest, 3), round(trend.highest, 3))
    limits = [LimitForecast(limit.limit, limit.amount, *(limit.expected or ())) for limit in each.limits]
    return ResourceForecast(
        service=each.named.ref[0],
        resource=each.named.ref[1],
        unit=each.named.unit.value or None,
        usage=present.usage,
        days=present.days or 0,
        limits=limits,
        availability_zone=present.az or None,
        missing_days=each.missing_days if trend is None else None,
        growth_per_day=growth,
    )
