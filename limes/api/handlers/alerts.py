"""What needs somebody: in the whole cloud, a domain or a project."""

from limes.actions.reports.alerts import ReportAlerts
from limes.api import parameters
from limes.api.call import Call
from limes.api.render.alerts import render_alerts
from limes.web.call import Answer


def list_alerts(call: Call) -> Answer:
    """Lists what is near its limit, ends soon or fails, in all projects. The critical alerts come first."""
    now, limit = call.limes.now(), parameters.ALERTS.of(call.req)
    settings = call.limes.settings
    report = ReportAlerts(call.engine, call.catalog, settings.alerts, settings.circuit_breaker.failures)
    return Answer(document=render_alerts(report.run(call.where, call.selection(), now, limit)))
