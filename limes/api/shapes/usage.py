"""The account of usage and commitments over time."""

from typing import Annotated, NotRequired

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
        "availability_zone": str,
        "from": Time,
        "until": Time,
        "used": AmountSeconds,
        "committed": AmountSeconds,
        "beyond_commitments": AmountSeconds,
        "unknown_seconds": Annotated[int, Field(ge=0, description="in which nobody knew the usage")],
        "smallest": NotRequired[Amount],
        "largest": NotRequired[Amount],
        "last": Amount,
        "closed": Annotated[Buckets, Field(description="from how many closed hours, days and months this comes")],
        "open": NotRequired[Annotated[Buckets, Field(description="the same of those that are not closed yet")]],
        "version": Annotated[int, Field(ge=1, description="more than 1 after a correction")],
        "corrections": NotRequired[list[Correction]],
    },
)
UsageEntry.__doc__ = "What one project has used of one resource in one AZ, in one time."

UsageReport = TypedDict(
    "UsageReport",
    {"from": Time, "until": Time, "granularity": str, "entries": list[UsageEntry], "links": list[Link]},
)
UsageReport.__doc__ = "Nothing is told of times in which nothing was used or committed, which was known."


class UsageReportAnswer(TypedDict):
    """By project, service, resource and AZ, in the order of time."""

    usage_report: UsageReport
