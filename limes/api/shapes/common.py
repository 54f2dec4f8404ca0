"""Parts that several answers share."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

Amount = Annotated[int, Field(ge=0)]
"""In the unit of the resource."""
Time = Annotated[int, Field(ge=0, description="UNIX timestamp, in whole seconds")]
Unit = Annotated[str, Field(description="only of measured resources")]
QuotaModel = Annotated[str, Field(pattern="^(hierarchical|autogrow)$")]
ByDuration = Annotated[dict[str, Amount], Field(description="amounts by duration")]


TemporaryQuota = TypedDict(
    "TemporaryQuota",
    {
        "state": Annotated[
            Literal["planned", "active", "over"],
            Field(description="`over`: the end has passed, and not all of it could be given back so far"),
        ],
        "quota": Amount,
        "quota_before": NotRequired[Annotated[int, Field(ge=0, description="to which it goes back; not if planned")]],
        "from": Time,
        "until": Time,
        "over_by": NotRequired[Annotated[int, Field(ge=0, description="what was not given back so far")]],
        "problem": NotRequired[Annotated[str, Field(description="why it could not begin, or not be given back")]],
    },
)
TemporaryQuota.__doc__ = "A quota that ends by itself, or that is planned."


class Warned(TypedDict):
    """What whoever asks should know. Not there where there is nothing."""

    warnings: NotRequired[list[str]]


class Link(TypedDict):
    """A link to another document."""

    rel: str
    href: str
    type: NotRequired[str]


class Id(TypedDict):
    """Somebody who was found in Keystone."""

    id: str


class Named(TypedDict):
    """A domain."""

    id: str
    name: str


class PlacedNamed(TypedDict):
    """A project, and its domain."""

    id: str
    name: str
    domain: Named


class ScalesWith(TypedDict):
    """Which other resource's quota this one's should follow, and how fast."""

    resource_name: str
    service_type: str
    factor: float


class CommitmentConfig(TypedDict):
    """Which commitments can be made."""

    durations: list[str]
    min_confirm_by: NotRequired[Time]
    availability_zones: Annotated[list[str], Field(description="where they can be made")]


class Committable(TypedDict):
    """A resource that allows commitments, or not."""

    commitment_config: NotRequired[CommitmentConfig]


class Hints(TypedDict):
    """What is configured for user interfaces."""

    scales_with: NotRequired[ScalesWith]
    annotations: NotRequired[dict[str, str]]


class ResourceHead(Committable):
    """What describes a resource on all levels."""

    name: str
    display_name: NotRequired[Annotated[str, Field(description="what people call it, if that is configured")]]
    unit: NotRequired[Unit]
    category: NotRequired[str]
    contained_in: NotRequired[str]
    quota_distribution_model: NotRequired[QuotaModel]


class ResourceHints(ResourceHead, Hints):
    """What describes a resource on the levels of domains and projects."""


class ServiceHead(TypedDict):
    """What describes a service on all levels."""

    type: str
    area: str


class ResourcesOfService(ServiceHead):
    """A service, and what its resources are."""

    resources: list[ResourceHints]


class SetQuota(TypedDict):
    """A quota of a preset size."""

    name: str
    quota: Amount
    unit: NotRequired[Unit]


class SetService(TypedDict):
    """The quotas of a service in a preset size, in the form that PUT takes."""

    type: str
    resources: list[SetQuota]


class QuotaSetShape(TypedDict):
    """A preset size, as `quota_set` names it."""

    name: str
    description: str
    services: list[SetService]


class ResourcesAnswer(TypedDict):
    """What there is, without figures."""

    services: list[ResourcesOfService]
    availability_zones: list[str]
    quota_sets: list[QuotaSetShape]


class Commitments(TypedDict):
    """What is committed to in one AZ."""

    committed: NotRequired[ByDuration]
    unused_commitments: NotRequired[Amount]
    pending_commitments: NotRequired[ByDuration]
    planned_commitments: NotRequired[ByDuration]


class Staleness(TypedDict):
    """Both are there if the figures, or the oldest of them, are older than `collector.stale_after`."""

    is_stale: NotRequired[Literal[True]]
    age_seconds: NotRequired[Annotated[int, Field(ge=0, description="Age of the oldest figures")]]


class ScrapeRange(Staleness):
    """When the oldest and the newest figures come from."""

    max_scraped_at: NotRequired[Time]
    min_scraped_at: NotRequired[Time]
