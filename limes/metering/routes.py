"""Requests for the account of usage and commitments."""

from limes.api import call, levels
from limes.api import parameters as p
from limes.metering import answers
from limes.metering import handlers as usage

_ACCOUNT_OF_PROJECT = (*levels.SELECTION, p.PER_AZ, usage.AZS, usage.FROM, usage.UNTIL, usage.GRANULARITY, usage.AS_OF)
_ACCOUNT_OF_DOMAIN = (*_ACCOUNT_OF_PROJECT, usage.PROJECTS, usage.LIMIT, usage.MARKER)
_ACCOUNT = (*_ACCOUNT_OF_DOMAIN, usage.DOMAINS)

_ALL = levels.on_every_level(
    "usage-reports",
    call.Operation(
        usage.report_usage, "cluster:list_projects", {200: answers.UsageReportAnswer}, (), _ACCOUNT, csv=True
    ),
    levels.At(
        "The same for the projects of a domain, including those that have vanished.", "project:list", _ACCOUNT_OF_DOMAIN
    ),
    levels.At("The same for a project, even if it has vanished.", "project:show", _ACCOUNT_OF_PROJECT),
)

SECTIONS = {"usage": _ALL}
