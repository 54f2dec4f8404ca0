"""What single projects need of resources, whatever else bounds their quota: usage, and confirmed commitments."""

from collections import defaultdict
from collections.abc import Collection
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


def needed_quota(
    engine: Engine, projects: Collection[int], resources: Collection[int], now: float
) -> dict[tuple[int, int], int]:
    """Returns what projects need over all AZs, by project and resource: in each AZ the larger of usage and confirmed
    commitments."""
    by_az: dict[tuple[int, int, str], int] = defaultdict(int)
    of_these = {"projects": list(projects), "resources": list(resources)}
    rows = engine.all(_USAGE, _Amount, **of_these) + engine.all(_COMMITTED, _Amount, **of_these, now=now)
    for row in rows:
        key = (row.project, row.resource, row.az)
        by_az[key] = max(by_az[key], int(row.amount))
    needed: dict[tuple[int, int], int] = defaultdict(int)
    for (project, resource, _), amount in by_az.items():
        needed[project, resource] += amount
    return dict(needed)
