"""What needs attention."""

from typing import Annotated, Literal

from pydantic import Field

from limes.api.shapes.commitment import PositiveAmount
from limes.api.shapes.common import Amount, PlacedNamed, Time, Unit
from limes.api.shapes.shape import Shape

Count = Annotated[int, Field(ge=0)]
Some = Annotated[int, Field(ge=1)]
Age = Annotated[int, Field(ge=0, description="Age of the oldest figures")]


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


class FullResource(Shape):
    """A resource of a project, with what it uses of its quota."""

    project: PlacedNamed
    service: str
    resource: str
    unit: Unit | None = None
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


class EndingCommitment(Shape):
    """A confirmed commitment that ends soon, and that was not renewed."""

    project: PlacedNamed
    service: str
    resource: str
    unit: Unit | None = None
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
