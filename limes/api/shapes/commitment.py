"""Answers about commitments."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from limes.api.shapes.common import Amount, Time, Unit, Warned
from limes.core.commitments.commitment import Status

Message = Annotated[str, Field(description="what is wrong")]
PositiveAmount = Annotated[int, Field(ge=1)]


class Commitment(TypedDict):
    """A project's promise to use an amount of a resource in one availability zone for a time."""

    id: Annotated[int, Field(ge=1)]
    uuid: str
    service_type: str
    resource_name: str
    availability_zone: str
    amount: PositiveAmount
    unit: NotRequired[Unit]
    duration: str
    status: Status
    requested_at: Time
    created_at: Time
    creator_uuid: NotRequired[Annotated[str, Field(description="not shown of what is offered to everybody")]]
    creator_name: NotRequired[str]
    confirm_by: NotRequired[Time]
    confirmed_at: NotRequired[Time]
    expires_at: Time
    superseded_at: NotRequired[Time]
    transferable: NotRequired[Literal[True]]
    transfer_status: NotRequired[Literal["unlisted", "public"]]
    transfer_token: NotRequired[Annotated[str, Field(description="only shown to those who may give it away")]]
    auto_renew: NotRequired[Annotated[Literal[True], Field(description="it is renewed before its end")]]
    auto_renew_error: NotRequired[Annotated[str, Field(description="why the last try to renew it failed")]]
    renewable_from: NotRequired[
        Annotated[
            Time, Field(description="in the list of a project: when it may be renewed; not there if it cannot be")
        ]
    ]
    deletable_until: NotRequired[
        Annotated[Time, Field(description="in the list of a project: until when the project may take it back")]
    ]


class CommitmentAnswer(Warned):
    """One commitment."""

    commitment: Commitment


class CommitmentsAnswer(TypedDict):
    """Commitments, in the order of their numbers."""

    commitments: list[Commitment]


class CanConfirmAnswer(Warned):
    """Whether the commitment could be made and confirmed at once; if not, why, and what would work."""

    result: bool
    reason: NotRequired[str]
    confirmable_now: NotRequired[Annotated[int, Field(ge=0, description="the largest amount that could be")]]
    confirmable_at: NotRequired[Annotated[int, Field(ge=0, description="when all of it could be, UNIX timestamp")]]


class Blocker(TypedDict):
    """A commitment that takes the capacity, until it ends."""

    availability_zone: str
    amount: PositiveAmount
    expires_at: Time


class Plan(TypedDict):
    """When the commitment could be confirmed, or how much capacity is missing for ever."""

    confirmable_now: Annotated[int, Field(ge=0, description="how much of the amount")]
    confirmable_at: NotRequired[Time]
    missing_capacity: NotRequired[Amount]
    unplaced_usage: NotRequired[
        Annotated[int, Field(ge=1, description="used in unknown zones; shown where that leaves less than the zone has")]
    ]
    blocked_by: list[Blocker]


class PlanAnswer(Warned):
    """What is known today."""

    plan: Plan


class UtilisationDay(TypedDict):
    """Averages of a day, and the smallest and largest usage that was seen."""

    date: str
    committed: Amount
    used: Amount
    unused: Amount
    min_used: Amount
    max_used: Amount


class Utilisation(TypedDict):
    """How commitments of a resource in one availability zone fit its usage."""

    service_type: str
    resource_name: str
    availability_zone: str
    unit: NotRequired[Unit]
    recommended_amount: Amount
    days: list[UtilisationDay]


class UtilisationAnswer(TypedDict):
    """By resource and availability zone."""

    utilisation: list[Utilisation]


class ZoneSummary(TypedDict):
    """What projects have committed to, of one resource in one availability zone. Amounts are in the unit."""

    service_type: str
    resource_name: str
    availability_zone: str
    unit: NotRequired[Unit]
    committed: Annotated[int, Field(ge=0, description="confirmed")]
    used: Annotated[int, Field(ge=0, description="of what is confirmed: each project uses its own only")]
    unused: Annotated[int, Field(ge=0, description="of what is confirmed")]
    usage: Annotated[int, Field(ge=0, description="of all projects, with commitments or without")]
    coverage: NotRequired[Annotated[float, Field(ge=0, le=1, description="share of usage that commitments cover")]]
    waste: NotRequired[Annotated[float, Field(ge=0, le=1, description="share of the confirmed that is not used")]]
    expiring: Annotated[int, Field(ge=0, description="of what is confirmed: ends within `days`, and was not renewed")]
    pending: Amount
    planned: Amount
    commitments: Annotated[int, Field(ge=1, description="how many these are")]
    projects: Annotated[int, Field(ge=0, description="how many have confirmed ones")]


class CommitmentSummaryAnswer(TypedDict):
    """By resource and availability zone. What nobody has committed to is left out."""

    commitment_summary: list[ZoneSummary]


class ConversionRate(TypedDict):
    """How much of this resource becomes how much of that one."""

    target_service: str
    target_resource: str
    source_amount: PositiveAmount
    target_amount: PositiveAmount


class ConversionsAnswer(TypedDict):
    """What commitments of a resource can be converted to."""

    conversions: list[ConversionRate]


class EventCommitment(Commitment):
    """A commitment as it was after a change."""

    project_id: str
    domain_id: str
    related: NotRequired[Annotated[list[str], Field(description="UUIDs of what it was made of, or was made of it")]]


class CommitmentEvent(TypedDict):
    """A change of a commitment."""

    number: Annotated[int, Field(ge=1)]
    at: Time
    event: str
    commitment: EventCommitment


class CommitmentEventsAnswer(TypedDict):
    """Changes in their order; `next` is what to ask for next as `since`."""

    events: list[CommitmentEvent]
    next: Annotated[int, Field(ge=0)]
