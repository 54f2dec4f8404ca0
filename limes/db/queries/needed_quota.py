"""What single projects use of resources, and have committed to: it is granted whatever else bounds their quota."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from peewee import fn

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.models import Commitment, Domain, Project, ProjectAZResource
from limes.db.query import Node, rows, tuples


class _Amount(NamedTuple):
    project: int
    resource: int
    az: str
    amount: int


AmountsByAZ = Mapping[tuple[int, int], Mapping[str, int]]
"""By project id and resource id, and by AZ."""


@tuples(tuple[str, str, int], skip_empty="names")
def _projects(names: Collection[str]) -> Node:
    return Project.select(Domain.name, Project.name, Project.id).join(Domain).where(any_of(Project.name, names))


def projects_by_names(engine: Engine, names: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The ids of those projects that exist, by the names of domain and project."""
    found = _projects(engine, {project for _, project in names})
    return {(domain, project): id_ for domain, project, id_ in found if (domain, project) in names}


@rows(_Amount)
def _usage(projects: Collection[int], resources: Collection[int]) -> Node:
    row = ProjectAZResource
    query = row.select(row.project_id, row.resource_id, row.az, row.usage)
    return query.where(any_of(row.project_id, projects), any_of(row.resource_id, resources))


def read_usage(engine: Engine, projects: Collection[int], resources: Collection[int]) -> AmountsByAZ:
    """What these projects use of these resources."""
    return _by_az(_usage(engine, projects, resources))


@rows(_Amount)
def _committed(projects: Collection[int], resources: Collection[int], now: float) -> Node:
    row = Commitment
    is_confirmed = (row.status == "confirmed", row.expires_at > now)
    query = row.select(row.project, row.resource, row.az, fn.SUM(row.amount))
    query = query.where(any_of(row.project, projects), any_of(row.resource, resources), *is_confirmed)
    return query.group_by(row.project, row.resource, row.az)


def read_committed(engine: Engine, projects: Collection[int], resources: Collection[int], now: float) -> AmountsByAZ:
    """The confirmed commitments of these projects to these resources."""
    return _by_az(_committed(engine, projects, resources, now))


def _by_az(found: Iterable[_Amount]) -> AmountsByAZ:
    amounts: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    for row in found:
        amounts[row.project, row.resource][row.az] = row.amount
    return amounts
