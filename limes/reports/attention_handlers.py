"""What needs attention in the cluster, a domain or a project, and alerts about what needs somebody."""

from limes.api import parameters
from limes.api.call import Call
from limes.reports.attention import find_alerts, find_ending, find_fullest, read_scrape_status
from limes.reports.attention_answers import render_alerts, render_ending, render_fullest, render_scrape_status
from limes.reports.handlers import render_context
from limes.web.call import Answer


def show_scrape_status(call: Call) -> Answer:
    """Shows how scrapes of backends and capacitors go, with the errors of capacitors, and how old figures are."""
    services, capacitors = read_scrape_status(call.limes, call.where)
    shown = capacitors if call.where.domain is None else None
    return Answer(document=render_scrape_status(render_context(call), services, shown))


def list_fullest(call: Call) -> Answer:
    """Lists resources of all projects near or beyond their quota, the fullest first."""
    above, limit = parameters.ABOVE.of(call.req), parameters.FULLEST.of(call.req)
    return Answer(document=render_fullest(*find_fullest(call.limes, call.where, call.selection(), above, limit)))


def list_expiring(call: Call) -> Answer:
    """Lists confirmed commitments of all projects that end within `?days` and were not renewed, by their end."""
    days, limit = parameters.AHEAD.of(call.req), parameters.EXPIRING.of(call.req)
    return Answer(document=render_ending(*find_ending(call.limes, call.where, call.selection(), days, limit)))


def list_alerts(call: Call) -> Answer:
    """Lists what is near its limit, ends soon or fails, in all projects. The critical alerts come first."""
    found = find_alerts(call.limes, call.where, call.selection(), parameters.ALERTS.of(call.req))
    return Answer(document=render_alerts(*found))
