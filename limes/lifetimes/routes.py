"""Requests for lifetimes of subresources."""

from limes.api import call, levels
from limes.lifetimes import answers
from limes.lifetimes import handlers as h

_TIMES_OF_PROJECT = (*levels.SELECTION, h.AZS, h.SUBRESOURCE_IDS, h.FROM, h.UNTIL, h.LIMIT, h.MARKER)
_TIMES_OF_DOMAIN = (*_TIMES_OF_PROJECT, h.PROJECTS)
_TIMES = (*_TIMES_OF_DOMAIN, h.DOMAINS)

_ALL = levels.on_every_level(
    "subresources",
    call.Operation(h.list_lifetimes, "cluster:list_projects", {200: answers.LifetimesAnswer}, (), _TIMES, csv=True),
    levels.At(
        "Lists from when to when subresources of a domain's projects existed, as JSON or CSV.",
        "project:list",
        _TIMES_OF_DOMAIN,
    ),
    levels.At(
        "Lists from when to when subresources of a project existed, as JSON or CSV.", "project:show", _TIMES_OF_PROJECT
    ),
)

SECTIONS = {"subresources": _ALL}
