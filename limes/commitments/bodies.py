"""Request bodies about commitments."""

from typing import Annotated

from pydantic import Field, StrictBool, StrictInt, StrictStr

from limes.api.bodies import Amount, OfCommitment
from limes.commitments import reshape, rules
from limes.web.call import RequestBody


class NewCommitment(RequestBody):
    """A wanted commitment."""

    service_type: StrictStr
    resource_name: StrictStr
    availability_zone: Annotated[StrictStr, Field(description="needed; a refusal names the existing ones")] = ""
    amount: Amount
    duration: StrictStr
    confirm_by: StrictInt | None = None
    auto_renew: Annotated[StrictBool, Field(description="whether it is renewed before its end")] = False

    def request(self) -> rules.CommitmentRequest:
        ref, az = (self.service_type, self.resource_name), self.availability_zone
        return rules.CommitmentRequest(ref, az, self.amount, self.duration, self.confirm_by, self.auto_renew)


class NewCommitmentBody(OfCommitment[NewCommitment]):
    """The document of new and can-confirm."""


class AutoRenewal(RequestBody):
    """Whether a commitment is to be renewed before its end."""

    auto_renew: StrictBool


class AutoRenewalBody(OfCommitment[AutoRenewal]):
    """The document to change a commitment with."""


class Transfer(RequestBody):
    """What to mark for transfer, and how public that is."""

    amount: Amount
    transfer_status: StrictStr


class TransferBody(OfCommitment[Transfer]):
    """The document of start-transfer."""


class MergeBody(RequestBody):
    """The document of merge."""

    commitment_ids: Annotated[tuple[StrictInt, ...], Field(max_length=1000)]


class DurationBody(RequestBody):
    """The document of update-duration."""

    duration: StrictStr


class ConversionPart(RequestBody):
    """Which part of the commitment is converted, to which resource, and to which amount."""

    target_service: StrictStr
    target_resource: StrictStr
    source_amount: Amount
    target_amount: Amount

    def conversion(self) -> reshape.Conversion:
        return reshape.Conversion((self.target_service, self.target_resource), self.source_amount, self.target_amount)


class ConversionBody(OfCommitment[ConversionPart]):
    """The document of convert."""
