"""What people were told, so that they are told once."""

from peewee import BigIntegerField, CompositeKey, IntegerField, TextField

from limes.db.base import BaseModel


class NotificationState(BaseModel):
    """A condition that was told and has not ended since."""

    kind = TextField()
    subject = TextField()
    """What it is about: UUID of a project with a resource, UUID of a commitment, or service type."""
    level = IntegerField()
    """2 for critical, 1 for a warning: the highest that was told."""

    class Meta:
        table_name = "notification_states"
        primary_key = CompositeKey("kind", "subject")


class NotificationCursor(BaseModel):
    """One row: up to which number the events of commitments were looked at. Locked by whoever decides what to tell."""

    id = IntegerField(primary_key=True)
    last = BigIntegerField(null=True)
    """Null until the first look, which tells nothing of what happened before."""

    class Meta:
        table_name = "notification_cursor"
