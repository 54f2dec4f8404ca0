"""The part of the table (`routes`) that is about usage over time: the account, its growth, and lifetimes of
subresources."""

from limes.api import parameters as p
from limes.api.answers.growth import ForecastAnswer, UsageHistoryAnswer
from limes.api.answers.lifetimes import LifetimesAnswer
from limes.api.answers.usage import UsageReportAnswer
from limes.api.call import Operation
from limes.api.handlers import growth, lifetimes, usage
from limes.api.levels import SELECTION, At, on_every_level

_ACCOUNT_OF_PROJECT = (*SELECTION, p.PER_AZ, p.USED_IN_AZS, p.USED_FROM, p.USED_UNTIL, p.GRANULARITY, p.USED_AS_OF)
_ACCOUNT_OF_DOMAIN = (*_ACCOUNT_OF_PROJECT, p.USED_BY_PROJECTS, p.USERS, p.AFTER_USER)
_ACCOUNT = (*_ACCOUNT_OF_DOMAIN, p.USED_IN_DOMAINS)

USAGE = on_every_level(
    "usage-reports",
    Operation(usage.report_usage, "cluster:list_projects", {200: UsageReportAnswer}, (), _ACCOUNT, csv=True),
    At(
        "Tells the same of the projects of a domain, those that have vanished among them.",
        "project:list",
        _ACCOUNT_OF_DOMAIN,
    ),
    At("Tells the same of a project, even if it has vanished.", "project:show", _ACCOUNT_OF_PROJECT),
)
"""By path and method; likewise the others."""

_HISTORY = (*SELECTION, p.DAYS_BACK, p.HISTORY_FROM, p.HISTORY_UNTIL, p.HISTORY_GRANULARITY, p.PER_AZ)

GROWTH = {
    **on_every_level(
        "usage-history",
        Operation(growth.show_usage_history, "cluster:show", {200: UsageHistoryAnswer}, (), _HISTORY),
        At("Shows the same of a domain, without capacity."),
        At("Shows the same of a project, without capacity."),
    ),
    **on_every_level(
        "forecast",
        Operation(growth.show_forecast, "cluster:show", {200: ForecastAnswer}, (), (*SELECTION, p.PER_AZ)),
        At("Tells when quota and commitments of a domain are exhausted; what is full first comes first."),
        At("Tells when quota and commitments of a project are exhausted; what is full first comes first."),
    ),
}

_TIMES_OF_PROJECT = (*(*SELECTION, p.AT_AZS, p.SUBRESOURCE_IDS), *(p.FROM, p.UNTIL, p.LIFETIMES, p.AFTER_LIFETIME))
_TIMES_OF_DOMAIN = (*_TIMES_OF_PROJECT, p.AT_PROJECTS)
_TIMES = (*_TIMES_OF_DOMAIN, p.AT_DOMAINS)

LIFETIMES = on_every_level(
    "subresources",
    Operation(lifetimes.list_lifetimes, "cluster:list_projects", {200: LifetimesAnswer}, (), _TIMES, csv=True),
    At(
        "Lists from when to when subresources of a domain's projects existed, as JSON or CSV.",
        "project:list",
        _TIMES_OF_DOMAIN,
    ),
    At("Lists from when to when subresources of a project existed, as JSON or CSV.", "project:show", _TIMES_OF_PROJECT),
)
