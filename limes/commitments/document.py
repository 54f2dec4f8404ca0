"""A commitment as the API and the events show it."""

from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field

from limes.catalog.catalog import Ref
from limes.commitments import commitment as life
from limes.kernel.units import Unit as UnitOfResource
from limes.kernel.validation.shape import PositiveAmount, Shape, Time, Unit, seconds

_Offer = Literal["unlisted", "public"]


class Commitment(Shape):
    """A project's promise to use an amount of a resource in one availability zone for a time."""

    # Beyond the table in the API's documentation: `uuid`, `status`, `creator_uuid`, `creator_name` and
    # `transfer_status`, which clients of the original need, and `requested_at` as in that documentation's examples.
    id: Annotated[int, Field(ge=1)]
    uuid: str
    service_type: str
    resource_name: str
    availability_zone: str
    amount: PositiveAmount
    unit: Unit | None = None
    duration: str
    status: life.Status
    requested_at: Time
    created_at: Time
    creator_uuid: Annotated[str, Field(description="not shown of what is offered to everybody")] | None = None
    creator_name: str | None = None
    confirm_by: Time | None = None
    confirmed_at: Time | None = None
    expires_at: Time
    superseded_at: Time | None = None
    transferable: Literal[True] | None = None
    transfer_status: _Offer | None = None
    transfer_token: Annotated[str, Field(description="only shown to those who may give it away")] | None = None
    auto_renew: Annotated[Literal[True], Field(description="it is renewed before its end")] | None = None
    auto_renew_error: Annotated[str, Field(description="why the last try to renew it failed")] | None = None
    renewable_from: (
        Annotated[
            Time, Field(description="in the list of a project: when it may be renewed; not there if it cannot be")
        ]
        | None
    ) = None
    deletable_until: (
        Annotated[Time, Field(description="in the list of a project: until when the project may take it back")] | None
    ) = None

    @classmethod
    def of(
        cls, commitment: life.Commitment, ref: Ref, unit: UnitOfResource, *, with_token: bool = False, **others: Any
    ) -> Self:
        """Returns the commitment with these other fields. The transfer token is a secret."""
        created_at = int(commitment.created_at)
        return cls(
            id=commitment.id,
            uuid=commitment.uuid,
            service_type=ref[0],
            resource_name=ref[1],
            availability_zone=commitment.az,
            amount=commitment.amount,
            unit=unit.value or None,
            duration=commitment.duration,
            status=commitment.status,
            requested_at=created_at,
            created_at=created_at,
            creator_uuid=commitment.creator_uuid,
            creator_name=commitment.creator_name,
            confirm_by=seconds(commitment.confirm_by),
            confirmed_at=seconds(commitment.confirmed_at),
            expires_at=int(commitment.expires_at),
            superseded_at=seconds(commitment.superseded_at),
            transferable=bool(commitment.transfer_status) or None,
            transfer_status=cast("_Offer", commitment.transfer_status) or None,
            transfer_token=commitment.transfer_token if with_token else None,
            auto_renew=commitment.auto_renews or None,
            auto_renew_error=commitment.renewal_error or None,
            **others,
        )


class EventCommitment(Commitment):
    """A commitment as it was after a change."""

    project_id: str
    domain_id: str
    related: Annotated[list[str], Field(description="UUIDs of what it was made of, or was made of it")] = []
