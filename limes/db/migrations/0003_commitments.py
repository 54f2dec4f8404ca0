"""Commitments: events for billing, idempotency keys, use by day, and an index for sums over all projects in an AZ."""

from typing import Any

import peewee
from peewee import BigIntegerField, CompositeKey, DoubleField, ForeignKeyField, IntegerField, TextField

from limes.db.steps import AGAINST_CHANGES, AGAINST_WRITERS, Step


def up(migrator: Any, db: peewee.Database) -> None:
    """Creates the tables and the index."""

    class BaseModel(peewee.Model):
        class Meta:
            database = db
            legacy_table_names = False

    class Project(BaseModel):
        class Meta:
            table_name = "projects"

    class Resource(BaseModel):
        class Meta:
            table_name = "resources"

    class CommitmentEvent(BaseModel):
        number = BigIntegerField(primary_key=True)
        at = DoubleField()
        event = TextField()
        commitment_uuid = TextField(index=True)
        project_uuid = TextField(index=True)
        document = TextField()

        class Meta:
            table_name = "commitment_events"

    class CommitmentEventCounter(BaseModel):
        id = IntegerField(primary_key=True)
        last = BigIntegerField()

        class Meta:
            table_name = "commitment_event_counter"

    class CommitmentKey(BaseModel):
        project = ForeignKeyField(Project, on_delete="CASCADE", index=False)
        key = TextField()
        request = TextField()
        document = TextField()
        created_at = DoubleField(index=True)

        class Meta:
            table_name = "commitment_keys"
            primary_key = CompositeKey("project", "key")

    class CommitmentUse(BaseModel):
        project = ForeignKeyField(Project, on_delete="CASCADE", index=False)
        resource = ForeignKeyField(Resource, on_delete="CASCADE")
        az = TextField()
        day = IntegerField()
        looks = IntegerField()
        usage_sum = BigIntegerField()
        usage_min = BigIntegerField()
        usage_max = BigIntegerField()
        committed_sum = BigIntegerField()

        class Meta:
            table_name = "commitment_use"
            primary_key = CompositeKey("project", "resource", "az", "day")

    db.create_tables([CommitmentEvent, CommitmentEventCounter, CommitmentKey, CommitmentUse])
    db.execute_sql("INSERT INTO commitment_event_counter (id, last) VALUES (1, 0)")
    db.execute_sql('CREATE INDEX "project_az_resources_resource_id_az" ON "project_az_resources" ("resource_id", "az")')


STEPS = (
    Step(up, {"projects": AGAINST_CHANGES, "resources": AGAINST_CHANGES, "project_az_resources": AGAINST_WRITERS}),
)
