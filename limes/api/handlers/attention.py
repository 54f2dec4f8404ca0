"""What needs attention in the cluster, a domain or a project."""

from limes.actions.reports.attention import ReportAttention
from limes.api import parameters
from limes.api.call import Call
from limes.api.render.attention import render_ending, render_fullest, render_scrape_status
from limes.web.call import Answer


def show_scrape_status(call: Call) -> Answer:
    """Shows how scrapes of backends and capacitors go, with the errors of capacitors, and how old figures are."""
    status = _reports(call).scrape_status(call.where)
    with_capacitors = call.where.domain is None
    return Answer(document=render_scrape_status(call.render_context(), status, with_capacitors=with_capacitors))


def list_fullest(call: Call) -> Answer:
    """Lists resources of all projects near or beyond their quota, the fullest first."""
    above, limit = parameters.ABOVE.of(call.req), parameters.FULLEST.of(call.req)
    return Answer(document=render_fullest(_reports(call).fullest(call.where, call.selection(), above, limit)))


def list_expiring(call: Call) -> Answer:
    """Lists confirmed commitments of all projects that end within `?days` and were not renewed, by their end."""
    days, limit = parameters.AHEAD.of(call.req), parameters.EXPIRING.of(call.req)
    ending = _reports(call).ending(call.where, call.selection(), call.limes.now(), days, limit)
    return Answer(document=render_ending(ending))


def _reports(call: Call) -> ReportAttention:
    return ReportAttention(call.engine, call.catalog)
