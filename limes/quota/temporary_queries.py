"""Quota for a time, by resource id. Writers hold the lock that the model names."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from peewee import JOIN

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Insert, Node, made_by, rows, writes_for
from limes.projects.models import Domain, Project
from limes.quota.models import TemporaryQuota
from limes.quota.temporary import TemporaryQuota as Temporary
from limes.quota.temporary import TemporaryState


class DueRow(NamedTuple):
    domain_id: int
    domain_uuid: str
    project_id: int | None
    project_uuid: str | None
    resource_id: int
    state: str


_NAMES = Temporary.__struct_fields__
TEMPORARY_COLUMNS = tuple(getattr(TemporaryQuota, name) for name in _NAMES)
TEMPORARY_KINDS = (str, int, int | None, float, float, float, str)
"""The types of the columns."""
_IS_OF_DOMAIN = TemporaryQuota.project.is_null()


def _is_of(domain_id: int, project_id: int | None) -> Any:
    row = TemporaryQuota
    return (row.domain == domain_id) & _IS_OF_DOMAIN if project_id is None else row.project == project_id


def temporary_of(state: str, *others: Any) -> Temporary:
    return Temporary(TemporaryState(state), *others)


@made_by(int, temporary_of, *TEMPORARY_KINDS)
def temporary_quotas(domain_id: int, project_id: int | None) -> Node:
    """Those of a project by resource; without one, the domain's own."""
    return TemporaryQuota.select(TemporaryQuota.resource, *TEMPORARY_COLUMNS).where(_is_of(domain_id, project_id))


@writes_for("resources")
def _delete(domain_id: int, project_id: int | None, resources: Collection[int]) -> Node:
    row = TemporaryQuota
    return row.delete().where(_is_of(domain_id, project_id), any_of(row.resource, resources))


_KEY = (TemporaryQuota.domain, TemporaryQuota.project, TemporaryQuota.resource)
_insert = Insert(tuple[Any, ...], TemporaryQuota, *_KEY, *TEMPORARY_COLUMNS)


def write_temporary_quotas(
    engine: Engine, domain_id: int, project_id: int | None, changed: Mapping[int, Temporary | None]
) -> None:
    """Replaces those of these resources; None leaves none. At most two statements."""
    _delete(engine, domain_id, project_id, changed)
    new = [
        (domain_id, project_id, resource, *(getattr(temporary, name) for name in _NAMES))
        for resource, temporary in sorted(changed.items())
        if temporary is not None
    ]
    _insert(engine, new)


@made_by(tuple[int, int], temporary_of, *TEMPORARY_KINDS, prepare=True)
def of_projects(domain_id: int, project_ids: Sequence[int] | None) -> Node:
    """Those of these projects, or of all projects of a domain, by project and resource."""
    row = TemporaryQuota
    query = row.select(row.project, row.resource, *TEMPORARY_COLUMNS).where(row.project.is_null(False))
    return query.where(row.domain == domain_id if project_ids is None else any_of(row.project, project_ids))


@made_by(tuple[int, int], temporary_of, *TEMPORARY_KINDS, prepare=True)
def of_domains(domain_ids: Sequence[int] | None) -> Node:
    """Those of these domains themselves, or of all domains, by domain and resource."""
    row = TemporaryQuota
    query = row.select(row.domain, row.resource, *TEMPORARY_COLUMNS).where(_IS_OF_DOMAIN)
    return query if domain_ids is None else query.where(any_of(row.domain, domain_ids))


@rows(DueRow)
def due(now: float, never: float) -> Node:
    """Whose temporary quotas are due. Another try after `never` was planned by a clock that was wrong."""
    row = TemporaryQuota
    return (
        row.select(row.domain, Domain.uuid, row.project, Project.uuid, row.resource, row.state)
        .join(Domain)
        .switch(row)
        .join(Project, JOIN.LEFT_OUTER, on=(row.project == Project.id))
        .where((row.due_at <= now) | ((row.problem != "") & (row.due_at > never)))
        .order_by(row.due_at, row.id)
    )
