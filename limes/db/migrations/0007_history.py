"""The history of quotas, and audit events on their way to their sinks."""

from typing import Any

import peewee
from peewee import BigAutoField, BigIntegerField, DoubleField, IntegerField, TextField


def up(migrator: Any, db: peewee.Database) -> None:
    """Creates the tables."""

    class BaseModel(peewee.Model):
        class Meta:
            database = db
            legacy_table_names = False

    class QuotaHistory(BaseModel):
        number = BigAutoField()
        at = DoubleField()
        domain_uuid = TextField()
        project_uuid = TextField()
        service_type = TextField()
        resource_name = TextField()
        what = TextField()
        old = BigIntegerField(null=True)
        new = BigIntegerField(null=True)
        reason = TextField()
        detail = TextField()
        initiator_id = TextField()
        initiator_name = TextField()
        request_id = TextField()

        class Meta:
            table_name = "quota_history"
            indexes = ((("domain_uuid", "project_uuid", "number"), False),)

    class OutboxEvent(BaseModel):
        number = BigAutoField()
        at = DoubleField()
        sink = TextField()
        stream = TextField()
        event_id = TextField()
        document = TextField()
        tries = IntegerField()
        next_try_at = DoubleField()
        error = TextField()
        delivered_at = DoubleField(null=True)

        class Meta:
            table_name = "audit_outbox"
            indexes = (
                (("sink", "delivered_at", "number"), False),
                (("sink", "delivered_at", "next_try_at"), False),
            )

    db.create_tables([QuotaHistory, OutboxEvent])
