"""What the distribution model `autogrow` keeps: recent usage, and quota by AZ (`limes.core.autogrow`)."""

from peewee import SQL, BigIntegerField, Check, CompositeKey, DoubleField, IntegerField, TextField

from limes.db.base import BaseModel
from limes.db.models.projects import ProjectResource

_OF_PROJECT_RESOURCE = SQL(
    "FOREIGN KEY (project_id, resource_id) REFERENCES project_resources (project_id, resource_id) ON DELETE CASCADE"
)


class UsageChanges(BaseModel):
    """How a project's usage in one AZ has changed of late. There is no row where it has not.

    Together with the present usage, this is enough for the smallest and largest usage within the retention period.
    """

    project_id = IntegerField()
    resource_id = IntegerField()
    az = TextField(constraints=[Check("az <> ''")])
    changes = TextField()
    """JSON list of `[when, smallest, largest]`, in the order of time: what usage was just before, and after, the
    changes until then, since the entry before. At most one entry for each 48th of the retention period, so that the row
    does not grow without end."""
    changed_at = DoubleField()
    """When the last of these changes was."""

    class Meta:
        table_name = "project_usage_changes"
        primary_key = CompositeKey("project_id", "resource_id", "az")
        depends_on = (ProjectResource,)
        indexes = ((("resource_id",), False),)
        constraints = [_OF_PROJECT_RESOURCE]


class ProjectAZQuota(BaseModel):
    """Quota of a project in one AZ. There are rows only of resources with the model `autogrow`.

    Invariant: their sum is the project's quota.
    """

    project_id = IntegerField()
    resource_id = IntegerField()
    az = TextField(constraints=[Check("az <> ''")])
    quota = BigIntegerField(constraints=[Check("quota >= 0")])
    changed_at = DoubleField()

    class Meta:
        table_name = "project_az_quotas"
        primary_key = CompositeKey("project_id", "resource_id", "az")
        depends_on = (ProjectResource,)
        indexes = ((("resource_id",), False),)
        constraints = [_OF_PROJECT_RESOURCE]
