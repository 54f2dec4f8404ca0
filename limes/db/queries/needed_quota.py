"""What single projects use of resources, and have committed to: it is granted whatever else bounds their quota."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from peewee import fn

from limes.db.compiled import any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Commitment, Domain, Project, ProjectAZResource


class _Amount(NamedTuple):
    project: int
    resource: int
    az: str
    amount: int


_PROJECTS = compiled(
    lambda p: Project.select(Domain.name, Project.name, Project.id).join(Domain).where(any_of(Project.name, p.names))
)
_USAGE = compiled(
    lambda p: ProjectAZResource.select(
        ProjectAZResource.project_id, ProjectAZResource.resource_id, ProjectAZResource.az, ProjectAZResource.usage
    ).where(any_of(ProjectAZResource.project_id, p.projects), any_of(ProjectAZResource.resource_id, p.resources))
)
_COMMITTED = compiled(
    lambda p: (
        Commitment.select(Commitment.project, Commitment.resource, Commitment.az, fn.SUM(Commitment.amount))
        .where(
            any_of(Commitment.project, p.projects),
            any_of(Commitment.resource, p.resources),
            Commitment.status == "confirmed",
            Commitment.expires_at > p.now,
        )
        .group_by(Commitment.project, Commitment.resource, Commitment.az)
    )
)


def projects_by_names(engine: Engine, names: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Returns the ids of those projects that exist, by the names of domain and project."""
    rows = engine.tuples(_PROJECTS, names=sorted({project for _, project in names})) if names else []
    return {(domain, project): id_ for domain, project, id_ in rows if (domain, project) in names}


AmountsByAZ = Mapping[tuple[int, int], Mapping[str, int]]
"""By project id and resource id, and by AZ."""


def read_usage(engine: Engine, projects: Collection[int], resources: Collection[int]) -> AmountsByAZ:
    """Returns what these projects use of these resources."""
    return _by_az(engine.all(_USAGE, _Amount, projects=list(projects), resources=list(resources)))


def read_committed(engine: Engine, projects: Collection[int], resources: Collection[int], now: float) -> AmountsByAZ:
    """Returns the confirmed commitments of these projects to these resources."""
    return _by_az(engine.all(_COMMITTED, _Amount, projects=list(projects), resources=list(resources), now=now))


def _by_az(rows: Iterable[_Amount]) -> AmountsByAZ:
    amounts: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    for row in rows:
        amounts[row.project, row.resource][row.az] = int(row.amount)
    return amounts
