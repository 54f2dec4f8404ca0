"""How usage has grown, and when it reaches its limits."""

from limes.api import parameters
from limes.api.call import Call
from limes.api.parameters import AUTO, Choice, Moment, WholeNumber
from limes.growth import answers, history
from limes.growth.forecast import forecast_growth, forecast_project
from limes.kernel.calendar import Granularity
from limes.web.call import Answer

DAYS = WholeNumber("days", "How many days to look back. Default: 30; 1 by hour, 366 by month.", 1, 3660)
FROM = Moment("from", "The first hour, day or month is the one with this time in it. Instead of `days`.")
UNTIL = Moment("until", "Only hours, days or months that begin before this time. Not given: now.")
GRANULARITY = Choice(
    "granularity",
    "One entry for each hour, day or month. `auto` chooses hours for up to a day of data, otherwise days, or months"
    " where days are no longer kept, and begins where the data begin.",
    ("hour", "day", "month", AUTO),
    "day",
)


def show_usage_history(call: Call) -> Answer:
    """Shows usage, quota, capacity and commitments of all projects over time, by hour, day or month."""
    call.refuse_unknown_parameters()
    req = call.req
    told = GRANULARITY.of(req)
    granularity = None if told == parameters.AUTO else Granularity(told)
    begin, end = FROM.of(req), UNTIL.of(req)
    times, every_az = history.Times(DAYS.of(req) or None, begin, end), parameters.PER_AZ.of(req)
    found = history.report_growth(call.limes, call.place, call.selection(), granularity, times, every_az=every_az)
    return Answer(document=answers.render_usage_history(found))


def show_forecast(call: Call) -> Answer:
    """Forecasts when capacity, quota and commitments of the cloud are exhausted, the earliest first."""
    call.refuse_unknown_parameters()
    forecast = forecast_project if call.place.project_uuid else forecast_growth
    found = forecast(call.limes, call.place, call.selection(), every_az=parameters.PER_AZ.of(call.req))
    shown = [answers.render_forecast(each) for each in found.forecasts]
    return Answer(document=answers.ForecastAnswer(forecasts=shown, sampled_at=found.sampled_at))
