"""Request bodies. Unknown keys are refused: they would be lost."""

from typing import Annotated

from pydantic import Field, StrictBool, StrictInt, StrictStr

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


class WantedThresholdBody(StrictBody):
    """When to send a mail."""

    percent: Annotated[StrictInt | None, Field(description="of a quota, from 1 to 100; null: never")]


class MyThresholdBody(StrictBody):
    """The document with it."""

    my_threshold: WantedThresholdBody


class InboxSeenBody(StrictBody):
    """Up to when the inbox was seen."""

    seen_at: Annotated[StrictInt, Field(ge=0, le=2**40, description="UNIX timestamp, in whole seconds")]


class WantedWebhookBody(StrictBody):
    """Where notifications about the project are sent to."""

    url: StrictStr


class WebhookBody(StrictBody):
    """The document with it."""

    webhook: WantedWebhookBody
