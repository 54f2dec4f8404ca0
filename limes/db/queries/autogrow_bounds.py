"""What projects have said about how far their quota may grow by itself."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from peewee import BigIntegerField, Node

from limes.core.history import What
from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled, compiled_update, lock
from limes.db.engine import Engine
from limes.db.models import ProjectResource
from limes.db.queries.projects import in_projects


class AutogrowBoundsRow(NamedTuple):
    """The bounds of one project and resource."""

    project_id: int
    resource_id: int
    max_quota: int | None
    min_quota: int | None
    forbids_autogrowth: bool

    def value_of(self, what: What) -> int | None:
        """Returns one of the bounds, as the history has it."""
        if what is What.FORBID_AUTOGROWTH:
            return int(self.forbids_autogrowth)
        return self.min_quota if what is What.MIN_QUOTA else self.max_quota


_COLUMNS = tuple(getattr(ProjectResource, name) for name in AutogrowBoundsRow._fields)


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


def autogrow_bounds(
    engine: Engine, resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None, *, lock: bool
) -> list[AutogrowBoundsRow]:
    """Returns the bounds of these projects, or of all projects of a domain. What was never scraped is missing.

    With `lock`, nobody else changes them until the transaction ends. The resources are to be locked before.
    """
    if project_ids is None:
        return engine.all(
            _LOCK_DOMAIN if lock else _OF_DOMAIN, AutogrowBoundsRow, resources=resources, domain=domain_id
        )
    query = _LOCK_PROJECTS if lock else _OF_PROJECTS
    return engine.all(query, AutogrowBoundsRow, resources=resources, projects=project_ids)


_AMOUNTS = {What.MAX_QUOTA: ProjectResource.max_quota, What.MIN_QUOTA: ProjectResource.min_quota}
_SET_AMOUNT = {
    what: compiled_update(ProjectResource.resource, field, lambda p: any_of(ProjectResource.project, p.projects))
    for what, field in _AMOUNTS.items()
}
_SET_FORBIDDEN = compiled_update(
    ProjectResource.resource, ProjectResource.forbids_autogrowth, lambda p: any_of(ProjectResource.project, p.projects)
)


def _drop(field: BigIntegerField, p: Parameters) -> Node:
    query: Node = ProjectResource.update({field: None}).where(
        any_of(ProjectResource.resource, p.resources), any_of(ProjectResource.project, p.projects)
    )
    return query


_DROP_AMOUNT = {what: compiled(partial(_drop, field)) for what, field in _AMOUNTS.items()}


def write_autogrow_bounds(
    engine: Engine, project_ids: Collection[int], what: What, values: Sequence[tuple[int, int | None]]
) -> None:
    """Sets one of the bounds of all these projects, given as (resource id, value), in at most two statements."""
    if what is What.FORBID_AUTOGROWTH:
        engine.write(_SET_FORBIDDEN, rows=[(id_, bool(value)) for id_, value in values], projects=project_ids)
        return
    amounts = [(id_, value) for id_, value in values if value is not None]
    dropped = [id_ for id_, value in values if value is None]
    if amounts:
        engine.write(_SET_AMOUNT[what], rows=amounts, projects=project_ids)
    if dropped:
        engine.write(_DROP_AMOUNT[what], resources=dropped, projects=project_ids)
