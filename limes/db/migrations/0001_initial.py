"""The first tables: services, capacity, domains, projects, usage and quota, commitments."""

from typing import Any

import peewee
from peewee import (
    SQL,
    AutoField,
    BigAutoField,
    BigIntegerField,
    BooleanField,
    Check,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)


def up(migrator: Any, db: peewee.Database) -> None:
    """Creates the tables. These classes are frozen copies: `limes.db.models` goes on, this file does not."""

    class BaseModel(peewee.Model):
        class Meta:
            database = db
            legacy_table_names = False

    class Service(BaseModel):
        id = AutoField()
        type = TextField(unique=True)

        class Meta:
            table_name = "services"

    class Capacitor(BaseModel):
        id = AutoField()
        name = TextField(unique=True)
        scraped_at = DoubleField(null=True)
        checked_at = DoubleField(null=True)
        next_scrape_at = DoubleField(index=True)
        scrape_duration = DoubleField(null=True)
        scrape_error = TextField(default="")

        class Meta:
            table_name = "capacitors"

    class Resource(BaseModel):
        id = AutoField()
        service = ForeignKeyField(Service, on_delete="CASCADE", index=False)
        name = TextField()
        capacitor = ForeignKeyField(Capacitor, null=True, on_delete="SET NULL")
        is_known = BooleanField(default=True)

        class Meta:
            table_name = "resources"
            indexes = ((("service", "name"), True),)

    class AZResource(BaseModel):
        resource = ForeignKeyField(Resource, on_delete="CASCADE", index=False)
        az = TextField(constraints=[Check("az <> ''")])
        raw_capacity = BigIntegerField(constraints=[Check("raw_capacity >= 0")])
        usage = BigIntegerField(null=True, constraints=[Check("usage >= 0")])
        subcapacities = TextField(default="[]")

        class Meta:
            table_name = "az_resources"
            primary_key = CompositeKey("resource", "az")

    class Domain(BaseModel):
        id = AutoField()
        uuid = TextField(unique=True)
        name = TextField()

        class Meta:
            table_name = "domains"

    class DomainResource(BaseModel):
        domain = ForeignKeyField(Domain, on_delete="CASCADE", index=False)
        resource = ForeignKeyField(Resource, on_delete="CASCADE")
        quota = BigIntegerField(constraints=[Check("quota >= 0")], default=0)

        class Meta:
            table_name = "domain_resources"
            primary_key = CompositeKey("domain", "resource")

    class Project(BaseModel):
        id = AutoField()
        uuid = TextField(unique=True)
        name = TextField()
        parent_uuid = TextField()
        domain = ForeignKeyField(Domain, on_delete="CASCADE")
        has_bursting = BooleanField(default=False)

        class Meta:
            table_name = "projects"

    class ProjectService(BaseModel):
        id = AutoField()
        project = ForeignKeyField(Project, on_delete="CASCADE", index=False)
        service = ForeignKeyField(Service, on_delete="CASCADE")
        scraped_at = DoubleField(null=True)
        checked_at = DoubleField(null=True)
        next_scrape_at = DoubleField()
        is_stale = BooleanField(default=False)
        scrape_duration = DoubleField(null=True)
        scrape_error = TextField(default="")
        quota_desynced_at = DoubleField(null=True)
        next_push_at = DoubleField(null=True)
        push_failures = IntegerField(default=0)
        push_error = TextField(default="")
        scrape_claimed_until = DoubleField(null=True)

        class Meta:
            table_name = "project_services"
            indexes = (
                (("project", "service"), True),
                (("service", "is_stale", "next_scrape_at"), False),
                (("next_push_at",), False),
            )
            constraints = [Check("(quota_desynced_at IS NULL) = (next_push_at IS NULL)")]

    class ProjectResource(BaseModel):
        project = ForeignKeyField(Project, on_delete="CASCADE", index=False)
        resource = ForeignKeyField(Resource, on_delete="CASCADE", index=False)
        quota = BigIntegerField(null=True, constraints=[Check("quota >= 0")])
        backend_quota = BigIntegerField(null=True, constraints=[Check("backend_quota >= -1")])
        usage = BigIntegerField(default=0, constraints=[Check("usage >= 0")])
        physical_usage = BigIntegerField(null=True, constraints=[Check("physical_usage >= 0")])

        class Meta:
            table_name = "project_resources"
            primary_key = CompositeKey("project", "resource")
            indexes = ((("resource", "project"), False),)

    class ProjectAZResource(BaseModel):
        project_id = IntegerField()
        resource_id = IntegerField()
        az = TextField(constraints=[Check("az <> ''")])
        usage = BigIntegerField(constraints=[Check("usage >= 0")])
        physical_usage = BigIntegerField(null=True, constraints=[Check("physical_usage >= 0")])
        subresources = TextField(default="")

        class Meta:
            table_name = "project_az_resources"
            primary_key = CompositeKey("project_id", "resource_id", "az")
            depends_on = (ProjectResource,)
            constraints = [
                SQL(
                    "FOREIGN KEY (project_id, resource_id)"
                    " REFERENCES project_resources (project_id, resource_id) ON DELETE CASCADE"
                )
            ]

    class Commitment(BaseModel):
        id = BigAutoField()
        uuid = TextField(unique=True)
        project = ForeignKeyField(Project, on_delete="CASCADE")
        resource = ForeignKeyField(Resource, on_delete="CASCADE")
        az = TextField(constraints=[Check("az <> ''")])
        amount = BigIntegerField(constraints=[Check("amount > 0")])
        duration = TextField()
        status = TextField(
            constraints=[Check("status IN ('planned', 'pending', 'confirmed', 'superseded', 'expired')")],
        )
        created_at = DoubleField()
        creator_uuid = TextField()
        creator_name = TextField()
        confirm_by = DoubleField(null=True)
        confirmed_at = DoubleField(null=True)
        expires_at = DoubleField()
        superseded_at = DoubleField(null=True)
        predecessor = ForeignKeyField("self", null=True, on_delete="SET NULL")
        transfer_status = TextField(default="", constraints=[Check("transfer_status IN ('', 'unlisted', 'public')")])
        transfer_token = TextField(null=True, unique=True)

        class Meta:
            table_name = "project_commitments"
            indexes = (
                (("project", "resource", "az"), False),
                (("resource", "az", "status"), False),
                (("status", "expires_at"), False),
            )
            constraints = [
                Check("expires_at > created_at"),
                Check("(status <> 'confirmed') OR (confirmed_at IS NOT NULL)"),
                Check("(status = 'superseded') = (superseded_at IS NOT NULL)"),
                Check("(transfer_token IS NULL) = (transfer_status = '')"),
            ]

    db.create_tables(
        [
            Service,
            Capacitor,
            Resource,
            AZResource,
            Domain,
            DomainResource,
            Project,
            ProjectService,
            ProjectResource,
            ProjectAZResource,
            Commitment,
        ]
    )
