"""Bodies of quota requests. Unlike in PUT, keys that are not known are refused: what they ask for would be lost."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, StrictInt, StrictStr, StringConstraints

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

_STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class WantedResourceBody(ResourceBody):
    """A wanted quota. The unit is as in PUT."""

    model_config = _STRICT


class WantedServiceBody(ServiceBody):
    """Wanted quotas of a service."""

    model_config = _STRICT
    resources: tuple[WantedResourceBody, ...]


class NewQuotaRequest(RequestBody):
    """What is asked for, and why. Of a set, only what is more than the present quotas."""

    model_config = _STRICT
    quota_set: StrictStr | None = None
    services: tuple[WantedServiceBody, ...] = ()
    reason: _NeededText
    until: Annotated[
        StrictInt | None, Field(description="until when the quota is wanted, as a UNIX timestamp; null: for good")
    ] = None
    starts_at: Annotated[
        StrictInt | None, Field(alias="from", description="when it is wanted, if not at once; goes with `until`")
    ] = None


class NewQuotaRequestBody(RequestBody):
    """The document to ask for quota with."""

    model_config = _STRICT
    quota_request: NewQuotaRequest


class ApprovalBody(RequestBody):
    """The document to approve with. Resources that it does not name are granted as they were asked for."""

    model_config = _STRICT
    services: tuple[WantedServiceBody, ...] = ()
    comment: _Text = ""


class RejectionBody(RequestBody):
    """The document to reject with."""

    model_config = _STRICT
    reason: _NeededText


class OptionalCommentBody(RequestBody):
    """The document to withdraw with, or to pass on with."""

    model_config = _STRICT
    comment: _Text = ""


class CommentBody(RequestBody):
    """A comment."""

    model_config = _STRICT
    comment: _NeededText
