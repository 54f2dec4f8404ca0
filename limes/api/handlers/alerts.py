"""What needs somebody: in the whole cloud, a domain or a project."""

from limes.actions.reports.alerts import ReportAlerts
from limes.actions.reports.attention import Where
from limes.api import parameters
from limes.api.call import Call
from limes.api.render.alerts import render_alerts
from limes.web.call import Answer


def list_alerts(call: Call) -> Answer:
    """Lists what is near its limit, ends soon or fails, in all projects. The critical alerts come first."""
    return _alerts(call)


def list_alerts_of_domain(call: Call) -> Answer:
    """Lists the same in a domain's projects."""
    return _alerts(call)


def list_alerts_of_project(call: Call) -> Answer:
    """Lists the same in a project."""
    return _alerts(call)


def _alerts(call: Call) -> Answer:
    where = Where(call.params.get("domain_id"), call.params.get("project_id"))
    now, limit = call.deps.clock.now().timestamp(), parameters.ALERTS.of(call.req)
    report = ReportAlerts(call.engine, call.catalog, call.deps.alerts)
    return Answer(document=render_alerts(report.run(where, call.selection(), now, limit)))
