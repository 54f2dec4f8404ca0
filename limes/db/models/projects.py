"""Domains, and projects: how their services are scraped and told their quota, and what these reported.

A project's numbers hang on (project, resource). There is a row in `project_resources` as soon as the project was
scraped once, and no quota or usage without it.
"""

from peewee import (
    SQL,
    AutoField,
    BigIntegerField,
    BooleanField,
    Check,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)

from limes.db.base import BaseModel
from limes.db.models.catalog import Resource, Service


class Domain(BaseModel):
    """A Keystone domain."""

    id = AutoField()
    uuid = TextField(unique=True)
    name = TextField()

    class Meta:
        table_name = "domains"


class DomainResource(BaseModel):
    """A domain's quota. The row is what is locked to decide on the sum of project quotas below it."""

    domain = ForeignKeyField(Domain, on_delete="CASCADE", index=False)
    resource = ForeignKeyField(Resource, on_delete="CASCADE")
    quota = BigIntegerField(constraints=[Check("quota >= 0")], default=0)

    class Meta:
        table_name = "domain_resources"
        primary_key = CompositeKey("domain", "resource")


class Project(BaseModel):
    """A Keystone project."""

    id = AutoField()
    uuid = TextField(unique=True)
    name = TextField()
    parent_uuid = TextField()
    domain = ForeignKeyField(Domain, on_delete="CASCADE")
    has_bursting = BooleanField(default=False)

    class Meta:
        table_name = "projects"


class ProjectService(BaseModel):
    """What one service knows of one project: when it was asked, and whether its quota has to be written.

    Invariant: `quota_desynced_at` is set in the transaction that makes the wanted quota differ from the backend's, and
    cleared only when a write or a scrape has shown them equal for the quota of that time.
    """

    id = AutoField()
    project = ForeignKeyField(Project, on_delete="CASCADE", index=False)
    service = ForeignKeyField(Service, on_delete="CASCADE")
    scraped_at = DoubleField(null=True)
    checked_at = DoubleField(null=True)
    next_scrape_at = DoubleField()
    is_stale = BooleanField(default=False)
    """A sync was asked for: the scrape comes before all that are merely due."""
    scrape_duration = DoubleField(null=True)
    scrape_error = TextField(default="")
    quota_desynced_at = DoubleField(null=True)
    next_push_at = DoubleField(null=True)
    push_failures = IntegerField(default=0)
    push_error = TextField(default="")
    scrape_claimed_until = DoubleField(null=True)
    """While a collector asks the backend: until when it may. The proof of its claim."""
    drifted_at = DoubleField(null=True)
    """Since when the backend is known to enforce another quota than it was told, though nobody changed it here."""
    pushed_at = DoubleField(null=True)
    """When the backend was last told its quota."""
    scrape_failures = IntegerField(default=0)
    """In a row."""
    push_claimed_until = DoubleField(null=True)
    """While somebody writes the quota into the backend: until when nobody else does. The proof of the claim."""
    scrape_state = TextField(default="")
    """What the backend wants to be told again with the next scrape."""
    failing_since = DoubleField(null=True)
    """When the first of the scrapes that have failed in a row was made. Means nothing without a `scrape_error`."""
    domain_id = IntegerField(null=True)
    """The project's. A trigger sets it."""
    metered_at = DoubleField(null=True)
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
        constraints = [Check("(quota_desynced_at IS NULL) = (next_push_at IS NULL)")]


class ProjectResource(BaseModel):
    """Quota of a project. `quota` is null where the resource does not track quota."""

    project = ForeignKeyField(Project, on_delete="CASCADE", index=False)
    resource = ForeignKeyField(Resource, on_delete="CASCADE", index=False)
    quota = BigIntegerField(null=True, constraints=[Check("quota >= 0")])
    backend_quota = BigIntegerField(null=True, constraints=[Check("backend_quota >= -1")])
    usage = BigIntegerField(default=0, constraints=[Check("usage >= 0")])
    """Over all AZs; set from their rows in the transaction that writes those (docs/adr/0006)."""
    physical_usage = BigIntegerField(null=True, constraints=[Check("physical_usage >= 0")])
    """Over all AZs, of which those without count with their usage; null if none has any."""
    min_backend_quota = BigIntegerField(null=True)
    max_backend_quota = BigIntegerField(null=True)
    """Which quotas the backend accepts of this project; null where it does not say."""
    max_quota = BigIntegerField(null=True, constraints=[Check("max_quota >= 0")])
    """How far quota may grow by itself at most, as the project's admins said. Null: no limit of theirs."""
    min_quota = BigIntegerField(null=True, constraints=[Check("min_quota >= 0")])
    """What was granted to the project of a quota that grows by itself, even if it uses less. Null: nothing."""
    forbids_autogrowth = BooleanField(default=False, constraints=[SQL("DEFAULT FALSE")])
    """Whether quota only covers usage and commitments, as the project's admins said."""

    class Meta:
        table_name = "project_resources"
        primary_key = CompositeKey("project", "resource")
        indexes = ((("resource", "project"), False),)


Project.add_index(Project.index(Project.id, name="projects_bursting", where=Project.has_bursting))
ProjectService.add_index(
    ProjectService.index(ProjectService.service, name="project_services_failing", where=SQL("scrape_error <> ''"))
)


class OfProjectAZ(BaseModel):
    """What there is about a project's resource in one AZ."""

    project_id = IntegerField()
    resource_id = IntegerField()
    az = TextField(constraints=[Check("az <> ''")])

    class Meta:
        primary_key = CompositeKey("project_id", "resource_id", "az")
        constraints = [
            SQL(
                "FOREIGN KEY (project_id, resource_id)"
                " REFERENCES project_resources (project_id, resource_id) ON DELETE CASCADE"
            )
        ]


class ProjectAZResource(OfProjectAZ):
    """Usage of a project in one AZ."""

    usage = BigIntegerField(constraints=[Check("usage >= 0")])
    physical_usage = BigIntegerField(null=True, constraints=[Check("physical_usage >= 0")])
    subresources = TextField(default="")
    """JSON list; empty where the backend reports none."""
    metered_usage = BigIntegerField(null=True)
    """The usage that `usage_steps` ends with. Null: none that is above 0."""

    class Meta:
        table_name = "project_az_resources"
        depends_on = (ProjectResource,)
        indexes = ((("resource_id", "az"), False),)
