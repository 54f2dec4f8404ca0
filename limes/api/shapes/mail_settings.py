"""Which mails a user gets."""

from typing import Annotated

from pydantic import Field

from limes.api.shapes.shape import Shape


class MailKind(Shape):
    """Whether mails of a kind are sent."""

    kind: str
    sent: bool


class MailSettings(Shape):
    """The mails that the user of the token gets."""

    address: Annotated[str | None, Field(description="null: none is known, so nothing is sent")]
    sent: Annotated[bool, Field(description="false: no mails at all, whatever `kinds` says")]
    kinds: list[MailKind]


class MailSettingsAnswer(Shape):
    """The document with them."""

    mail_settings: MailSettings
