"""Request bodies of commitments. Unknown keys are accepted, as in the original; a missing one is not zero."""

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from limes.actions.commitments.reshape import Conversion
from limes.api.bodies import RequestBody, parse_body
from limes.core.commitments.request import CommitmentRequest

_Amount = Annotated[StrictInt, Field(ge=0)]
"""A negative one is no amount at all; whether zero will do is for the use case to say."""


class NewCommitment(RequestBody):
    """A wanted commitment."""

    service_type: StrictStr
    resource_name: StrictStr
    availability_zone: Annotated[StrictStr, Field(description="needed; a refusal names those that there are")] = ""
    amount: _Amount
    duration: StrictStr
    confirm_by: StrictInt | None = None


class NewCommitmentBody(RequestBody):
    """The document of new and can-confirm."""

    commitment: NewCommitment


class Transfer(RequestBody):
    """What to mark for transfer, and how public that is."""

    amount: _Amount
    transfer_status: StrictStr


class TransferBody(RequestBody):
    """The document of start-transfer."""

    commitment: Transfer


class MergeBody(RequestBody):
    """The document of merge."""

    commitment_ids: Annotated[tuple[StrictInt, ...], Field(max_length=1000)]


class DurationBody(RequestBody):
    """The document of update-duration."""

    duration: StrictStr


class ConversionPart(RequestBody):
    """How much of the commitment becomes how much of which resource."""

    target_service: StrictStr
    target_resource: StrictStr
    source_amount: _Amount
    target_amount: _Amount


class ConversionBody(RequestBody):
    """The document of convert."""

    commitment: ConversionPart


def read_commitment(document: Any) -> CommitmentRequest:
    """The commitment that is asked for. Raises `BadRequest`."""
    body = parse_body(NewCommitmentBody, document).commitment
    return CommitmentRequest(
        (body.service_type, body.resource_name), body.availability_zone, body.amount, body.duration, body.confirm_by
    )


def read_transfer(document: Any) -> Transfer:
    """What is to be transferred. Raises `BadRequest`."""
    return parse_body(TransferBody, document).commitment


def read_conversion(document: Any) -> Conversion:
    """The conversion that is asked for. Raises `BadRequest`."""
    body = parse_body(ConversionBody, document).commitment
    return Conversion((body.target_service, body.target_resource), body.source_amount, body.target_amount)
