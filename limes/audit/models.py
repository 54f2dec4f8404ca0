"""Audit events that wait for delivery."""

from peewee import BigAutoField, DoubleField, IntegerField, TextField

from limes.db.base import BaseModel


class OutboxEvent(BaseModel):
    """An audit event for one sink. Its stream is the UUID of the project, or of the domain, that it is about."""

    number = BigAutoField()
    at = DoubleField()
    sink = TextField()
    stream = TextField()
    event_id = TextField()
    document = TextField()
    """JSON."""
    tries = IntegerField()
    """How often the sink has refused it."""
    next_try_at = DoubleField()
    error = TextField()
    delivered_at = DoubleField(null=True)

    class Meta:
        table_name = "audit_outbox"
        indexes = ((("sink", "delivered_at", "number"), False), (("sink", "delivered_at", "next_try_at"), False))
