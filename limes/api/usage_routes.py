"""The part of the table (`routes`) that is about usage and commitments over time."""

from limes.api import parameters as p
from limes.api.call import Operation
from limes.api.commitment_routes import DOMAIN, PROJECT, SELECTION
from limes.api.handlers import usage
from limes.api.shapes.usage import UsageReportAnswer

_OF_PROJECT = (*SELECTION, p.USED_IN_AZS, p.USED_FROM, p.USED_UNTIL, p.GRANULARITY)
_OF_DOMAIN = (*_OF_PROJECT, p.USED_BY_PROJECTS, p.USERS, p.AFTER_USER)
_OF_ALL = (*_OF_DOMAIN, p.USED_IN_DOMAINS)
_ANSWER = {200: UsageReportAnswer}

USAGE = {
    "/v1/usage-reports": {
        "GET": Operation(usage.report_usage, "cluster:list_projects", _ANSWER, (), _OF_ALL, csv=True)
    },
    f"{DOMAIN}/usage-reports": {
        "GET": Operation(usage.report_usage_of_domain, "project:list", _ANSWER, (404,), _OF_DOMAIN, csv=True)
    },
    f"{PROJECT}/usage-reports": {
        "GET": Operation(usage.report_usage_of_project, "project:show", _ANSWER, (404,), _OF_PROJECT, csv=True)
    },
}
"""By path and method."""
