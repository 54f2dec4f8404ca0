"""Which notifications were sent, so that each is sent once; mails on their way; who does not want mails. What
people have chosen for themselves or for a project: thresholds, what they have seen, webhooks."""

import peewee

from limes.db.base import BaseModel
from limes.projects.models import Project


class NotificationState(BaseModel):
    """A condition that was notified and has not ended since."""

    kind = peewee.TextField()
    subject = peewee.TextField()
    """What it is about: UUID of a project with a resource, UUID of a commitment, or service type."""
    level = peewee.IntegerField()
    """2 for critical, 1 for a warning: the highest that was notified."""

    class Meta:
        table_name = "notification_states"
        primary_key = peewee.CompositeKey("kind", "subject")


class NotificationCursor(BaseModel):
    """One row: up to which number the events of commitments were looked at. Locked while notifications are decided."""

    id = peewee.IntegerField(primary_key=True)
    last = peewee.BigIntegerField(null=True)
    """Null until the first look, which notifies of nothing that happened before."""

    class Meta:
        table_name = "notification_cursor"


class MailItem(BaseModel):
    """A notification for one recipient. It waits until it becomes part of a mail, and stays as long as the mail."""

    number = peewee.BigAutoField()
    sink = peewee.TextField()
    recipient = peewee.TextField()
    """A mail address; for the sink `mail_api`, the UUID of a project."""
    kind = peewee.TextField()
    language = peewee.TextField()
    event_id = peewee.TextField()
    """The id of the notification, so that it is queued only once."""
    document = peewee.TextField()
    """JSON."""
    due_at = peewee.DoubleField()
    """When it becomes part of a mail, if the recipient has got no other one of this kind meanwhile."""
    mail_id = peewee.TextField(null=True)

    class Meta:
        table_name = "mail_items"
        indexes = ((("sink", "recipient", "event_id"), True), (("mail_id", "sink", "due_at"), False))


class Mail(BaseModel):
    """A mail, made of all items that waited for this recipient and kind. What is in it does not change any more."""

    id = peewee.TextField(primary_key=True)
    """A UUID, which is in the header Message-ID."""
    sink = peewee.TextField()
    recipient = peewee.TextField()
    kind = peewee.TextField()
    language = peewee.TextField()
    made_at = peewee.DoubleField()
    next_try_at = peewee.DoubleField()
    tries = peewee.IntegerField(default=0)
    error = peewee.TextField(default="")
    """Why the last try failed, or why it was dropped."""
    done_at = peewee.DoubleField(null=True)
    """When the server took it, or when it was dropped."""

    class Meta:
        table_name = "mails"
        indexes = ((("sink", "done_at", "next_try_at"), False), (("sink", "recipient", "made_at"), False))


Mail.add_index(
    Mail.index(Mail.sink, peewee.fn.LOWER(Mail.recipient), Mail.made_at, name="mails_spelling")
)  # addresses that differ only in case are one recipient


class MailUnsubscribed(BaseModel):
    """A recipient who does not want mails of a kind; `*` means all of them."""

    recipient = peewee.TextField()
    """In lower case."""
    kind = peewee.TextField()
    at = peewee.DoubleField()

    class Meta:
        table_name = "mail_unsubscribed"
        primary_key = peewee.CompositeKey("recipient", "kind")


class OwnThreshold(BaseModel):
    """Which share of a project's quotas may be used before a user gets a mail. Only that user writes it."""

    user_id = peewee.TextField()
    project = peewee.ForeignKeyField(Project, on_delete="CASCADE")
    percent = peewee.IntegerField(constraints=[peewee.Check("percent BETWEEN 1 AND 100")])

    class Meta:
        table_name = "own_thresholds"
        primary_key = peewee.CompositeKey("user_id", "project")


class InboxSeen(BaseModel):
    """Up to when a user has seen what happened to the own requests."""

    user_id = peewee.TextField(primary_key=True)
    seen_at = peewee.DoubleField()

    class Meta:
        table_name = "inbox_seen"


class ProjectWebhook(BaseModel):
    """Where notifications about a project are sent to as well, as the project wants it."""

    project = peewee.ForeignKeyField(Project, primary_key=True, on_delete="CASCADE")
    url = peewee.TextField()
    secret = peewee.TextField()
    """The key of the signatures. It is shown once, and never again."""
    set_at = peewee.DoubleField()
    author_id = peewee.TextField()
    author_name = peewee.TextField()
    delivered_at = peewee.DoubleField(null=True)
    """When something has arrived for the last time."""
    failed_at = peewee.DoubleField(null=True)
    """When the last try failed; null if it did not."""
    error = peewee.TextField(default="")

    class Meta:
        table_name = "project_webhooks"
