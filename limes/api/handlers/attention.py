"""What needs attention in the cluster, a domain or a project."""

from limes.actions.reports.attention import ReportAttention, Where
from limes.api import parameters
from limes.api.call import Call
from limes.api.render.attention import render_ending, render_fullest, render_scrape_status
from limes.web.call import Answer


def show_scrape_status(call: Call) -> Answer:
    """Shows how scrapes of backends and capacitors go, with the errors of capacitors, and how old figures are."""
    return _scrape_status(call, with_capacitors=True)


def show_scrape_status_of_domain(call: Call) -> Answer:
    """Shows how scrapes of a domain's projects go, without what backends say, and how old figures are."""
    return _scrape_status(call, with_capacitors=False)


def list_fullest(call: Call) -> Answer:
    """Lists resources of all projects near or beyond their quota, the fullest first."""
    return _fullest(call)


def list_fullest_of_domain(call: Call) -> Answer:
    """Lists resources of a domain's projects near or beyond their quota, the fullest first."""
    return _fullest(call)


def list_expiring(call: Call) -> Answer:
    """Lists confirmed commitments of all projects that end within `?days` and were not renewed, by their end."""
    return _expiring(call)


def list_expiring_of_domain(call: Call) -> Answer:
    """Lists those of a domain."""
    return _expiring(call)


def list_expiring_of_project(call: Call) -> Answer:
    """Lists those of a project."""
    return _expiring(call)


def _scrape_status(call: Call, *, with_capacitors: bool) -> Answer:
    status = _reports(call).scrape_status(_where(call))
    return Answer(document=render_scrape_status(call.render_context(), status, with_capacitors=with_capacitors))


def _fullest(call: Call) -> Answer:
    above, limit = parameters.ABOVE.of(call.req), parameters.FULLEST.of(call.req)
    return Answer(document=render_fullest(_reports(call).fullest(_where(call), call.selection(), above, limit)))


def _expiring(call: Call) -> Answer:
    days, limit = parameters.AHEAD.of(call.req), parameters.EXPIRING.of(call.req)
    ending = _reports(call).ending(_where(call), call.selection(), _now(call), days, limit)
    return Answer(document=render_ending(ending))


def _reports(call: Call) -> ReportAttention:
    return ReportAttention(call.engine, call.catalog)


def _where(call: Call) -> Where:
    return Where(call.params.get("domain_id"), call.params.get("project_id"))


def _now(call: Call) -> float:
    return call.deps.clock.now().timestamp()
