"""Request bodies about quota requests. Unlike in PUT of quotas, unknown keys are refused: they would be lost."""

from typing import Annotated

from pydantic import Field, StrictInt, StrictStr

from limes.api.bodies import NeededText, StrictBody, Text
from limes.quota.bodies import ResourceBody, ServiceBody


class WantedResourceBody(ResourceBody, StrictBody):
    """A wanted quota. The unit is as in PUT."""


class WantedServiceBody(ServiceBody, StrictBody):
    """Wanted quotas of a service."""

    resources: tuple[WantedResourceBody, ...]


class NewQuotaRequest(StrictBody):
    """What is asked for, and why. Of a set, only what is more than the present quotas."""

    quota_set: StrictStr | None = None
    services: tuple[WantedServiceBody, ...] = ()
    reason: NeededText
    until: Annotated[
        StrictInt | None, Field(description="until when the quota is wanted, as a UNIX timestamp; null: permanently")
    ] = None
    starts_at: Annotated[
        StrictInt | None, Field(alias="from", description="when it is wanted, if not at once; goes with `until`")
    ] = None


class NewQuotaRequestBody(StrictBody):
    """The document to ask for quota with."""

    quota_request: NewQuotaRequest


class ApprovalBody(StrictBody):
    """The document to approve with. Resources that it does not name are granted as they were asked for."""

    services: tuple[WantedServiceBody, ...] = ()
    comment: Text = ""


class RejectionBody(StrictBody):
    """The document to reject with."""

    reason: NeededText


class OptionalCommentBody(StrictBody):
    """The document to withdraw with, or to pass on with."""

    comment: Text = ""


class CommentBody(StrictBody):
    """A comment."""

    comment: NeededText
