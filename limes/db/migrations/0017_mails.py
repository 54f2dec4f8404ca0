"""Mails on their way to their recipients, and who does not want them."""

from typing import Any

import peewee
from peewee import BigAutoField, CompositeKey, DoubleField, IntegerField, TextField


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds tables; the previous release does not look at them."""

    class BaseModel(peewee.Model):
        class Meta:
            database = db
            legacy_table_names = False

    class MailItem(BaseModel):
        number = BigAutoField()
        sink = TextField()
        recipient = TextField()
        kind = TextField()
        language = TextField()
        event_id = TextField()
        document = TextField()
        due_at = DoubleField()
        mail_id = TextField(null=True)

        class Meta:
            table_name = "mail_items"
            indexes = ((("sink", "recipient", "event_id"), True), (("mail_id", "sink", "due_at"), False))

    class Mail(BaseModel):
        id = TextField(primary_key=True)
        sink = TextField()
        recipient = TextField()
        kind = TextField()
        language = TextField()
        made_at = DoubleField()
        next_try_at = DoubleField()
        tries = IntegerField()
        error = TextField()
        done_at = DoubleField(null=True)

        class Meta:
            table_name = "mails"
            indexes = ((("sink", "done_at", "next_try_at"), False), (("sink", "recipient", "made_at"), False))

    class MailUnsubscribed(BaseModel):
        recipient = TextField()
        kind = TextField()
        at = DoubleField()

        class Meta:
            table_name = "mail_unsubscribed"
            primary_key = CompositeKey("recipient", "kind")

    db.create_tables([MailItem, Mail, MailUnsubscribed])
