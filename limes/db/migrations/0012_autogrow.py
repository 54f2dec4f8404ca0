"""Quota that follows usage: recent usage, quota by AZ, and bounds that projects set."""

from typing import Any

import peewee
from peewee import SQL, BigIntegerField, Check, CompositeKey, DoubleField, IntegerField, TextField


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds columns and tables; the previous release leaves them as they are."""
    for text in COLUMNS:
        db.execute_sql(text)
    _make_tables(db)


COLUMNS = (
    "ALTER TABLE project_resources ADD COLUMN max_quota BIGINT CHECK (max_quota >= 0)",
    "ALTER TABLE project_resources ADD COLUMN min_quota BIGINT CHECK (min_quota >= 0)",
    "ALTER TABLE project_resources ADD COLUMN forbids_autogrowth BOOLEAN NOT NULL DEFAULT FALSE",
)
OF_PROJECT_RESOURCE = SQL(
    "FOREIGN KEY (project_id, resource_id) REFERENCES project_resources (project_id, resource_id) ON DELETE CASCADE"
)


def _make_tables(db: peewee.Database) -> None:
    class BaseModel(peewee.Model):
        class Meta:
            database = db
            legacy_table_names = False

    class UsageChanges(BaseModel):
        project_id = IntegerField()
        resource_id = IntegerField()
        az = TextField(constraints=[Check("az <> ''")])
        changes = TextField()
        changed_at = DoubleField()

        class Meta:
            table_name = "project_usage_changes"
            primary_key = CompositeKey("project_id", "resource_id", "az")
            indexes = ((("resource_id",), False),)
            constraints = [OF_PROJECT_RESOURCE]

    class ProjectAZQuota(BaseModel):
        project_id = IntegerField()
        resource_id = IntegerField()
        az = TextField(constraints=[Check("az <> ''")])
        quota = BigIntegerField(constraints=[Check("quota >= 0")])
        changed_at = DoubleField()

        class Meta:
            table_name = "project_az_quotas"
            primary_key = CompositeKey("project_id", "resource_id", "az")
            indexes = ((("resource_id",), False),)
            constraints = [OF_PROJECT_RESOURCE]

    db.create_tables([UsageChanges, ProjectAZQuota])
