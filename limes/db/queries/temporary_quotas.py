"""Quota for a time, by resource id. Writers hold the lock that the model names."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from peewee import JOIN

from limes.core.temporary_quota import TemporaryQuota as Temporary
from limes.core.temporary_quota import TemporaryState
from limes.db.compiled import any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import Domain, Project, TemporaryQuota


class TemporaryRow(NamedTuple):
    """What is stored of a temporary quota, without whose it is."""

    state: str
    quota: int
    before: int | None
    starts_at: float
    until: float
    due_at: float
    problem: str

    @property
    def value(self) -> Temporary:
        """The same in the words of `limes.core.temporary_quota`."""
        return Temporary(TemporaryState(self.state), *self[1:])


class DueRow(NamedTuple):
    """Whose temporary quotas are due."""

    domain_id: int
    domain_uuid: str
    project_id: int | None
    project_uuid: str | None
    resource_id: int
    state: str


TEMPORARY_COLUMNS = tuple(getattr(TemporaryQuota, name) for name in TemporaryRow._fields)
_IS_OF_DOMAIN = TemporaryQuota.project.is_null()

# -- of one project or domain ------------------------------------------------------------------------------------------

_OF_PROJECT = compiled(
    lambda p: TemporaryQuota.select(TemporaryQuota.resource, *TEMPORARY_COLUMNS).where(
        TemporaryQuota.project == p.project
    )
)
_OF_DOMAIN = compiled(
    lambda p: TemporaryQuota.select(TemporaryQuota.resource, *TEMPORARY_COLUMNS).where(
        TemporaryQuota.domain == p.domain, _IS_OF_DOMAIN
    )
)
_DELETE_OF_PROJECT = compiled(
    lambda p: TemporaryQuota.delete().where(
        TemporaryQuota.project == p.project, any_of(TemporaryQuota.resource, p.resources)
    )
)
_DELETE_OF_DOMAIN = compiled(
    lambda p: TemporaryQuota.delete().where(
        TemporaryQuota.domain == p.domain, _IS_OF_DOMAIN, any_of(TemporaryQuota.resource, p.resources)
    )
)
_INSERT = compiled_insert(
    TemporaryQuota, TemporaryQuota.domain, TemporaryQuota.project, TemporaryQuota.resource, *TEMPORARY_COLUMNS
)


def temporary_quotas(engine: Engine, domain_id: int, project_id: int | None) -> dict[int, Temporary]:
    """Returns those of a project; without one, the domain's own."""
    query = _OF_DOMAIN if project_id is None else _OF_PROJECT
    rows = engine.tuples(query, domain=domain_id, project=project_id)
    return {resource: TemporaryRow._make(values).value for resource, *values in rows}


def write_temporary_quotas(
    engine: Engine, domain_id: int, project_id: int | None, changed: Mapping[int, Temporary | None]
) -> None:
    """Replaces those of these resources; None leaves none. At most two statements."""
    if not changed:
        return
    query = _DELETE_OF_DOMAIN if project_id is None else _DELETE_OF_PROJECT
    engine.write(query, domain=domain_id, project=project_id, resources=sorted(changed))
    rows = [
        (domain_id, project_id, resource, *_row_of(temporary))
        for resource, temporary in sorted(changed.items())
        if temporary is not None
    ]
    if rows:
        engine.write(_INSERT, rows=rows)


def _row_of(temporary: Temporary) -> TemporaryRow:
    return TemporaryRow._make(getattr(temporary, name) for name in TemporaryRow._fields)


# -- in reports --------------------------------------------------------------------------------------------------------

_BELOW_DOMAIN = compiled(
    lambda p: TemporaryQuota.select(TemporaryQuota.project, TemporaryQuota.resource, *TEMPORARY_COLUMNS).where(
        TemporaryQuota.domain == p.domain, ~_IS_OF_DOMAIN
    )
)
_OF_PROJECTS = compiled(
    lambda p: TemporaryQuota.select(TemporaryQuota.project, TemporaryQuota.resource, *TEMPORARY_COLUMNS).where(
        any_of(TemporaryQuota.project, p.projects)
    )
)
_OF_ALL_DOMAINS = compiled(
    lambda p: TemporaryQuota.select(TemporaryQuota.domain, TemporaryQuota.resource, *TEMPORARY_COLUMNS).where(
        _IS_OF_DOMAIN
    )
)
_OF_DOMAINS = compiled(
    lambda p: TemporaryQuota.select(TemporaryQuota.domain, TemporaryQuota.resource, *TEMPORARY_COLUMNS).where(
        any_of(TemporaryQuota.domain, p.domains), _IS_OF_DOMAIN
    )
)


def of_projects(
    engine: Engine, domain_id: int, project_ids: Sequence[int] | None
) -> dict[tuple[int, int], TemporaryRow]:
    """Returns those of these projects, or of all projects of a domain, by project and resource."""
    query = _BELOW_DOMAIN if project_ids is None else _OF_PROJECTS
    rows = engine.tuples(query, domain=domain_id, projects=project_ids)
    return {(project, resource): TemporaryRow._make(values) for project, resource, *values in rows}


def of_domains(engine: Engine, domain_ids: Sequence[int] | None) -> dict[tuple[int, int], TemporaryRow]:
    """Returns those of these domains themselves, or of all domains, by domain and resource."""
    query = _OF_ALL_DOMAINS if domain_ids is None else _OF_DOMAINS
    rows = engine.tuples(query, domains=domain_ids)
    return {(domain, resource): TemporaryRow._make(values) for domain, resource, *values in rows}


# -- what is due -------------------------------------------------------------------------------------------------------

_DUE = compiled(
    lambda p: (
        TemporaryQuota.select(
            TemporaryQuota.domain,
            Domain.uuid,
            TemporaryQuota.project,
            Project.uuid,
            TemporaryQuota.resource,
            TemporaryQuota.state,
        )
        .join(Domain)
        .switch(TemporaryQuota)
        .join(Project, JOIN.LEFT_OUTER, on=(TemporaryQuota.project == Project.id))
        .where((TemporaryQuota.due_at <= p.now) | ((TemporaryQuota.problem != "") & (TemporaryQuota.due_at > p.never)))
        .order_by(TemporaryQuota.due_at, TemporaryQuota.id)
    )
)


def due(engine: Engine, now: float, never: float) -> list[DueRow]:
    """Returns whose temporary quotas are due. Another try after `never` was planned by a clock that was wrong."""
    return engine.all(_DUE, DueRow, now=now, never=never)
