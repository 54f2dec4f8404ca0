"""Answers about what users are told, and what they have chosen for themselves."""

from typing import Annotated

from pydantic import Field

from limes.api.answers import Count, Initiator, Link, Named, initiator
from limes.kernel.validation.shape import Shape, Time, one_of, seconds
from limes.notifications import project_webhooks, recipients
from limes.notifications.inbox import Inbox, InboxEvent, InboxRow


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


def render_mail_settings(choices: recipients.MailChoices) -> MailSettingsAnswer:
    kinds = [MailKind(kind=kind, sent=is_sent) for kind, is_sent in choices.kinds.items()]
    return MailSettingsAnswer(mail_settings=MailSettings(address=choices.address, sent=choices.is_sent, kinds=kinds))


class MyThreshold(Shape):
    """When the user of the token gets a mail about a project."""

    percent: Annotated[int | None, Field(ge=1, le=100, description="of a quota; null: there is no own threshold")]
    address: Annotated[str | None, Field(description="null: none is known, or this Limes sends no mails to users")]


class MyThresholdAnswer(Shape):
    """The document with it."""

    my_threshold: MyThreshold


class InboxItem(Shape):
    """What somebody has decided on a request of the token's user, or said about it."""

    number: Annotated[int, Field(ge=1)]
    at: Time
    kind: Annotated[str, one_of(InboxEvent)]
    text: Annotated[str, Field(description="may be empty")]
    author: Initiator
    quota_request: Annotated[int, Field(ge=1, description="the number of the request")]
    domain: Named
    project: Named | None = None
    unread: bool


class InboxList(Shape):
    """Items, the newest first."""

    seen_at: Annotated[Time | None, Field(description="up to when all was seen; null: nothing was")]
    unread: Annotated[Count, Field(description="how many are newer, on all pages")]
    items: list[InboxItem]


class InboxAnswer(Shape):
    """The inbox, and a link to older items if there may be more."""

    inbox: InboxList
    inbox_links: list[Link]


def render_inbox(found: Inbox, links: list[Link]) -> InboxAnswer:
    items = [_item(row, -1 if found.seen_at is None else found.seen_at) for row in found.items]
    return InboxAnswer(inbox=InboxList(seen_at=found.seen_at, unread=found.unread, items=items), inbox_links=links)


def _item(row: InboxRow, seen_at: int) -> InboxItem:
    return InboxItem(
        number=row.number,
        at=int(row.at),
        kind=row.kind,
        text=row.text,
        author=initiator(row.author_id, row.author_name),
        quota_request=row.request_id,
        domain=Named(row.domain_uuid, row.domain_name),
        project=None if row.project_uuid is None else Named(row.project_uuid, row.project_name or ""),
        unread=int(row.at) > seen_at,
    )


class Webhook(Shape):
    """A project's own webhook."""

    url: str
    set_by: Initiator
    set_at: Time
    delivered_at: Annotated[Time, Field(description="when something has arrived for the last time")] | None = None
    failed_at: Annotated[Time, Field(description="when the last try failed; missing if it did not")] | None = None
    error: Annotated[str, Field(description="why it failed")] | None = None
    secret: Annotated[str, Field(description="the key of the signatures: only in the answer to PUT")] | None = None


class WebhookAnswer(Shape):
    """The webhook of a project; null if there is none."""

    webhook: Webhook | None


def render_webhook(found: project_webhooks.Webhook | None, secret: str | None = None) -> WebhookAnswer:
    if found is None:
        return WebhookAnswer(webhook=None)
    shown = Webhook(
        url=found.url,
        set_by=initiator(found.author_id, found.author_name),
        set_at=int(found.set_at),
        delivered_at=seconds(found.delivered_at),
        failed_at=seconds(found.failed_at),
        error=found.error or None,
        secret=secret,
    )
    return WebhookAnswer(webhook=shown)
