"""Request bodies of commitments. Unknown keys are accepted, as in the original; a missing one is not zero."""

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from limes.actions.commitments.reshape import Conversion
from limes.api.bodies import RequestBody, parse_body
from limes.core.commitment_request import CommitmentRequest


class NewCommitment(RequestBody):
    """A wanted commitment."""

    service_type: StrictStr
    resource_name: StrictStr
    availability_zone: StrictStr
    amount: StrictInt
    duration: StrictStr
    confirm_by: StrictInt | None = None


class NewCommitmentBody(RequestBody):
    """The document of new and can-confirm."""

    commitment: NewCommitment


class Transfer(RequestBody):
    """What to mark for transfer, and how public that is."""

    amount: StrictInt
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
    source_amount: StrictInt
    target_amount: StrictInt


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
