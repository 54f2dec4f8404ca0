"""Labels of projects."""

import peewee

from limes.db.base import BaseModel
from limes.projects.models import Project


class ProjectLabel(BaseModel):
    """A label. Those of a project are written under the lock on its row in `projects` (`limes.labels.labels`)."""

    project = peewee.ForeignKeyField(Project, on_delete="CASCADE", index=False)
    key = peewee.TextField()
    value = peewee.TextField()
    """May be empty."""

    class Meta:
        table_name = "project_labels"
        primary_key = peewee.CompositeKey("project", "key")
