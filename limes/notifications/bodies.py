"""Request bodies about mails. Unknown keys are refused: they would be lost."""

from typing import Annotated

from pydantic import Field, StrictBool, StrictStr

from limes.api.bodies import StrictBody


class MailKindBody(StrictBody):
    """Whether mails of a kind are wanted."""

    kind: StrictStr
    sent: StrictBool


class WantedMailsBody(StrictBody):
    """What is to change."""

    sent: Annotated[StrictBool | None, Field(description="whether any mails are wanted; null: as it is")] = None
    kinds: Annotated[tuple[MailKindBody, ...], Field(max_length=100)] = ()


class MailSettingsBody(StrictBody):
    """The document with what is to change."""

    mail_settings: WantedMailsBody
