"""The answer with alerts."""

from limes.actions.reports.alerts import Alert, Alerts
from limes.api.render.attention import place
from limes.api.render.common import unix
from limes.api.render.temporary_quota import render_temporary
from limes.api.shapes import alerts as shapes
from limes.core.alerts import Kind, Severity
from limes.db.queries.alerts import CommitmentRow
from limes.db.queries.attention import ServiceScrapes
from limes.db.queries.temporary_alerts import TemporaryAlertRow


def render_alerts(alerts: Alerts) -> shapes.AlertsAnswer:
    """Returns the document."""

    def count(wanted: Severity) -> int:
        return sum(number for (_, severity, _), number in alerts.counts.items() if severity is wanted)

    counts: shapes.AlertCounts = {"critical": count(Severity.CRITICAL), "warning": count(Severity.WARNING)}
    return {"alerts": [_alert(alert) for alert in alerts.rows], "counts": counts}


def _alert(alert: Alert) -> shapes.Alert:
    document: shapes.Alert = {"kind": alert.kind.value, "severity": alert.severity.value}
    if alert.project is not None:
        document["project"] = place(alert.project)
    if alert.service:
        document["service"] = alert.service
    if alert.capacitor:
        document["capacitor"] = alert.capacitor
    if alert.since is not None:
        document["since"] = unix(alert.since)
    if alert.resource is not None:
        document["resource"] = alert.resource.ref[1]
        if alert.resource.unit.is_measured:
            document["unit"] = alert.resource.unit.value
    if alert.used is not None:
        document |= {"quota": alert.used.quota, "usage": alert.used.usage}
    if alert.threshold is not None:
        document["threshold"] = alert.threshold
    if alert.commitment is not None:
        document["commitment"] = _commitment(alert.commitment)
    if alert.temporary is not None:
        _add_temporary(document, alert.temporary)
    if alert.scrapes is not None:
        _add_scrapes(document, alert.kind, alert.scrapes)
    return document


def _commitment(row: CommitmentRow) -> shapes.AlertedCommitment:
    document: shapes.AlertedCommitment = {
        "id": row.id,
        "uuid": row.uuid,
        "availability_zone": row.az,
        "amount": row.amount,
        "duration": row.duration,
        "expires_at": unix(row.expires_at),
    }
    if row.confirm_by is not None:
        document["confirm_by"] = unix(row.confirm_by)
    if row.renewal_error:
        document["auto_renew_error"] = row.renewal_error
    return document


def _add_temporary(document: shapes.Alert, row: TemporaryAlertRow) -> None:
    if not row.place.uuid:
        document["domain"] = {"id": row.place.domain_uuid, "name": row.place.domain_name}
    document["quota"] = row.present
    document["temporary_quota"] = render_temporary(row.temporary, row.present)


def _add_scrapes(document: shapes.Alert, kind: Kind, row: ServiceScrapes) -> None:
    document["projects"] = row.projects
    if kind is Kind.QUOTA_NOT_WRITTEN:
        document["unwritten_projects"] = row.unwritten
    elif row.failing:
        document["failing_projects"] = row.failing
