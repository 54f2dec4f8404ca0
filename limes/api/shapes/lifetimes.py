"""From when to when subresources were there."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.common import Link, PlacedNamed, Time


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
