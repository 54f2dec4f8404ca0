"""Domains, and projects: how their services are scraped, when quota is pushed to them, and what they reported.

A project's numbers hang on (project, resource). There is a row in `project_resources` as soon as the project was
scraped once, and no quota or usage without it.
"""

import peewee

from limes.catalog.models import Resource, Service
from limes.db.base import BaseModel


class Domain(BaseModel):
    """A Keystone domain."""

    id = peewee.AutoField()
    uuid = peewee.TextField(unique=True)
    name = peewee.TextField()

    class Meta:
        table_name = "domains"


class DomainResource(BaseModel):
    """A domain's quota. The row is what is locked to decide on the sum of project quotas below it."""

    domain = peewee.ForeignKeyField(Domain, on_delete="CASCADE", index=False)
    resource = peewee.ForeignKeyField(Resource, on_delete="CASCADE")
    quota = peewee.BigIntegerField(constraints=[peewee.Check("quota >= 0")], default=0)

    class Meta:
        table_name = "domain_resources"
        primary_key = peewee.CompositeKey("domain", "resource")


class Project(BaseModel):
    """A Keystone project."""

    id = peewee.AutoField()
    uuid = peewee.TextField(unique=True)
    name = peewee.TextField()
    parent_uuid = peewee.TextField()
    domain = peewee.ForeignKeyField(Domain, on_delete="CASCADE")
    has_bursting = peewee.BooleanField(default=False)

    class Meta:
        table_name = "projects"


class ProjectService(BaseModel):
    """What one service knows of one project: when it was asked, and whether its quota has to be written. Invariant:
    `quota_desynced_at` is set in the transaction that makes the wanted quota differ from the backend's, and cleared
    only when a write or a scrape has shown them equal for the quota of that time."""

    id = peewee.AutoField()
    project = peewee.ForeignKeyField(Project, on_delete="CASCADE", index=False)
    service = peewee.ForeignKeyField(Service, on_delete="CASCADE")
    scraped_at = peewee.DoubleField(null=True)
    checked_at = peewee.DoubleField(null=True)
    next_scrape_at = peewee.DoubleField()
    is_stale = peewee.BooleanField(default=False)
    """A sync was asked for: the scrape comes before all that are merely due."""
    scrape_duration = peewee.DoubleField(null=True)
    scrape_error = peewee.TextField(default="")
    quota_desynced_at = peewee.DoubleField(null=True)
    next_push_at = peewee.DoubleField(null=True)
    push_failures = peewee.IntegerField(default=0)
    push_error = peewee.TextField(default="")
    scrape_claimed_until = peewee.DoubleField(null=True)
    """While a collector asks the backend: until when it may. The proof of its claim."""
    drifted_at = peewee.DoubleField(null=True)
    """Since when the backend is known to enforce another quota than Limes wrote, although it did not change here."""
    pushed_at = peewee.DoubleField(null=True)
    """When the quota was last written to the backend."""
    scrape_failures = peewee.IntegerField(default=0)
    """In a row."""
    push_claimed_until = peewee.DoubleField(null=True)
    """While a process writes the quota into the backend: until when no other does. The proof of the claim."""
    scrape_state = peewee.TextField(default="")
    """An opaque text that the backend gets back with the next scrape."""
    failing_since = peewee.DoubleField(null=True)
    """When the first of the scrapes that have failed in a row was made. Means nothing without a `scrape_error`."""
    domain_id = peewee.IntegerField(null=True)
    """The project's. A trigger sets it."""
    metered_at = peewee.DoubleField(null=True)
    """The same as `scraped_at` if the account of usage knows what the last scrape has found: earlier releases leave it
    as it is."""

    class Meta:
        table_name = "project_services"
        indexes = (
            (("project", "service"), True),
            (("service", "is_stale", "next_scrape_at"), False),
            (("domain_id", "service", "scraped_at"), False),
            (("next_push_at",), False),
        )
        constraints = [peewee.Check("(quota_desynced_at IS NULL) = (next_push_at IS NULL)")]


class ProjectResource(BaseModel):
    """Quota of a project. `quota` is null where the resource does not track quota."""

    project = peewee.ForeignKeyField(Project, on_delete="CASCADE", index=False)
    resource = peewee.ForeignKeyField(Resource, on_delete="CASCADE", index=False)
    quota = peewee.BigIntegerField(null=True, constraints=[peewee.Check("quota >= 0")])
    backend_quota = peewee.BigIntegerField(null=True, constraints=[peewee.Check("backend_quota >= -1")])
    usage = peewee.BigIntegerField(default=0, constraints=[peewee.Check("usage >= 0")])
    """Over all AZs; set from their rows in the transaction that writes those (docs/adr/0006)."""
    physical_usage = peewee.BigIntegerField(null=True, constraints=[peewee.Check("physical_usage >= 0")])
    """Over all AZs; ones without it count with their usage; null if none has any."""
    min_backend_quota = peewee.BigIntegerField(null=True)
    max_backend_quota = peewee.BigIntegerField(null=True)
    """Which quotas the backend accepts of this project; null where it does not say."""
    max_quota = peewee.BigIntegerField(null=True, constraints=[peewee.Check("max_quota >= 0")])
    """How far quota may grow by itself at most, as the project's admins said. Null: no limit of theirs."""
    min_quota = peewee.BigIntegerField(null=True, constraints=[peewee.Check("min_quota >= 0")])
    """What was granted to the project of a quota that grows by itself, even if it uses less. Null: nothing."""
    forbids_autogrowth = peewee.BooleanField(default=False, constraints=[peewee.SQL("DEFAULT FALSE")])
    """Whether quota only covers usage and commitments, as the project's admins said."""

    class Meta:
        table_name = "project_resources"
        primary_key = peewee.CompositeKey("project", "resource")
        indexes = ((("resource", "project"), False),)


Project.add_index(Project.index(Project.id, name="projects_bursting", where=Project.has_bursting))
ProjectService.add_index(
    ProjectService.index(
        ProjectService.service, name="project_services_failing", where=peewee.SQL("scrape_error <> ''")
    )
)


class OfProjectAZ(BaseModel):
    """The figures of a project's resource in one AZ."""

    project_id = peewee.IntegerField()
    resource_id = peewee.IntegerField()
    az = peewee.TextField(constraints=[peewee.Check("az <> ''")])

    class Meta:
        primary_key = peewee.CompositeKey("project_id", "resource_id", "az")
        constraints = [
            peewee.SQL(
                "FOREIGN KEY (project_id, resource_id)"
                " REFERENCES project_resources (project_id, resource_id) ON DELETE CASCADE"
            )
        ]


class ProjectAZResource(OfProjectAZ):
    """Usage of a project in one AZ."""

    usage = peewee.BigIntegerField(constraints=[peewee.Check("usage >= 0")])
    physical_usage = peewee.BigIntegerField(null=True, constraints=[peewee.Check("physical_usage >= 0")])
    subresources = peewee.TextField(default="")
    """JSON list; empty where the backend reports none."""
    metered_usage = peewee.BigIntegerField(null=True)
    """The usage that `usage_steps` ends with. Null: none that is above 0."""

    class Meta:
        table_name = "project_az_resources"
        depends_on = (ProjectResource,)
        indexes = ((("resource_id", "az"), False),)
