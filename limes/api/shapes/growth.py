"""How usage has grown, and when it reaches its limits."""

from typing import Annotated, Literal

from pydantic import Field

from limes.api.shapes.common import Amount, Time, Unit
from limes.api.shapes.shape import Shape


class UsageDay(Shape):
    """An hour, a day or a month (UTC)."""

    date: Annotated[str, Field(description="such as `2026-11-01T10:00:00Z`, `2026-11-01` or `2026-11`")]
    used: Annotated[int, Field(ge=0, description="on average")]
    committed: Annotated[int, Field(ge=0, description="on average")]
    largest: Annotated[int, Field(ge=0, description="largest usage")] | None = None
    last: Annotated[int, Field(ge=0, description="usage at the end")] | None = None
    quota: Annotated[int, Field(ge=0, description="at the end")] | None = None
    capacity: Annotated[int, Field(ge=0, description="at the end; of the cloud only")] | None = None


class UsageOfResource(Shape):
    """One resource, the oldest first."""

    service: str
    resource: str
    unit: Unit | None = None
    availability_zone: str | None = None
    since: Annotated[Time, Field(description="when the oldest data begin that there are, whatever was asked for")]
    days: Annotated[list[UsageDay], Field(description="empty if hours or months were asked for")]
    hours: list[UsageDay] | None = None
    months: list[UsageDay] | None = None


class UsageHistoryAnswer(Shape):
    """By resource."""

    granularity: Annotated[str, Field(description="of the times: `hour`, `day` or `month`")]
    usage_history: list[UsageOfResource]


class GrowthPerDay(Shape):
    """In the resource's unit. In 9 of 10 cases it is between the lowest and the highest, if usage goes on as it did."""

    expected: float
    lowest: float
    highest: float


class LimitForecast(Shape):
    """When usage reaches a limit. A time that is missing is no end in sight."""

    limit: Literal["capacity", "quota", "commitments"]
    amount: Amount
    at: Time | None = None
    earliest: Time | None = None
    latest: Time | None = None


class ResourceForecast(Shape):
    """The limit that counts comes first. Without growth, so many days of data are missing for a forecast."""

    service: str
    resource: str
    unit: Unit | None = None
    usage: Amount
    days: Annotated[int, Field(ge=0, description="how many days of data the forecast comes from")]
    limits: list[LimitForecast]
    availability_zone: str | None = None
    missing_days: Annotated[int, Field(ge=0)] | None = None
    growth_per_day: GrowthPerDay | None = None


class ForecastAnswer(Shape):
    """What is full first comes first. `sampled_at` is when usage and limits were looked at."""

    forecasts: list[ResourceForecast]
    sampled_at: Time | None = None
