"""Requests for the history of usage, and for forecasts."""

from limes.api import call
from limes.api import parameters as p
from limes.api.levels import SELECTION, At, on_every_level
from limes.growth import answers
from limes.growth import handlers as growth

_HISTORY = (*SELECTION, growth.DAYS, growth.FROM, growth.UNTIL, growth.GRANULARITY, p.PER_AZ)

_ALL = {
    **on_every_level(
        "usage-history",
        call.Operation(growth.show_usage_history, "cluster:show", {200: answers.UsageHistoryAnswer}, (), _HISTORY),
        At("Shows the same for a domain, without capacity."),
        At("Shows the same for a project, without capacity."),
    ),
    **on_every_level(
        "forecast",
        call.Operation(growth.show_forecast, "cluster:show", {200: answers.ForecastAnswer}, (), (*SELECTION, p.PER_AZ)),
        At("Forecasts when quota and commitments of a domain are exhausted, the earliest first."),
        At("Forecasts when quota and commitments of a project are exhausted, the earliest first."),
    ),
}

SECTIONS = {"growth": _ALL}
