"""The answer with alerts."""

from limes.actions.reports.alerts import Alert, Alerts
from limes.api.render.attention import place
from limes.api.render.common import seconds, unit_name, unix
from limes.api.render.temporary_quota import render_temporary
from limes.api.shapes import alerts as shapes
from limes.core.alerts import Kind, Severity
from limes.db.queries.alerts import CommitmentRow


def render_alerts(alerts: Alerts) -> shapes.AlertsAnswer:
    """The alerts that were asked for, with the counts of all."""

    def count(wanted: Severity) -> int:
        return sum(number for (_, severity, _), number in alerts.counts.items() if severity is wanted)

    counts = shapes.AlertCounts(critical=count(Severity.CRITICAL), warning=count(Severity.WARNING))
    return shapes.AlertsAnswer(alerts=[_alert(alert) for alert in alerts.rows], counts=counts)


def _alert(alert: Alert) -> shapes.Alert:
    resource, used, temporary = alert.resource, alert.used, alert.temporary
    document = shapes.Alert(
        kind=alert.kind.value,
        severity=alert.severity.value,
        project=None if alert.project is None else place(alert.project),
        service=alert.service or None,
        capacitor=alert.capacitor or None,
        since=seconds(alert.since),
        resource=None if resource is None else resource.ref[1],
        unit=None if resource is None else unit_name(resource.unit),
        quota=None if used is None else used.quota,
        usage=None if used is None else used.usage,
        threshold=alert.threshold,
        commitment=None if alert.commitment is None else _commitment(alert.commitment),
    )
    if temporary is not None:
        if not temporary.place.uuid:
            document.domain = {"id": temporary.place.domain_uuid, "name": temporary.place.domain_name}
        document.quota = temporary.present
        document.temporary_quota = render_temporary(temporary.temporary, temporary.present)
    if alert.scrapes is not None:
        document.projects = alert.scrapes.projects
        if alert.kind is Kind.QUOTA_NOT_WRITTEN:
            document.unwritten_projects = alert.scrapes.unwritten
        else:
            document.failing_projects = alert.scrapes.failing or None
    return document


def _commitment(row: CommitmentRow) -> shapes.AlertedCommitment:
    return shapes.AlertedCommitment(
        id=row.id,
        uuid=row.uuid,
        availability_zone=row.az,
        amount=row.amount,
        duration=row.duration,
        expires_at=unix(row.expires_at),
        confirm_by=seconds(row.confirm_by),
        auto_renew_error=row.renewal_error or None,
    )
