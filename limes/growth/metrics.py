"""What metrics say of growth."""

import math

from limes.app.context import Limes
from limes.catalog.catalog import select
from limes.growth.forecast import forecast_growth
from limes.kernel.metrics import Family, Samples, shows
from limes.projects.scope import Place

_AZ = ("service", "resource", "availability_zone")


@shows(
    Family(
        "limes_forecast_growth_per_day",
        "By how much usage in the whole cloud grows per day; availability_zone is empty for all of them together",
        _AZ,
    ),
    Family(
        "limes_forecast_seconds_until_full",
        "In how many seconds usage is expected to reach the capacity; +Inf if there is no end in sight",
        _AZ,
    ),
    Family(
        "limes_forecast_earliest_seconds_until_full",
        "In how many seconds usage reaches the capacity at the earliest; +Inf if there is no end in sight",
        _AZ,
    ),
)
def forecast_gauges(limes: Limes) -> Samples:
    """Without what has too few days of data."""
    everything = select(limes.catalog)
    found = [forecast_growth(limes, Place(), everything, every_az=every_az) for every_az in (False, True)]
    now = limes.now()
    for each in (each for forecasts in found for each in forecasts.forecasts):
        labels = (*each.named.ref, each.present.az)
        if each.trend is not None:
            yield "limes_forecast_growth_per_day", labels, each.trend.growth
        full = next((limit.expected for limit in each.limits if limit.limit == "capacity"), None)
        if full is not None:  # the capacity and the growth are known
            yield "limes_forecast_seconds_until_full", labels, _seconds(full.at, now)
            yield "limes_forecast_earliest_seconds_until_full", labels, _seconds(full.earliest, now)


def _seconds(time: int | None, now: float) -> float:
    return math.inf if time is None else max(0.0, time - now)


GAUGES = (forecast_gauges,)
