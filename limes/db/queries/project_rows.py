"""Which rows of `project_resources` and its like belong to a domain, in the words that each database runs fastest."""

from collections.abc import Sequence

from limes.db.engine import Engine, placeholders

_FEW = 3


def of_projects(
    engine: Engine, resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None
) -> tuple[str, Sequence[int]]:
    """Condition and parameters for the rows of some projects and resources.

    PostgreSQL is led to look at the rows of each project: for a domain it would take many times as long, because it
    reads all rows of the resource, or descends the index for each project and resource.
    """
    column = "resource_id" if len(resources) <= _FEW or engine.dialect == "sqlite" else "resource_id + 0"
    where, params = in_projects(engine, domain_id, project_ids)
    return f"{column} IN ({placeholders(len(resources))}) AND {where}", [*resources, *params]


def in_projects(engine: Engine, domain_id: int, project_ids: Sequence[int] | None) -> tuple[str, Sequence[int]]:
    """Condition and parameters for the rows of these projects, or of all projects of a domain."""
    if project_ids is not None:
        return f"project_id IN ({placeholders(len(project_ids))})", project_ids
    ids = "SELECT id FROM projects WHERE domain_id = %s"
    return f"project_id IN ({ids})" if engine.dialect == "sqlite" else f"project_id = ANY(ARRAY({ids}))", [domain_id]
