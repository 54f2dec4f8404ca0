"""Labels of projects: reads and replaces them, and finds the projects that have them.

Invariant: a project has the labels of one request, all of them and no others. Who replaces them locks the project's row
first, so of two requests at once, one waits for the other.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from peewee import fn

from limes.app.context import Limes
from limes.db import compiled, query, transactions
from limes.db.engine import Engine
from limes.kernel.errors import NotFound, Unprocessable
from limes.labels import rules
from limes.labels.models import ProjectLabel
from limes.labels.rules import Wanted
from limes.projects import queries, scope
from limes.projects.models import Domain, Project


@transactions.snapshot
def labels_of(limes: Limes, place: scope.Place) -> dict[str, str]:
    """Returns the labels of a project. Raises `NotFound`."""
    return _labels_of(limes.engine, scope.find_project(limes.engine, *place).id)


@transactions.atomic
def replace_labels(limes: Limes, place: scope.Place, labels: Mapping[str, str]) -> None:
    """Gives a project these labels, and no others. Raises `NotFound`, and `Unprocessable` for what cannot be."""
    project = scope.find_project(limes.engine, *place)
    if problems := rules.problems(labels):
        raise Unprocessable("\n".join(problems))
    if not _lock_project(limes.engine, project.id):
        raise NotFound("no such project")
    _delete(limes.engine, project.id)
    _insert(limes.engine, [_LabelRow(project.id, *label) for label in labels.items()])


# -- SQL ---------------------------------------------------------------------------------------------------------------


class _LabelRow(NamedTuple):
    project_id: int
    key: str
    value: str


@query.mapping(str, str)
def _labels_of(project_id: int) -> query.Node:
    """Values by key."""
    return ProjectLabel.select(ProjectLabel.key, ProjectLabel.value).where(ProjectLabel.project == project_id)


@query.exists
def _lock_project(project_id: int) -> query.Node:
    """Until the transaction ends, nobody else writes labels of the project. Whether it is there still."""
    return compiled.lock_but_not_key(Project.select(Project.id).where(Project.id == project_id))


@query.writes
def _delete(project_id: int) -> query.Node:
    return ProjectLabel.delete().where(ProjectLabel.project == project_id)


_insert = query.Insert(_LabelRow, ProjectLabel)


def projects_with(
    engine: Engine, domain_uuid: str, wanted: Collection[Wanted], limit: int | None = None, marker: str = ""
) -> list[queries.ProjectRow]:
    """Returns the projects of a domain that have all of these labels, or a `Page` of them, in the order of their
    UUIDs."""
    projects = (
        Project.select(*queries.PROJECT_COLUMNS).join(Domain).where(Domain.uuid == domain_uuid, Project.uuid > marker)
    )
    for each in wanted:
        row = ProjectLabel.alias()
        labels = row.select(row.project).where(row.project == Project.id, row.key == each.key)
        projects = projects.where(fn.EXISTS(labels if each.value is None else labels.where(row.value == each.value)))
    return engine.all(projects.order_by(Project.uuid).limit(limit), queries.ProjectRow)
