"""Quota that follows usage: recent usage, quota by AZ, and bounds that projects set."""

from typing import Any

import peewee
from peewee import SQL, BigIntegerField, Check, CompositeKey, DoubleField, IntegerField, TextField

from limes.db.steps import AGAINST_ALL, AGAINST_NOBODY, AGAINST_WRITERS, Step


def add_columns(migrator: Any, db: peewee.Database) -> None:
    """The previous release leaves them as they are."""
    db.execute_sql("ALTER TABLE project_resources ADD COLUMN forbids_autogrowth BOOLEAN NOT NULL DEFAULT FALSE")
    for bound in BOUNDS:
        if isinstance(db, peewee.PostgresqlDatabase):
            db.execute_sql(
                f"ALTER TABLE project_resources ADD COLUMN {bound} BIGINT,"
                f" ADD CONSTRAINT project_resources_{bound}_check CHECK ({bound} >= 0) NOT VALID"
            )
        else:
            db.execute_sql(f"ALTER TABLE project_resources ADD COLUMN {bound} BIGINT CHECK ({bound} >= 0)")


def validate(migrator: Any, db: peewee.Database) -> None:
    """Reads the table, while others use it."""
    if isinstance(db, peewee.PostgresqlDatabase):
        for bound in BOUNDS:
            db.execute_sql(f"ALTER TABLE project_resources VALIDATE CONSTRAINT project_resources_{bound}_check")


BOUNDS = ("max_quota", "min_quota")
OF_PROJECT_RESOURCE = SQL(
    "FOREIGN KEY (project_id, resource_id) REFERENCES project_resources (project_id, resource_id) ON DELETE CASCADE"
)


def make_tables(migrator: Any, db: peewee.Database) -> None:
    """The previous release does not look at them."""

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


STEPS = (
    Step(add_columns, {"project_resources": AGAINST_ALL}),
    Step(validate, {"project_resources": AGAINST_NOBODY}),
    Step(make_tables, {"project_resources": AGAINST_WRITERS}),
)
