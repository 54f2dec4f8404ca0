"""What quota that follows usage is computed from, of all projects with a resource or of some. A fixed number of
statements."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from peewee import fn

from limes.core.recent_usage import recent_range
from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled, lock
from limes.db.engine import Engine
from limes.db.models import (
    AZResource,
    Commitment,
    Domain,
    Project,
    ProjectAZQuota,
    ProjectAZResource,
    ProjectResource,
    UsageChanges,
)
from limes.db.queries.usage_changes import parse_changes


class ProjectQuotaRow(NamedTuple):
    """A project with the resource: its quota, and what bounds it."""

    project_id: int
    project_uuid: str
    project_name: str
    domain_uuid: str
    domain_name: str
    quota: int | None
    max_quota: int | None
    min_quota: int | None
    forbids_autogrowth: bool
    min_backend_quota: int | None
    max_backend_quota: int | None


SET_BY_PEOPLE = 0.0
"""When the quota was changed, if people have set it before it followed usage."""


class AZQuota(NamedTuple):
    """Quota in one AZ, and when the project's quota was changed last."""

    quota: int
    changed_at: float


AZAmounts = Mapping[int, Mapping[str, int]]
"""By project id and AZ."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One state of a resource."""

    projects: list[ProjectQuotaRow]
    """In the order of their ids."""
    usage: AZAmounts
    recent: Mapping[int, Mapping[str, tuple[int, int]]]
    """The smallest and largest usage of late, by project id and AZ, where it has changed."""
    committed: AZAmounts
    """Sums of confirmed commitments."""
    quotas: Mapping[int, Mapping[str, AZQuota]]
    """By project id and AZ."""


_PR = ProjectResource.alias("pr")


class _Queries:
    """The queries about one resource: in all projects, or in `p.projects`."""

    def __init__(self, *, everywhere: bool) -> None:
        def among(p: Parameters, resource: Any, project: Any) -> list[Any]:
            return [resource == p.resource] if everywhere else [resource == p.resource, any_of(project, p.projects)]

        def projects(p: Parameters) -> Select:
            return (
                _PR.select(
                    *(_PR.project, Project.uuid, Project.name, Domain.uuid, Domain.name, _PR.quota, _PR.max_quota),
                    *(_PR.min_quota, _PR.forbids_autogrowth, _PR.min_backend_quota, _PR.max_backend_quota),
                )
                .join(Project, on=_PR.project == Project.id)
                .join(Domain)
                .where(*among(p, _PR.resource, _PR.project))
                .order_by(_PR.project)
            )

        def by_az(p: Parameters, model: Any, *columns: Any) -> Select:
            chosen: Select = model.select(model.project_id, model.az, *columns)
            return chosen.where(*among(p, model.resource_id, model.project_id))

        self.projects = compiled(projects)
        self.lock_projects = compiled(lambda p: lock(projects(p), of="pr"))
        self.usage = compiled(lambda p: by_az(p, ProjectAZResource, ProjectAZResource.usage))
        self.quotas = compiled(lambda p: by_az(p, ProjectAZQuota, ProjectAZQuota.quota, ProjectAZQuota.changed_at))
        self.changes = compiled(
            lambda p: by_az(p, UsageChanges, UsageChanges.changes).where(UsageChanges.changed_at >= p.since)
        )
        self.committed = compiled(
            lambda p: (
                Commitment.select(Commitment.project, Commitment.az, fn.SUM(Commitment.amount))
                .where(
                    *among(p, Commitment.resource, Commitment.project),
                    Commitment.status == "confirmed",
                    Commitment.expires_at > p.now,
                )
                .group_by(Commitment.project, Commitment.az)
            )
        )


_EVERYWHERE, _IN_PROJECTS = _Queries(everywhere=True), _Queries(everywhere=False)


def read_figures(
    engine: Engine,
    resource: int,
    now: float,
    retention: float,
    *,
    projects: Collection[int] | None = None,
    lock: bool = False,
) -> Figures:
    """Returns the figures of a resource, of these projects or of all. `retention` is how far back recent usage
    reaches, in seconds. With `lock`, nobody else changes usage or quota of these projects until the transaction ends;
    and nobody changes commitments while the caller has locked the resource."""
    queries = _EVERYWHERE if projects is None else _IN_PROJECTS
    since = now - retention
    values = {"resource": resource, "projects": sorted(projects or ()), "now": now, "since": since}
    rows = engine.all(queries.lock_projects if lock else queries.projects, ProjectQuotaRow, **values)
    usage = _by_project(engine, queries.usage, values)
    recent: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for project, az, text in engine.tuples(queries.changes, **values):
        recent[project][az] = recent_range(parse_changes(text), usage.get(project, {}).get(az, 0), now, retention)
    quotas: dict[int, dict[str, AZQuota]] = defaultdict(dict)
    for project, az, quota, changed_at in engine.tuples(queries.quotas, **values):
        quotas[project][az] = AZQuota(quota, changed_at)
    return Figures(rows, usage, recent, _by_project(engine, queries.committed, values), quotas)


def _by_project(engine: Engine, query: Compiled, values: Mapping[str, Any]) -> dict[int, dict[str, int]]:
    amounts: dict[int, dict[str, int]] = defaultdict(dict)
    for project, az, amount in engine.tuples(query, **values):
        amounts[project][az] = int(amount)
    return amounts


_CAPACITY = compiled(
    lambda p: AZResource.select(AZResource.az, AZResource.raw_capacity).where(AZResource.resource == p.resource)
)


def raw_capacity_by_az(engine: Engine, resource: int) -> dict[str, int]:
    """Returns the capacity of a resource in each AZ, before overcommit."""
    return dict(engine.tuples(_CAPACITY, resource=resource))
