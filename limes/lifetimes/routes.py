"""The part of the table (`routes`) that is about lifetimes of subresources."""

from limes.api import parameters as p
from limes.api.call import Operation
from limes.api.levels import SELECTION, At, on_every_level
from limes.lifetimes import handlers as lifetimes
from limes.lifetimes.answers import LifetimesAnswer

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
