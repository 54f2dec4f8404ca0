"""The body with which users say which mails they want."""

from typing import Annotated

from pydantic import ConfigDict, Field, StrictBool, StrictStr

from limes.web.call import RequestBody

_STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class MailKindBody(RequestBody):
    """Whether mails of a kind are wanted."""

    model_config = _STRICT
    kind: StrictStr
    sent: StrictBool


class WantedMailsBody(RequestBody):
    """What is to change."""

    model_config = _STRICT
    sent: Annotated[StrictBool | None, Field(description="whether any mails are wanted; null: as it is")] = None
    kinds: Annotated[tuple[MailKindBody, ...], Field(max_length=100)] = ()


class MailSettingsBody(RequestBody):
    """The document with what is to change."""

    model_config = _STRICT
    mail_settings: WantedMailsBody
