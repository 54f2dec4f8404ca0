"""What quota that follows usage is computed from, and what it has become in each AZ."""

from peewee import BigIntegerField, Check, DoubleField, TextField

from limes.projects.models import OfProjectAZ, ProjectResource


class UsageChanges(OfProjectAZ):
    """How a project's usage in one AZ has changed recently. There is no row where it has not.

    Together with the present usage, this is enough for the smallest and largest usage within the retention period.
    """

    changes = TextField()
    """JSON list of `[when, smallest, largest]`, in the order of time: what usage was just before, and after, the
    changes until then, since the entry before. At most one entry for each 48th of the retention period, so that the row
    does not grow without end."""
    changed_at = DoubleField()
    """When the last of these changes was."""

    class Meta:
        table_name = "project_usage_changes"
        depends_on = (ProjectResource,)
        indexes = ((("resource_id",), False),)


class ProjectAZQuota(OfProjectAZ):
    """Quota of a project in one AZ. There are rows only of resources with the model `autogrow`.

    Invariant: their sum is the project's quota.
    """

    quota = BigIntegerField(constraints=[Check("quota >= 0")])
    changed_at = DoubleField()

    class Meta:
        table_name = "project_az_quotas"
        depends_on = (ProjectResource,)
        indexes = ((("resource_id",), False),)
