"""What needs somebody: near its limit, ending soon, or failing."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.attention import Count, Some
from limes.api.shapes.commitment import PositiveAmount
from limes.api.shapes.common import Amount, Named, PlacedNamed, TemporaryQuota, Time, Unit
from limes.core.alerts import Kind, Severity

_KIND = "^(" + "|".join(Kind) + ")$"
_SEVERITY = "^(" + "|".join(Severity) + ")$"


class AlertedCommitment(TypedDict):
    """The commitment that an alert is about."""

    id: Some
    uuid: str
    availability_zone: str
    amount: PositiveAmount
    duration: str
    confirm_by: NotRequired[Time]
    expires_at: Time
    auto_renew_error: NotRequired[str]


class Alert(TypedDict):
    """One alert. Which fields it has besides the first two depends on its kind."""

    kind: Annotated[str, Field(pattern=_KIND)]
    severity: Annotated[str, Field(pattern=_SEVERITY)]
    project: NotRequired[PlacedNamed]
    domain: NotRequired[Annotated[Named, Field(description="if it is about the domain's own quota")]]
    service: NotRequired[str]
    resource: NotRequired[str]
    unit: NotRequired[Unit]
    quota: NotRequired[Amount]
    usage: NotRequired[Amount]
    threshold: NotRequired[Annotated[int, Field(ge=1, le=100, description="usage is above so many percent of quota")]]
    commitment: NotRequired[AlertedCommitment]
    temporary_quota: NotRequired[TemporaryQuota]
    projects: NotRequired[Annotated[int, Field(ge=1, description="how many there are")]]
    failing_projects: NotRequired[Annotated[int, Field(ge=1, description="whose last scrape failed")]]
    unwritten_projects: NotRequired[Annotated[int, Field(ge=1, description="whose quota the backend did not take")]]
    capacitor: NotRequired[str]
    since: NotRequired[Time]


class AlertCounts(TypedDict):
    """How many there are, whatever `limit` says."""

    critical: Count
    warning: Count


class AlertsAnswer(TypedDict):
    """The critical ones first."""

    alerts: list[Alert]
    counts: AlertCounts
