"""How usage has grown, and when it reaches its limits."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.cluster import NamedResource
from limes.api.shapes.common import Amount, Time


class UsageDay(TypedDict):
    """An hour, a day or a month (UTC)."""

    date: Annotated[str, Field(description="such as `2026-11-01T10:00:00Z`, `2026-11-01` or `2026-11`")]
    used: Annotated[int, Field(ge=0, description="on average")]
    committed: Annotated[int, Field(ge=0, description="on average")]
    largest: NotRequired[Annotated[int, Field(ge=0, description="largest usage")]]
    last: NotRequired[Annotated[int, Field(ge=0, description="usage at the end")]]
    quota: NotRequired[Annotated[int, Field(ge=0, description="at the end")]]
    capacity: NotRequired[Annotated[int, Field(ge=0, description="at the end; of the cloud only")]]


class UsageOfResource(NamedResource):
    """One resource, the oldest first."""

    availability_zone: NotRequired[str]
    since: Annotated[Time, Field(description="when the oldest data begin that there are, whatever was asked for")]
    days: Annotated[list[UsageDay], Field(description="empty if hours or months were asked for")]
    hours: NotRequired[list[UsageDay]]
    months: NotRequired[list[UsageDay]]


class UsageHistoryAnswer(TypedDict):
    """By resource."""

    granularity: Annotated[str, Field(description="of the times: `hour`, `day` or `month`")]
    usage_history: list[UsageOfResource]


class GrowthPerDay(TypedDict):
    """In the resource's unit. In 9 of 10 cases it is between the lowest and the highest, if usage goes on as it did."""

    expected: float
    lowest: float
    highest: float


class LimitForecast(TypedDict):
    """When usage reaches a limit. A time that is missing is no end in sight."""

    limit: Literal["capacity", "quota", "commitments"]
    amount: Amount
    at: NotRequired[Time]
    earliest: NotRequired[Time]
    latest: NotRequired[Time]


class ResourceForecast(NamedResource):
    """The limit that counts comes first. Without growth, so many days of data are missing for a forecast."""

    availability_zone: NotRequired[str]
    usage: Amount
    days: Annotated[int, Field(ge=0, description="how many days of data the forecast comes from")]
    missing_days: NotRequired[Annotated[int, Field(ge=0)]]
    growth_per_day: NotRequired[GrowthPerDay]
    limits: list[LimitForecast]


class ForecastAnswer(TypedDict):
    """What is full first comes first. `sampled_at` is when usage and limits were looked at."""

    sampled_at: NotRequired[Time]
    forecasts: list[ResourceForecast]
