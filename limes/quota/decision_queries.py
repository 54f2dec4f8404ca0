"""What decides on the quotas of projects."""

from collections.abc import Sequence
from typing import Any, NamedTuple, get_type_hints

from peewee import JOIN, fn

from limes.catalog.models import AZResource, Resource
from limes.commitments.commitment import Status
from limes.commitments.models import Commitment
from limes.db.compiled import Select, any_of
from limes.db.engine import Engine
from limes.db.query import Node, made_by, tuples
from limes.projects.models import DomainResource, Project, ProjectResource
from limes.projects.queries import ProjectRow
from limes.quota.models import TemporaryQuota
from limes.quota.temporary import TemporaryQuota as Temporary
from limes.quota.temporary_queries import TEMPORARY_COLUMNS, TEMPORARY_KINDS, temporary_of
from limes.usage.models import ALL_AZS, ProjectSum


class ProjectDecisionRow(NamedTuple):
    """Everything that decides on the quota of a project's resource, over all AZs."""

    temporary: Temporary | None
    quota: int | None
    usage: int
    projects_quota: int | None
    """Of all projects in the domain together."""
    domain_quota: int | None
    raw_capacity: int
    min_backend_quota: int | None
    max_backend_quota: int | None
    """What the backend accepts, where it says so."""
    committed: int
    """Only confirmed commitments."""


def _sum_of_projects(domain_id: Any, resource: Any, are_stored: bool) -> Select:
    """Selects the sum of the quotas of a domain's projects. It is stored on PostgreSQL (docs/adr/0024)."""
    if are_stored:
        kept = ProjectSum
        is_wanted = (kept.domain_id == domain_id, kept.resource_id == resource, kept.az == ALL_AZS)
        return kept.select(fn.SUM(kept.quota)).where(*is_wanted)
    every = ProjectResource.alias("every")
    query = every.select(fn.SUM(every.quota)).join(Project, on=every.project == Project.id)
    return query.where(every.resource == resource, Project.domain == domain_id)


@tuples(tuple[int, int | None], skip_empty="resources")
def _quota_sums(domain_id: int, resources: Sequence[int], are_stored: bool) -> Node:
    query = Resource.select(Resource.id, _sum_of_projects(domain_id, Resource.id, are_stored))
    return query.where(any_of(Resource.id, resources))


def project_quota_sums(engine: Engine, domain_id: int, resources: Sequence[int]) -> dict[int, int]:
    """The sum of the project quotas in a domain, by resource id."""
    sums = _quota_sums(engine, domain_id, resources, engine.dialect == "postgresql")
    return {resource: quota or 0 for resource, quota in sums}


_TEMPORARY, _NUMBERS = TEMPORARY_COLUMNS, [*get_type_hints(ProjectDecisionRow).values()][1:]


def _decision(*row: Any) -> ProjectDecisionRow:
    temporary, numbers = row[: len(_TEMPORARY)], row[len(_TEMPORARY) :]
    return ProjectDecisionRow(None if temporary[0] is None else temporary_of(*temporary), *numbers)


@made_by(int, _decision, *[kind | None for kind in TEMPORARY_KINDS], *_NUMBERS, prepare=True)
def _project_decisions(project_id: int, domain_id: int, resources: Sequence[int], now: float, are_stored: bool) -> Node:
    row, temporary = ProjectResource, TemporaryQuota
    is_domains = (DomainResource.domain == domain_id, DomainResource.resource == row.resource)
    domain_quota = DomainResource.select(DomainResource.quota).where(*is_domains)
    capacity = AZResource.select(fn.COALESCE(fn.SUM(AZResource.raw_capacity), 0))
    capacity = capacity.where(AZResource.resource == row.resource)
    guaranteed = Commitment.select(fn.COALESCE(fn.SUM(Commitment.amount), 0)).where(
        Commitment.project == row.project,
        Commitment.resource == row.resource,
        Commitment.status == Status.CONFIRMED.value,
        Commitment.expires_at > now,
        Commitment.transfer_status == "",  # those marked for transfer do not count
    )
    projects = _sum_of_projects(domain_id, row.resource, are_stored)
    bounds = (projects, domain_quota, capacity, row.min_backend_quota, row.max_backend_quota, guaranteed)
    is_same = (temporary.project == row.project) & (temporary.resource == row.resource)
    query = row.select(row.resource, *_TEMPORARY, row.quota, row.usage, *bounds)
    query = query.join(temporary, JOIN.LEFT_OUTER, on=is_same)
    return query.where(row.project == project_id, any_of(row.resource, resources))


def project_decisions(
    engine: Engine, project: ProjectRow, resources: Sequence[int], now: float
) -> dict[int, ProjectDecisionRow]:
    """What decides, by resource id, in one statement. Resources that were never scraped are missing."""
    stored = engine.dialect == "postgresql"
    return _project_decisions(engine, project.id, project.domain_id, resources, now, stored)
