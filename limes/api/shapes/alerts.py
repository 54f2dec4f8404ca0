"""What needs somebody: near its limit, ending soon, or failing."""

from typing import Annotated

from pydantic import Field

from limes.api.shapes.attention import Count, Some
from limes.api.shapes.commitment import PositiveAmount
from limes.api.shapes.common import Amount, Named, PlacedNamed, TemporaryQuota, Time, Unit
from limes.api.shapes.shape import Shape
from limes.core.alerts import Kind, Severity

_KIND = "^(" + "|".join(Kind) + ")$"
_SEVERITY = "^(" + "|".join(Severity) + ")$"


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
    threshold: Annotated[int, Field(ge=1, le=100, description="usage is above so many percent of quota")] | None = None
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
