"""Usage over time: the account of usage and commitments, and lifetimes of subresources."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.common import Amount, Link, PlacedNamed, Time, Unit

AmountSeconds = Annotated[int, Field(ge=0, description="amount-seconds: an amount of 3 for a minute is 180")]
Buckets = dict[str, Annotated[int, Field(ge=1)]]


class Correction(TypedDict):
    """When something was corrected after it was closed, and why."""

    at: Time
    reason: str


UsageEntry = TypedDict(
    "UsageEntry",
    {
        "project": PlacedNamed,
        "service_type": str,
        "resource_name": str,
        "unit": NotRequired[Unit],
        "availability_zone": Annotated[NotRequired[str], Field(description="with `per_az`")],
        "from": Time,
        "until": Time,
        "used": AmountSeconds,
        "committed": AmountSeconds,
        "beyond_commitments": AmountSeconds,
        "unknown_seconds": Annotated[int, Field(ge=0, description="in which nobody knew the usage")],
        "smallest": Annotated[NotRequired[Amount], Field(description="with `per_az`")],
        "largest": Annotated[NotRequired[Amount], Field(description="with `per_az`")],
        "last": Amount,
        "closed": Annotated[Buckets, Field(description="from how many closed hours, days and months this comes")],
        "open": NotRequired[Annotated[Buckets, Field(description="the same of those that are not closed yet")]],
        "version": Annotated[int, Field(ge=1, description="more than 1 after a correction")],
        "corrections": NotRequired[list[Correction]],
    },
)
UsageEntry.__doc__ = "What one project has used of one resource in one time: in all AZs, or with `per_az` in one."

UsageReport = TypedDict(
    "UsageReport",
    {
        "metering_began_at": Annotated[
            int, Field(ge=0, description="when the account begins: before, nothing is known")
        ],
        "from": Time,
        "until": Time,
        "granularity": str,
        "entries": list[UsageEntry],
        "links": list[Link],
    },
)
UsageReport.__doc__ = "Nothing is told of times in which nothing was used or committed, which was known."


class UsageReportAnswer(TypedDict):
    """By project, service, resource and AZ, in the order of time."""

    usage_report: UsageReport


class Lifetime(TypedDict):
    """A period in which a subresource was in one AZ with the same billed attributes."""

    id: Annotated[str, Field(description="the subresource's; its name if it has no id")]
    name: str
    project: PlacedNamed
    service_type: str
    resource_name: str
    availability_zone: str
    attributes: dict[str, Any]
    first_seen_at: Annotated[int, Field(ge=0, description="maybe in an earlier period, UNIX timestamp")]
    began_at: Time
    last_seen_at: Time
    ended_at: NotRequired[Time]
    seconds: Annotated[int, Field(ge=0, description="how much of `from` to `until` it covers")]


LifetimesAnswer = TypedDict(
    "LifetimesAnswer",
    {
        "from": Time,
        "until": Time,
        "subresources": list[Lifetime],
        "subresources_links": list[Link],
    },
)
LifetimesAnswer.__doc__ = "Periods that overlap with the time asked for, and a link to more of them."
