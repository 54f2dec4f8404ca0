"""Bodies of quota requests and mail settings. Unlike in PUT of quotas, unknown keys are refused: they would be lost."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, StrictBool, StrictInt, StrictStr, StringConstraints

from limes.api.bodies import ResourceBody, ServiceBody
from limes.web.call import RequestBody

MOST_CHARACTERS = 2000


def _without_control_characters(text: str) -> str:
    if any(not (character.isprintable() or character in "\n\t") for character in text.replace("\r\n", "\n")):
        raise ValueError("control characters are not allowed")
    return text.replace("\r\n", "\n")


_Text = Annotated[
    StrictStr, StringConstraints(strip_whitespace=True, max_length=MOST_CHARACTERS),
    AfterValidator(_without_control_characters),
]  # fmt: skip
_NeededText = Annotated[_Text, Field(min_length=1)]


class _StrictBody(RequestBody):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class WantedResourceBody(ResourceBody, _StrictBody):
    """A wanted quota. The unit is as in PUT."""


class WantedServiceBody(ServiceBody, _StrictBody):
    """Wanted quotas of a service."""

    resources: tuple[WantedResourceBody, ...]


class NewQuotaRequest(_StrictBody):
    """What is asked for, and why. Of a set, only what is more than the present quotas."""

    quota_set: StrictStr | None = None
    services: tuple[WantedServiceBody, ...] = ()
    reason: _NeededText
    until: Annotated[
        StrictInt | None, Field(description="until when the quota is wanted, as a UNIX timestamp; null: for good")
    ] = None
    starts_at: Annotated[
        StrictInt | None, Field(alias="from", description="when it is wanted, if not at once; goes with `until`")
    ] = None


class NewQuotaRequestBody(_StrictBody):
    """The document to ask for quota with."""

    quota_request: NewQuotaRequest


class ApprovalBody(_StrictBody):
    """The document to approve with. Resources that it does not name are granted as they were asked for."""

    services: tuple[WantedServiceBody, ...] = ()
    comment: _Text = ""


class RejectionBody(_StrictBody):
    """The document to reject with."""

    reason: _NeededText


class OptionalCommentBody(_StrictBody):
    """The document to withdraw with, or to pass on with."""

    comment: _Text = ""


class CommentBody(_StrictBody):
    """A comment."""

    comment: _NeededText


class MailKindBody(_StrictBody):
    """Whether mails of a kind are wanted."""

    kind: StrictStr
    sent: StrictBool


class WantedMailsBody(_StrictBody):
    """What is to change."""

    sent: Annotated[StrictBool | None, Field(description="whether any mails are wanted; null: as it is")] = None
    kinds: Annotated[tuple[MailKindBody, ...], Field(max_length=100)] = ()


class MailSettingsBody(_StrictBody):
    """The document with what is to change."""

    mail_settings: WantedMailsBody
