"""What projects have said about how far their quota may grow by itself."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from limes.core.history import What
from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled, compiled_update, lock
from limes.db.engine import Engine
from limes.db.models import ProjectResource
from limes.db.queries.projects import in_projects


class GrowthBoundsRow(NamedTuple):
    """The bounds of one project and resource."""

    project_id: int
    resource_id: int
    max_quota: int | None
    forbids_autogrowth: bool

    def value_of(self, what: What) -> int | None:
        """Returns one of the bounds, as the history has it."""
        return self.max_quota if what is What.MAX_QUOTA else int(self.forbids_autogrowth)


_COLUMNS = tuple(getattr(ProjectResource, name) for name in GrowthBoundsRow._fields)


def _select(p: Parameters, *, by_id: bool) -> Select:
    return (
        ProjectResource.select(*_COLUMNS)
        .where(any_of(ProjectResource.resource, p.resources), in_projects(ProjectResource.project, p, by_id=by_id))
        .order_by(ProjectResource.resource, ProjectResource.project)
    )


def _compile(*, by_id: bool) -> tuple[Compiled, Compiled]:
    return compiled(lambda p: _select(p, by_id=by_id)), compiled(lambda p: lock(_select(p, by_id=by_id)))


_OF_PROJECTS, _LOCK_PROJECTS = _compile(by_id=True)
_OF_DOMAIN, _LOCK_DOMAIN = _compile(by_id=False)


def growth_bounds(
    engine: Engine, resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None, *, lock: bool
) -> list[GrowthBoundsRow]:
    """Returns the bounds of these projects, or of all projects of a domain. What was never scraped is missing.

    With `lock`, nobody else changes them until the transaction ends. The resources are to be locked before.
    """
    if project_ids is None:
        return engine.all(_LOCK_DOMAIN if lock else _OF_DOMAIN, GrowthBoundsRow, resources=resources, domain=domain_id)
    query = _LOCK_PROJECTS if lock else _OF_PROJECTS
    return engine.all(query, GrowthBoundsRow, resources=resources, projects=project_ids)


_SET_MAXIMUM = compiled_update(
    ProjectResource.resource, ProjectResource.max_quota, lambda p: any_of(ProjectResource.project, p.projects)
)
_SET_FORBIDDEN = compiled_update(
    ProjectResource.resource, ProjectResource.forbids_autogrowth, lambda p: any_of(ProjectResource.project, p.projects)
)
_DROP_MAXIMUM = compiled(
    lambda p: ProjectResource.update(max_quota=None).where(
        any_of(ProjectResource.resource, p.resources), any_of(ProjectResource.project, p.projects)
    )
)


def write_growth_bounds(
    engine: Engine, project_ids: Collection[int], what: What, values: Sequence[tuple[int, int | None]]
) -> None:
    """Sets one of the bounds of all these projects, given as (resource id, value), in at most two statements."""
    if what is What.FORBID_AUTOGROWTH:
        engine.write(_SET_FORBIDDEN, rows=[(id_, bool(value)) for id_, value in values], projects=project_ids)
        return
    limits = [(id_, value) for id_, value in values if value is not None]
    unlimited = [id_ for id_, value in values if value is None]
    if limits:
        engine.write(_SET_MAXIMUM, rows=limits, projects=project_ids)
    if unlimited:
        engine.write(_DROP_MAXIMUM, resources=unlimited, projects=project_ids)
