"""The part of the table (`routes`) that is about lifetimes of subresources."""

from limes.api import parameters as p
from limes.api.call import Operation
from limes.api.commitment_routes import DOMAIN, PROJECT, SELECTION
from limes.api.handlers import lifetimes
from limes.api.shapes.lifetimes import LifetimesAnswer

_OF_PROJECT = (
    *(*SELECTION, p.AT_AZS, p.SUBRESOURCE_IDS),
    *(p.FROM, p.UNTIL, p.LIFETIMES, p.AFTER_LIFETIME),
)
_OF_DOMAIN = (*_OF_PROJECT, p.AT_PROJECTS)
_OF_ALL = (*_OF_DOMAIN, p.AT_DOMAINS)
_ANSWER = {200: LifetimesAnswer}

LIFETIMES = {
    "/v1/subresources": {
        "GET": Operation(lifetimes.list_lifetimes, "cluster:list_projects", _ANSWER, (), _OF_ALL, csv=True)
    },
    f"{DOMAIN}/subresources": {
        "GET": Operation(lifetimes.list_lifetimes_of_domain, "project:list", _ANSWER, (404,), _OF_DOMAIN, csv=True)
    },
    f"{PROJECT}/subresources": {
        "GET": Operation(lifetimes.list_lifetimes_of_project, "project:show", _ANSWER, (404,), _OF_PROJECT, csv=True)
    },
}
"""By path and method."""
