"""What needs attention, and alerts: resources near their limits, commitments that end soon, and failures."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from limes.api.answers import Count, Named, OfProject, PlacedNamed, TemporaryQuota, place, render_temporary
from limes.kernel.validation.shape import Amount, PositiveAmount, Shape, Time, Unit, seconds
from limes.notifications.alerts import Kind, Severity
from limes.projects.scope import NamedResource
from limes.reports import attention as found
from limes.reports import attention_queries as queries
from limes.reports.resources import Age, RenderContext

Some = Annotated[int, Field(ge=1)]
_KIND = "^(" + "|".join(Kind) + ")$"
_SEVERITY = "^(" + "|".join(Severity) + ")$"


class ServiceScrapes(Shape):
    """How the scrapes of a service go, over all projects that one asks about."""

    type: str
    area: str
    projects: Count
    max_scraped_at: Time | None = None
    min_scraped_at: Time | None = None
    is_stale: Literal[True] | None = None
    age_seconds: Age | None = None
    failing_projects: Annotated[int, Field(ge=1, description="whose last scrape failed")] | None = None
    failing_since: Time | None = None
    unwritten_projects: (
        Annotated[int, Field(ge=1, description="whose quota the backend did not take at the last attempt")] | None
    ) = None
    checked_at: Time | None = None


class CapacitorScrape(Shape):
    """The last scrape of a capacitor. `message` is the error of the last attempt, if that failed."""

    id: str
    scraped_at: Time | None = None
    is_stale: Literal[True] | None = None
    age_seconds: Age | None = None
    checked_at: Time | None = None
    message: str | None = None


class ScrapeStatus(Shape):
    """By service, and of the whole cluster also by capacitor."""

    services: list[ServiceScrapes]
    checked_at: Annotated[int, Field(ge=0, description="When a backend was last asked, UNIX timestamp")] | None = None
    capacitors: list[CapacitorScrape] | None = None


class ScrapeStatusAnswer(Shape):
    """How scrapes go."""

    scrape_status: ScrapeStatus


def render_scrape_status(
    context: RenderContext,
    service_rows: Sequence[queries.ServiceScrapes],
    capacitor_rows: Sequence[queries.CapacitorScrape] | None,
) -> ScrapeStatusAnswer:
    """Leaves out services that are not configured, and errors of their backends."""
    configured = context.catalog.services
    services = [
        ServiceScrapes(
            type=row.service_type,
            area=configured[row.service_type].area,
            projects=row.projects,
            failing_projects=row.failing or None,
            failing_since=seconds(row.failing_since),
            unwritten_projects=row.unwritten or None,
            checked_at=seconds(row.checked_at),
            **context.scrape_range((row.oldest, row.newest)),
        )
        for row in service_rows
        if row.service_type in configured
    ]
    capacitors = [
        CapacitorScrape(
            id=row.name,
            scraped_at=seconds(row.scraped_at),
            checked_at=seconds(row.checked_at),
            message=row.error or None,
            **context.staleness(row.scraped_at),
        )
        for row in capacitor_rows or ()
    ]
    times = [row.checked_at for row in service_rows] + [row.checked_at for row in capacitor_rows or ()]
    shown = ScrapeStatus(
        services=services,
        checked_at=seconds(max((time for time in times if time is not None), default=None)),
        capacitors=None if capacitor_rows is None else capacitors,
    )
    return ScrapeStatusAnswer(scrape_status=shown)


class FullResource(OfProject):
    """A resource of a project, with what it uses of its quota."""

    quota: Amount
    usage: Amount


class FullCounts(Shape):
    """How many resources of projects there are, whatever `limit` says. Each count includes the next one."""

    above: Count
    above_95: Count
    above_quota: Count


class FullestAnswer(Shape):
    """The fullest first."""

    fullest: list[FullResource]
    counts: FullCounts


def render_fullest(rows: Sequence[tuple[NamedResource, queries.FullRow]], numbers: queries.FullCounts) -> FullestAnswer:
    resources = [
        FullResource(
            project=place(row.project),
            service=named.ref[0],
            resource=named.ref[1],
            unit=named.unit.value or None,
            quota=row.quota,
            usage=row.usage,
        )
        for named, row in rows
    ]
    counts = FullCounts(above=numbers.above, above_95=numbers.above_95, above_quota=numbers.above_quota)
    return FullestAnswer(fullest=resources, counts=counts)


class EndingCommitment(OfProject):
    """A confirmed commitment that ends soon, and that was not renewed."""

    id: Some
    uuid: str
    availability_zone: str
    amount: PositiveAmount
    duration: str
    expires_at: Time


class ExpiringCommitmentsAnswer(Shape):
    """The first to end first. `total` is their number, whatever `limit` says."""

    expiring_commitments: list[EndingCommitment]
    total: Count


def render_ending(rows: Sequence[tuple[NamedResource, queries.EndingRow]], total: int) -> ExpiringCommitmentsAnswer:
    commitments = [
        EndingCommitment(
            project=place(row.project),
            service=named.ref[0],
            resource=named.ref[1],
            unit=named.unit.value or None,
            id=row.id,
            uuid=row.uuid,
            availability_zone=row.az,
            amount=row.amount,
            duration=row.duration,
            expires_at=int(row.expires_at),
        )
        for named, row in rows
    ]
    return ExpiringCommitmentsAnswer(expiring_commitments=commitments, total=total)


# -- alerts ------------------------------------------------------------------------------------------------------------


class AlertedCommitment(Shape):
    """The commitment that an alert is about."""

    id: Some
    uuid: str
    availability_zone: str
    amount: PositiveAmount
    duration: str
    expires_at: Time
    confirm_by: Time | None = None
    auto_renew_error: str | None = None


class Alert(Shape):
    """One alert. Which fields it has besides the first two depends on its kind."""

    kind: Annotated[str, Field(pattern=_KIND)]
    severity: Annotated[str, Field(pattern=_SEVERITY)]
    project: PlacedNamed | None = None
    service: str | None = None
    capacitor: str | None = None
    since: Time | None = None
    resource: str | None = None
    unit: Unit | None = None
    domain: Annotated[Named, Field(description="if it is about the domain's own quota")] | None = None
    quota: Amount | None = None
    usage: Amount | None = None
    threshold: Annotated[int, Field(ge=1, le=100, description="usage exceeds this percentage of quota")] | None = None
    commitment: AlertedCommitment | None = None
    temporary_quota: TemporaryQuota | None = None
    projects: Annotated[int, Field(ge=1, description="how many there are")] | None = None
    unwritten_projects: Annotated[int, Field(ge=1, description="whose quota the backend did not take")] | None = None
    failing_projects: Annotated[int, Field(ge=1, description="whose last scrape failed")] | None = None


class AlertCounts(Shape):
    """How many there are, whatever `limit` says."""

    critical: Count
    warning: Count


class AlertsAnswer(Shape):
    """The critical ones first."""

    alerts: list[Alert]
    counts: AlertCounts


def render_alerts(alerts: Sequence[found.Alert], numbers: found.Counts) -> AlertsAnswer:
    def count(wanted: Severity) -> int:
        return sum(number for (_, severity, _), number in numbers.items() if severity is wanted)

    counts = AlertCounts(critical=count(Severity.CRITICAL), warning=count(Severity.WARNING))
    return AlertsAnswer(alerts=[_alert(alert) for alert in alerts], counts=counts)


def _alert(alert: found.Alert) -> Alert:
    resource, used, commitment, temporary = alert.resource, alert.used, alert.commitment, alert.temporary
    shown = Alert(
        kind=alert.kind.value,
        severity=alert.severity.value,
        project=None if alert.project is None else place(alert.project),
        service=alert.service or None,
        capacitor=alert.capacitor or None,
        since=seconds(alert.since),
        threshold=alert.threshold,
    )
    if resource is not None:
        shown.resource, shown.unit = resource.ref[1], resource.unit.value or None
    if used is not None:
        shown.quota, shown.usage = used.quota, used.usage
    if commitment is not None:
        row = commitment.commitment
        shown.commitment = AlertedCommitment(
            id=row.id,
            uuid=row.uuid,
            availability_zone=row.az,
            amount=row.amount,
            duration=row.duration,
            expires_at=int(row.expires_at),
            confirm_by=seconds(commitment.confirm_by),
            auto_renew_error=commitment.renewal_error or None,
        )
    if temporary is not None:
        if not temporary.place.uuid:
            shown.domain = Named(temporary.place.domain_uuid, temporary.place.domain_name)
        shown.quota = temporary.present
        shown.temporary_quota = render_temporary(temporary.temporary, temporary.present)
    if alert.scrapes is not None:
        shown.projects = alert.scrapes.projects
        if alert.kind is Kind.QUOTA_NOT_WRITTEN:
            shown.unwritten_projects = alert.scrapes.unwritten
        else:
            shown.failing_projects = alert.scrapes.failing or None
    return shown
