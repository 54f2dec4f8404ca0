"""Answers about mails and what users have chosen for themselves."""

from typing import Annotated

from pydantic import Field

from limes.kernel.validation.shape import Shape
from limes.notifications.recipients import MailChoices


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


def render_mail_settings(choices: MailChoices) -> MailSettingsAnswer:
    kinds = [MailKind(kind=kind, sent=is_sent) for kind, is_sent in choices.kinds.items()]
    return MailSettingsAnswer(mail_settings=MailSettings(address=choices.address, sent=choices.is_sent, kinds=kinds))


class MyThreshold(Shape):
    """When the user of the token gets a mail about a project."""

    percent: Annotated[int | None, Field(ge=1, le=100, description="of a quota; null: there is no own threshold")]
    address: Annotated[str | None, Field(description="null: none is known, or this Limes sends no mails to users")]


class MyThresholdAnswer(Shape):
    """The document with it."""

    my_threshold: MyThreshold
