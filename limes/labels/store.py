"""Reads and replaces the labels of a project.

Invariant: a project has the labels of one request, all of them and no others. Who replaces them locks the project's row
first, so of two requests at once, one waits for the other.
"""

from collections.abc import Mapping

from limes.app.context import Limes
from limes.db.transactions import atomic, snapshot
from limes.kernel.errors import NotFound, Unprocessable
from limes.labels import queries, rules
from limes.projects.scope import Place, find_project


@snapshot
def labels_of(limes: Limes, place: Place) -> dict[str, str]:
    """Returns the labels of a project. Raises `NotFound`."""
    return queries.labels_of(limes.engine, find_project(limes.engine, *place).id)


@atomic
def replace_labels(limes: Limes, place: Place, labels: Mapping[str, str]) -> None:
    """Gives a project these labels, and no others. Raises `NotFound`, and `Unprocessable` for what cannot be."""
    project = find_project(limes.engine, *place)
    if problems := rules.problems(labels):
        raise Unprocessable("\n".join(problems))
    if not queries.lock_project(limes.engine, project.id):
        raise NotFound("no such project")
    queries.delete(limes.engine, project.id)
    queries.insert(limes.engine, [queries.LabelRow(project.id, *label) for label in labels.items()])
