"""Which notifications were sent, so that each is sent once; mails on their way; who does not want mails."""

from peewee import BigAutoField, BigIntegerField, CompositeKey, DoubleField, IntegerField, TextField, fn

from limes.db.base import BaseModel


class NotificationState(BaseModel):
    """A condition that was notified and has not ended since."""

    kind = TextField()
    subject = TextField()
    """What it is about: UUID of a project with a resource, UUID of a commitment, or service type."""
    level = IntegerField()
    """2 for critical, 1 for a warning: the highest that was notified."""

    class Meta:
        table_name = "notification_states"
        primary_key = CompositeKey("kind", "subject")


class NotificationCursor(BaseModel):
    """One row: up to which number the events of commitments were looked at. Locked while notifications are decided."""

    id = IntegerField(primary_key=True)
    last = BigIntegerField(null=True)
    """Null until the first look, which notifies of nothing that happened before."""

    class Meta:
        table_name = "notification_cursor"


class MailItem(BaseModel):
    """A notification for one recipient. It waits until it becomes part of a mail, and stays as long as the mail."""

    number = BigAutoField()
    sink = TextField()
    recipient = TextField()
    """A mail address; for the sink `mail_api`, the UUID of a project."""
    kind = TextField()
    language = TextField()
    event_id = TextField()
    """The id of the notification, so that it is queued only once."""
    document = TextField()
    """JSON."""
    due_at = DoubleField()
    """When it becomes part of a mail, if the recipient has got no other one of this kind meanwhile."""
    mail_id = TextField(null=True)

    class Meta:
        table_name = "mail_items"
        indexes = ((("sink", "recipient", "event_id"), True), (("mail_id", "sink", "due_at"), False))


class Mail(BaseModel):
    """A mail, made of all items that waited for this recipient and kind. What is in it does not change any more."""

    id = TextField(primary_key=True)
    """A UUID, which is in the header Message-ID."""
    sink = TextField()
    recipient = TextField()
    kind = TextField()
    language = TextField()
    made_at = DoubleField()
    next_try_at = DoubleField()
    tries = IntegerField(default=0)
    error = TextField(default="")
    """Why the last try failed, or why it was dropped."""
    done_at = DoubleField(null=True)
    """When the server took it, or when it was dropped."""

    class Meta:
        table_name = "mails"
        indexes = ((("sink", "done_at", "next_try_at"), False), (("sink", "recipient", "made_at"), False))


Mail.add_index(
    Mail.index(Mail.sink, fn.LOWER(Mail.recipient), Mail.made_at, name="mails_spelling")
)  # addresses that differ only in case are one recipient


class MailUnsubscribed(BaseModel):
    """A recipient who does not want mails of a kind; `*` means all of them."""

    recipient = TextField()
    """In lower case."""
    kind = TextField()
    at = DoubleField()

    class Meta:
        table_name = "mail_unsubscribed"
        primary_key = CompositeKey("recipient", "kind")
