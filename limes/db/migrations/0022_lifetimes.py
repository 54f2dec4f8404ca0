"""From when to when subresources were there."""

from typing import Any

import peewee
from peewee import SQL, BigAutoField, BigIntegerField, DoubleField, TextField


def up(migrator: Any, db: peewee.Database) -> None:
    """Adds two tables; the previous release leaves them as they are."""

    class BaseModel(peewee.Model):
        class Meta:
            database = db
            legacy_table_names = False

    class LifetimeProject(BaseModel):
        id = BigAutoField()
        uuid = TextField(unique=True)
        name = TextField()
        domain_uuid = TextField(index=True)
        domain_name = TextField()

        class Meta:
            table_name = "lifetime_projects"

    class SubresourceLifetime(BaseModel):
        id = BigAutoField()
        project_id = BigIntegerField()
        service_type = TextField()
        resource_name = TextField()
        az = TextField()
        subresource_id = TextField()
        name = TextField()
        attributes = TextField()
        first_seen_at = DoubleField()
        began_at = DoubleField()
        last_seen_at = DoubleField(null=True)
        ended_at = DoubleField(null=True)

        class Meta:
            table_name = "subresource_lifetimes"
            indexes = ((("project_id", "id"), False), (("ended_at",), False))
            constraints = [SQL("FOREIGN KEY (project_id) REFERENCES lifetime_projects (id) ON DELETE CASCADE")]

    db.create_tables([LifetimeProject, SubresourceLifetime])
    db.execute_sql(
        "CREATE INDEX subresource_lifetimes_open ON subresource_lifetimes (project_id, service_type)"
        " WHERE ended_at IS NULL"
    )
