"""The part of the table (`routes`) that is about how usage grows."""

from limes.api import parameters as p
from limes.api.call import Operation
from limes.api.commitment_routes import DOMAIN, PROJECT, SELECTION
from limes.api.handlers import growth
from limes.api.shapes.growth import ForecastAnswer, UsageHistoryAnswer

_HISTORY = (*SELECTION, p.DAYS_BACK, p.HISTORY_FROM, p.HISTORY_UNTIL, p.HISTORY_GRANULARITY, p.PER_AZ)
_FORECAST = (*SELECTION, p.PER_AZ)
_ANSWER = {200: UsageHistoryAnswer}

GROWTH = {
    "/v1/usage-history": {"GET": Operation(growth.show_usage_history, "cluster:show", _ANSWER, (), _HISTORY)},
    f"{DOMAIN}/usage-history": {
        "GET": Operation(growth.show_usage_history_of_domain, "domain:show", _ANSWER, (404,), _HISTORY)
    },
    f"{PROJECT}/usage-history": {
        "GET": Operation(growth.show_usage_history_of_project, "project:show", _ANSWER, (404,), _HISTORY)
    },
    "/v1/forecast": {"GET": Operation(growth.show_forecast, "cluster:show", {200: ForecastAnswer}, (), _FORECAST)},
    f"{DOMAIN}/forecast": {
        "GET": Operation(growth.show_forecast_of_domain, "domain:show", {200: ForecastAnswer}, (404,), _FORECAST)
    },
}
"""By path and method."""
