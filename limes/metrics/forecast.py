"""When the cloud's capacity is used up, if usage goes on to grow as it has grown."""

import math

from limes.actions.context import Limes
from limes.actions.growth.forecast import Forecast, forecast_growth
from limes.actions.reports.attention import Where
from limes.core.catalog import select
from limes.metrics.samples import Family, Samples, shows

_LABELS = ("service", "resource", "availability_zone")


@shows(
    Family(
        "limes_forecast_growth_per_day",
        "By how much usage in the whole cloud grows per day; availability_zone is empty for all of them together",
        _LABELS,
    ),
    Family(
        "limes_forecast_seconds_until_full",
        "In how many seconds usage is expected to reach the capacity; +Inf if there is no end in sight",
        _LABELS,
    ),
    Family(
        "limes_forecast_earliest_seconds_until_full",
        "In how many seconds usage reaches the capacity at the earliest; +Inf if there is no end in sight",
        _LABELS,
    ),
)
def forecast_gauges(limes: Limes) -> Samples:
    """Without what has too few days of data."""
    everything = select(limes.catalog)
    found = [forecast_growth(limes, Where(), everything, every_az=every_az) for every_az in (False, True)]
    now = limes.now()
    for each in (each for forecasts in found for each in forecasts.forecasts):
        labels = (*each.named.ref, each.present.az)
        if each.trend is not None:
            yield "limes_forecast_growth_per_day", labels, each.trend.growth
        if (seconds := _seconds_until_full(each, now)) is not None:
            yield "limes_forecast_seconds_until_full", labels, seconds[0]
            yield "limes_forecast_earliest_seconds_until_full", labels, seconds[1]


def _seconds_until_full(forecast: Forecast, now: float) -> tuple[float, float] | None:
    """Returns when it is expected, and the earliest time; None where the capacity or the growth is not known."""
    expected = next((each.expected for each in forecast.limits if each.limit == "capacity"), None)
    if expected is None:
        return None
    return _seconds(expected.at, now), _seconds(expected.earliest, now)


def _seconds(time: int | None, now: float) -> float:
    return math.inf if time is None else max(0.0, time - now)
