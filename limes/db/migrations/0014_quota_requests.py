"""Requests for more quota, and what was said about them."""

from typing import Any

import peewee
from peewee import (
    SQL,
    BigAutoField,
    BigIntegerField,
    Check,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)

from limes.db.steps import AGAINST_CHANGES, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds tables; the previous release leaves them as they are."""

    class BaseModel(peewee.Model):
        class Meta:
            database = db
            legacy_table_names = False

    class QuotaRequest(BaseModel):
        id = BigAutoField()
        domain_id = IntegerField(index=True)
        project_id = IntegerField(null=True, index=True)
        status = TextField()
        reason = TextField()
        created_at = DoubleField()
        requester_id = TextField()
        requester_name = TextField()
        decided_at = DoubleField(null=True)
        passed_on_from = ForeignKeyField("self", null=True, on_delete="CASCADE")

        class Meta:
            table_name = "quota_requests"
            constraints = [
                SQL("FOREIGN KEY (domain_id) REFERENCES domains (id) ON DELETE CASCADE"),
                SQL("FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE CASCADE"),
            ]

    class QuotaRequestAmount(BaseModel):
        request = ForeignKeyField(QuotaRequest, on_delete="CASCADE", index=False)
        service_type = TextField()
        resource_name = TextField()
        what = TextField(constraints=[Check("what IN ('quota', 'max_quota', 'min_quota')")])
        present = BigIntegerField()
        wanted = BigIntegerField(constraints=[Check("wanted >= 0")])
        granted = BigIntegerField(null=True)
        rule = TextField(null=True)

        class Meta:
            table_name = "quota_request_amounts"
            primary_key = CompositeKey("request", "service_type", "resource_name")

    class QuotaRequestEvent(BaseModel):
        number = BigAutoField()
        request = ForeignKeyField(QuotaRequest, on_delete="CASCADE")
        at = DoubleField()
        kind = TextField()
        text = TextField()
        author_id = TextField()
        author_name = TextField()

        class Meta:
            table_name = "quota_request_events"

    db.create_tables([QuotaRequest, QuotaRequestAmount, QuotaRequestEvent])


STEPS = (Step(up, {"domains": AGAINST_CHANGES, "projects": AGAINST_CHANGES}),)
