"""What needs somebody: in the whole cloud, a domain or a project."""

from limes.actions.reports.alerts import find_alerts
from limes.api import parameters
from limes.api.answers.attention import render_alerts
from limes.api.call import Call
from limes.web.call import Answer


def list_alerts(call: Call) -> Answer:
    """Lists what is near its limit, ends soon or fails, in all projects. The critical alerts come first."""
    found = find_alerts(call.limes, call.where, call.selection(), parameters.ALERTS.of(call.req))
    return Answer(document=render_alerts(found))
