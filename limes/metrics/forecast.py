"""When the cloud's capacity is used up, if usage goes on to grow as it has grown."""

import logging
import math
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from limes.actions.growth.forecast import Forecast, ForecastGrowth
from limes.actions.reports.attention import Where
from limes.core.selection import Selection, select
from limes.errors import Unavailable
from limes.system import Clock

log = logging.getLogger(__name__)

_GROWTH = (
    "limes_forecast_growth_per_day",
    "By how much usage in the whole cloud grows per day; availability_zone is empty for all of them together",
)
_FULL = (
    "limes_forecast_seconds_until_full",
    "In how many seconds usage is expected to reach the capacity; +Inf if there is no end in sight",
)
_EARLIEST = (
    "limes_forecast_earliest_seconds_until_full",
    "In how many seconds usage reaches the capacity at the earliest; +Inf if there is no end in sight",
)
_LABELS = ("service", "resource", "availability_zone")


class ForecastGauges(Collector):
    """The gauges, without what has too few days of data. They are missing while the database does not answer."""

    def __init__(self, forecast: ForecastGrowth, clock: Clock) -> None:
        self._forecast = forecast
        self._clock = clock

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yields the present figures."""
        everything: Selection = select(self._forecast.catalog)
        try:
            found = [self._forecast.run(Where(), everything, every_az=every_az) for every_az in (False, True)]
        except Unavailable as error:
            log.error("metrics: %s", error)
            return
        growth, full, earliest = self.describe()
        now = self._clock.now().timestamp()
        for each in (each for forecasts in found for each in forecasts.forecasts):
            labels = (*each.named.ref, each.present.az)
            if each.trend is not None:
                growth.add_metric(labels, each.trend.growth)
            if (seconds := _seconds_until_full(each, now)) is not None:
                full.add_metric(labels, seconds[0])
                earliest.add_metric(labels, seconds[1])
        yield from (growth, full, earliest)

    def describe(self) -> list[GaugeMetricFamily]:
        """Returns the names, for the registry."""
        return [GaugeMetricFamily(*each, labels=_LABELS) for each in (_GROWTH, _FULL, _EARLIEST)]


def _seconds_until_full(forecast: Forecast, now: float) -> tuple[float, float] | None:
    """Returns when it is expected, and the earliest time; None where the capacity or the growth is not known."""
    expected = next((each.expected for each in forecast.limits if each.limit == "capacity"), None)
    if expected is None:
        return None
    return _seconds(expected.at, now), _seconds(expected.earliest, now)


def _seconds(time: int | None, now: float) -> float:
    return math.inf if time is None else max(0.0, time - now)
