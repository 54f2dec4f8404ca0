"""How usage has grown, and when it reaches its limits."""

from limes.actions.growth.forecast import forecast_growth, forecast_project
from limes.actions.growth.history import HistoryQuery, report_growth
from limes.api import parameters
from limes.api.answers.growth import render_forecasts, render_usage_history
from limes.api.call import Call
from limes.core.calendar import Granularity
from limes.web.call import Answer


def show_usage_history(call: Call) -> Answer:
    """Shows usage, quota, capacity and commitments of all projects over time, by hour, day or month."""
    call.refuse_unknown_parameters()
    req = call.req
    granularity = parameters.HISTORY_GRANULARITY.of(req)
    query = HistoryQuery(
        None if granularity == parameters.AUTO else Granularity(granularity),
        parameters.DAYS_BACK.of(req) or None,
        parameters.HISTORY_FROM.of(req),
        parameters.HISTORY_UNTIL.of(req),
        parameters.PER_AZ.of(req),
    )
    return Answer(document=render_usage_history(report_growth(call.limes, call.where, call.selection(), query)))


def show_forecast(call: Call) -> Answer:
    """Tells when capacity, quota and commitments of the cloud are exhausted; what is full first comes first."""
    call.refuse_unknown_parameters()
    forecast = forecast_growth if call.where.project is None else forecast_project
    found = forecast(call.limes, call.where, call.selection(), every_az=parameters.PER_AZ.of(call.req))
    return Answer(document=render_forecasts(found))
