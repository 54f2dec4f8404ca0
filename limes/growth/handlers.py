"""How usage has grown, and when it reaches its limits."""

from limes.api import parameters
from limes.api.call import Call
from limes.growth.answers import ForecastAnswer, render_forecast, render_usage_history
from limes.growth.forecast import forecast_growth, forecast_project
from limes.growth.history import Times, report_growth
from limes.kernel.calendar import Granularity
from limes.web.call import Answer


def show_usage_history(call: Call) -> Answer:
    """Shows usage, quota, capacity and commitments of all projects over time, by hour, day or month."""
    call.refuse_unknown_parameters()
    req = call.req
    told = parameters.HISTORY_GRANULARITY.of(req)
    granularity = None if told == parameters.AUTO else Granularity(told)
    begin, end = parameters.HISTORY_FROM.of(req), parameters.HISTORY_UNTIL.of(req)
    times, every_az = Times(parameters.DAYS_BACK.of(req) or None, begin, end), parameters.PER_AZ.of(req)
    found = report_growth(call.limes, call.where, call.selection(), granularity, times, every_az=every_az)
    return Answer(document=render_usage_history(found))


def show_forecast(call: Call) -> Answer:
    """Tells when capacity, quota and commitments of the cloud are exhausted; what is full first comes first."""
    call.refuse_unknown_parameters()
    forecast = forecast_growth if call.where.project is None else forecast_project
    found = forecast(call.limes, call.where, call.selection(), every_az=parameters.PER_AZ.of(call.req))
    shown = [render_forecast(each) for each in found.forecasts]
    return Answer(document=ForecastAnswer(forecasts=shown, sampled_at=found.sampled_at))
