"""Labels as rows, and the projects that have them."""

from collections.abc import Collection
from typing import NamedTuple

from peewee import fn

from limes.db import query
from limes.db.compiled import lock_but_not_key
from limes.db.engine import Engine
from limes.labels.models import ProjectLabel
from limes.labels.rules import Wanted
from limes.projects.models import Domain, Project
from limes.projects.queries import PROJECT_COLUMNS, ProjectRow


class LabelRow(NamedTuple):
    project_id: int
    key: str
    value: str


@query.mapping(str, str)
def labels_of(project_id: int) -> query.Node:
    """Values by key."""
    return ProjectLabel.select(ProjectLabel.key, ProjectLabel.value).where(ProjectLabel.project == project_id)


@query.exists
def lock_project(project_id: int) -> query.Node:
    """Until the transaction ends, nobody else writes labels of the project. Whether it is there still."""
    return lock_but_not_key(Project.select(Project.id).where(Project.id == project_id))


@query.writes
def delete(project_id: int) -> query.Node:
    return ProjectLabel.delete().where(ProjectLabel.project == project_id)


insert = query.Insert(LabelRow, ProjectLabel)


def projects_with(
    engine: Engine, domain_uuid: str, wanted: Collection[Wanted], limit: int | None = None, marker: str = ""
) -> list[ProjectRow]:
    """Returns the projects of a domain that have all of these labels, or a `Page` of them, in the order of their
    UUIDs."""
    projects = Project.select(*PROJECT_COLUMNS).join(Domain).where(Domain.uuid == domain_uuid, Project.uuid > marker)
    for each in wanted:
        row = ProjectLabel.alias()
        labels = row.select(row.project).where(row.project == Project.id, row.key == each.key)
        projects = projects.where(fn.EXISTS(labels if each.value is None else labels.where(row.value == each.value)))
    return engine.all(projects.order_by(Project.uuid).limit(limit), ProjectRow)
