"""What needs attention."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.cluster import NamedResource
from limes.api.shapes.commitment import PositiveAmount
from limes.api.shapes.common import Amount, PlacedNamed, ScrapeRange, ServiceHead, Staleness, Time

Count = Annotated[int, Field(ge=0)]
Some = Annotated[int, Field(ge=1)]


class ServiceScrapes(ScrapeRange, ServiceHead):
    """How the scrapes of a service go, over all projects that one asks about."""

    projects: Count
    failing_projects: NotRequired[Annotated[int, Field(ge=1, description="whose last scrape failed")]]
    failing_since: NotRequired[Time]
    unwritten_projects: NotRequired[
        Annotated[int, Field(ge=1, description="whose quota the backend did not take at the last attempt")]
    ]
    checked_at: NotRequired[Time]


class CapacitorScrape(Staleness):
    """The last scrape of a capacitor. `message` is the error of the last attempt, if that failed."""

    id: str
    scraped_at: NotRequired[Time]
    checked_at: NotRequired[Time]
    message: NotRequired[str]


class ScrapeStatus(TypedDict):
    """By service, and of the whole cluster also by capacitor."""

    checked_at: NotRequired[Annotated[int, Field(ge=0, description="When a backend was last asked, UNIX timestamp")]]
    services: list[ServiceScrapes]
    capacitors: NotRequired[list[CapacitorScrape]]


class ScrapeStatusAnswer(TypedDict):
    """How scrapes go."""

    scrape_status: ScrapeStatus


class FullResource(NamedResource):
    """A resource of a project, with what it uses of its quota."""

    project: PlacedNamed
    quota: Amount
    usage: Amount


class FullCounts(TypedDict):
    """How many resources of projects there are, whatever `limit` says. Each count includes the next one."""

    above: Count
    above_95: Count
    above_quota: Count


class FullestAnswer(TypedDict):
    """The fullest first."""

    fullest: list[FullResource]
    counts: FullCounts


class EndingCommitment(NamedResource):
    """A confirmed commitment that ends soon, and that was not renewed."""

    project: PlacedNamed
    id: Some
    uuid: str
    availability_zone: str
    amount: PositiveAmount
    duration: str
    expires_at: Time


class ExpiringCommitmentsAnswer(TypedDict):
    """The first to end first. `total` is their number, whatever `limit` says."""

    expiring_commitments: list[EndingCommitment]
    total: Count
