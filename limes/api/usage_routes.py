"""The part of the table (`routes`) that is about usage over time: the account, its growth, and lifetimes of
subresources."""

from limes.api import parameters as p
from limes.api.call import Operation
from limes.api.commitment_routes import DOMAIN, PROJECT, SELECTION
from limes.api.handlers import growth, lifetimes, usage
from limes.api.shapes.growth import ForecastAnswer, UsageHistoryAnswer
from limes.api.shapes.usage import LifetimesAnswer, UsageReportAnswer

_ACCOUNT_OF_PROJECT = (*SELECTION, p.PER_AZ, p.USED_IN_AZS, p.USED_FROM, p.USED_UNTIL, p.GRANULARITY, p.USED_AS_OF)
_ACCOUNT_OF_DOMAIN = (*_ACCOUNT_OF_PROJECT, p.USED_BY_PROJECTS, p.USERS, p.AFTER_USER)
_ACCOUNT_OF_ALL = (*_ACCOUNT_OF_DOMAIN, p.USED_IN_DOMAINS)
_ACCOUNT = {200: UsageReportAnswer}

USAGE = {
    "/v1/usage-reports": {
        "GET": Operation(usage.report_usage, "cluster:list_projects", _ACCOUNT, (), _ACCOUNT_OF_ALL, csv=True)
    },
    f"{DOMAIN}/usage-reports": {
        "GET": Operation(usage.report_usage_of_domain, "project:list", _ACCOUNT, (404,), _ACCOUNT_OF_DOMAIN, csv=True)
    },
    f"{PROJECT}/usage-reports": {
        "GET": Operation(usage.report_usage_of_project, "project:show", _ACCOUNT, (404,), _ACCOUNT_OF_PROJECT, csv=True)
    },
}
"""By path and method; likewise the others."""

_HISTORY = (*SELECTION, p.DAYS_BACK, p.HISTORY_FROM, p.HISTORY_UNTIL, p.HISTORY_GRANULARITY, p.PER_AZ)
_FORECAST = (*SELECTION, p.PER_AZ)
_GROWTH = {200: UsageHistoryAnswer}

GROWTH = {
    "/v1/usage-history": {"GET": Operation(growth.show_usage_history, "cluster:show", _GROWTH, (), _HISTORY)},
    f"{DOMAIN}/usage-history": {
        "GET": Operation(growth.show_usage_history_of_domain, "domain:show", _GROWTH, (404,), _HISTORY)
    },
    f"{PROJECT}/usage-history": {
        "GET": Operation(growth.show_usage_history_of_project, "project:show", _GROWTH, (404,), _HISTORY)
    },
    "/v1/forecast": {"GET": Operation(growth.show_forecast, "cluster:show", {200: ForecastAnswer}, (), _FORECAST)},
    f"{DOMAIN}/forecast": {
        "GET": Operation(growth.show_forecast_of_domain, "domain:show", {200: ForecastAnswer}, (404,), _FORECAST)
    },
    f"{PROJECT}/forecast": {
        "GET": Operation(growth.show_forecast_of_project, "project:show", {200: ForecastAnswer}, (404,), _FORECAST)
    },
}

_TIMES_OF_PROJECT = (
    *(*SELECTION, p.AT_AZS, p.SUBRESOURCE_IDS),
    *(p.FROM, p.UNTIL, p.LIFETIMES, p.AFTER_LIFETIME),
)
_TIMES_OF_DOMAIN = (*_TIMES_OF_PROJECT, p.AT_PROJECTS)
_TIMES_OF_ALL = (*_TIMES_OF_DOMAIN, p.AT_DOMAINS)
_LIFETIMES = {200: LifetimesAnswer}

LIFETIMES = {
    "/v1/subresources": {
        "GET": Operation(lifetimes.list_lifetimes, "cluster:list_projects", _LIFETIMES, (), _TIMES_OF_ALL, csv=True)
    },
    f"{DOMAIN}/subresources": {
        "GET": Operation(
            lifetimes.list_lifetimes_of_domain, "project:list", _LIFETIMES, (404,), _TIMES_OF_DOMAIN, csv=True
        )
    },
    f"{PROJECT}/subresources": {
        "GET": Operation(
            lifetimes.list_lifetimes_of_project, "project:show", _LIFETIMES, (404,), _TIMES_OF_PROJECT, csv=True
        )
    },
}
