"""What quota that follows usage is computed from, of all projects with a resource, of some, or of one; and how it is
written for many projects at once."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import orjson
from msgspec import Struct
from peewee import fn

from limes.autogrow.models import ProjectAZQuota, UsageChanges
from limes.catalog.models import AZResource, Resource
from limes.commitments.models import Commitment
from limes.db.compiled import any_of, lock
from limes.db.compiled import lock as lock_rows
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, made_by, mapping, nested, rows, tuples, writes_for
from limes.projects.models import Domain, Project, ProjectAZResource, ProjectResource, ProjectService
from limes.quota.queries import ProjectQuotaRow
from limes.usage.recent import UsageChange, recent_range


def _parse(text: str) -> list[UsageChange]:
    return list(map(UsageChange._make, orjson.loads(text)))


@made_by(tuple[int, int, str], _parse, str)
def usage_changes(projects: Collection[int], resources: Collection[int]) -> Node:
    """By project id, resource id and AZ."""
    row = UsageChanges
    query = row.select(row.project_id, row.resource_id, row.az, row.changes)
    return query.where(any_of(row.project_id, projects), any_of(row.resource_id, resources))


_write_changes = Insert(
    tuple[int, int, str, str, float],
    UsageChanges,
    *(UsageChanges.project_id, UsageChanges.resource_id, UsageChanges.az),
    *(UsageChanges.changes, UsageChanges.changed_at),
    key=3,
)


def write_usage_changes(engine: Engine, changes: Mapping[tuple[int, int, str], list[UsageChange]]) -> None:
    """By project id, resource id and AZ."""
    texts = {place: orjson.dumps([*map(tuple, each)]).decode() for place, each in changes.items()}
    _write_changes(engine, [(*place, texts[place], changes[place][-1].at) for place in sorted(changes)])


SET_BY_PEOPLE = 0.0
"""When the quota was changed, if people have set it before it followed usage."""


class AZQuota(NamedTuple):
    """Quota in one AZ, and when the project's quota was changed last."""

    quota: int
    changed_at: float


class Figures(Struct, frozen=True):
    """One state of a resource."""

    projects: list[ProjectQuotaRow]
    """In the order of their ids."""
    usage: Mapping[int, Mapping[str, int]]
    """By project id and AZ, like all that follow."""
    recent: Mapping[int, Mapping[str, tuple[int, int]]]
    """The smallest and largest recent usage, where it has changed."""
    committed: Mapping[int, Mapping[str, int]]
    """Only confirmed commitments."""
    quotas: Mapping[int, Mapping[str, AZQuota]]


_Some = Collection[int] | None
"""Projects, by id; None for all with the resource."""


def _among(resource: int, projects: _Some, model: Any) -> list[Any]:
    is_it = model.resource_id == resource
    return [is_it] if projects is None else [is_it, any_of(model.project_id, projects)]


@rows(ProjectQuotaRow)
def _projects(resource: int, projects: _Some, *, lock: bool) -> Node:
    row = ProjectResource.alias("pr")
    names = (Project.uuid, Project.name, Domain.uuid, Domain.name)
    bounds = [getattr(row, name) for name in ProjectQuotaRow._fields[5:]]
    query = row.select(row.project, *names, *bounds).join(Project, on=row.project == Project.id).join(Domain)
    query = query.where(*_among(resource, projects, row)).order_by(row.project)
    return lock_rows(query, of="pr") if lock else query


@nested(int, str, int)
def _usage(resource: int, projects: _Some) -> Node:
    row = ProjectAZResource
    return row.select(row.project_id, row.az, row.usage).where(*_among(resource, projects, row))


@nested(int, str, AZQuota)
def _quotas(resource: int, projects: _Some) -> Node:
    row = ProjectAZQuota
    return row.select(row.project_id, row.az, row.quota, row.changed_at).where(*_among(resource, projects, row))


@tuples(tuple[int, str, str])
def _changes(resource: int, projects: _Some, since: float) -> Node:
    row = UsageChanges
    is_recent = row.changed_at >= since
    return row.select(row.project_id, row.az, row.changes).where(*_among(resource, projects, row), is_recent)


@nested(int, str, int)
def _committed(resource: int, projects: _Some, now: float) -> Node:
    row = Commitment
    holds = (row.status == "confirmed", row.expires_at > now)
    query = row.select(row.project, row.az, fn.SUM(row.amount)).where(*_among(resource, projects, row), *holds)
    return query.group_by(row.project, row.az)


def read_figures(
    engine: Engine, resource: int, now: float, retention: float, *, projects: _Some = None, lock: bool = False
) -> Figures:
    """Returns the figures of a resource, of these projects or of all. `retention` is how far back recent usage
    reaches, in seconds; with 0 there is none. With `lock`, usage and quota of these projects stay as they are until the
    transaction ends; so do commitments while the caller has locked the resource."""
    found = _projects(engine, resource, projects, lock=lock)
    usage = _usage(engine, resource, projects)
    recent: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for project, az, text in _changes(engine, resource, projects, now - retention) if retention else ():
        recent[project][az] = recent_range(orjson.loads(text), usage.get(project, {}).get(az, 0), now, retention)
    quotas = _quotas(engine, resource, projects)
    return Figures(found, usage, recent, _committed(engine, resource, projects, now), quotas)


@mapping(str, int)
def raw_capacity_by_az(resource: int) -> Node:
    """The capacity of a resource in each AZ, before overcommit."""
    return AZResource.select(AZResource.az, AZResource.raw_capacity).where(AZResource.resource == resource)


# -- what is granted whatever else bounds a quota ----------------------------------------------------------------------


@mapping(tuple[str, str], int, skip_empty="names")
def _projects_called(names: Collection[str]) -> Node:
    return Project.select(Domain.name, Project.name, Project.id).join(Domain).where(any_of(Project.name, names))


def projects_by_names(engine: Engine, names: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The ids of those projects that exist, by the names of domain and project."""
    found = _projects_called(engine, {project for _, project in names})
    return {place: id_ for place, id_ in found.items() if place in names}


@nested(tuple[int, int], str, int)
def read_usage(projects: Collection[int], resources: Collection[int]) -> Node:
    """What these projects use of these resources, by project and resource, and by AZ."""
    row = ProjectAZResource
    query = row.select(row.project_id, row.resource_id, row.az, row.usage)
    return query.where(any_of(row.project_id, projects), any_of(row.resource_id, resources))


@nested(tuple[int, int], str, int)
def read_committed(projects: Collection[int], resources: Collection[int], now: float) -> Node:
    """Likewise, the confirmed commitments of these projects to these resources."""
    row = Commitment
    key = (row.project, row.resource, row.az)
    is_wanted = (any_of(row.project, projects), any_of(row.resource, resources))
    query = row.select(*key, fn.SUM(row.amount)).where(*is_wanted, row.status == "confirmed", row.expires_at > now)
    return query.group_by(*key)


_CHUNK = 2000
"""Rows of one statement: SQLite takes at most 32,766 values."""

_write_quotas = Insert(
    tuple[int, int, int],
    ProjectResource,
    *(ProjectResource.project, ProjectResource.resource, ProjectResource.quota),
    key=2,
    at_once=_CHUNK,
)
_write_azs = Insert(
    tuple[int, int, str, int, float],
    ProjectAZQuota,
    *(ProjectAZQuota.project_id, ProjectAZQuota.resource_id, ProjectAZQuota.az),
    *(ProjectAZQuota.quota, ProjectAZQuota.changed_at),
    key=3,
    at_once=_CHUNK,
)


@writes_for("keys")
def _delete_azs(resource: int, keys: Collection[str]) -> Node:
    """Of projects and AZs `<project>:<AZ>`."""
    row = ProjectAZQuota
    key = row.project_id.cast("TEXT").concat(":").concat(row.az)
    return row.delete().where(row.resource_id == resource, any_of(key, keys))


def write_quotas(engine: Engine, resource: int, quotas: Mapping[int, int]) -> None:
    """Sets the quota of these projects (by id), which all have a row."""
    _write_quotas(engine, [(project, resource, quota) for project, quota in sorted(quotas.items())])


class AZQuotaChanges:
    """Collects what differs in the AZs of projects, to write it with a few statements."""

    def __init__(self) -> None:
        self._written: list[tuple[int, str, int, float]] = []
        self._deleted: list[str] = []

    def add(
        self, project: int, stored: Mapping[str, AZQuota], new: Mapping[str, int], at: float, *, everything: bool
    ) -> None:
        """Adds what differs for a project (its id). `at` is when its quota over all AZs was changed; with `everything`,
        all of its rows say so."""
        for az, quota in new.items():
            if everything or az not in stored or stored[az].quota != quota:
                self._written.append((project, az, quota, at))
        self._deleted += [f"{project}:{az}" for az in stored if az not in new]

    def write(self, engine: Engine, resource: int) -> None:
        _delete_azs(engine, resource, self._deleted)
        _write_azs(engine, [(project, resource, az, quota, at) for project, az, quota, at in sorted(self._written)])


@column(int, skip_empty="projects")
def _lock_services(resource: int, projects: Collection[int]) -> Node:
    row = ProjectService
    service = Resource.select(Resource.service).where(Resource.id == resource)
    return lock(row.select(row.id).where(row.service == service, any_of(row.project, projects)).order_by(row.id))


@writes_for("ids")
def _mark(ids: Collection[int], now: float) -> Node:
    marked = ProjectService.update(quota_desynced_at=now, next_push_at=now, push_failures=0)
    return marked.where(any_of(ProjectService.id, ids))


def mark_desynced(engine: Engine, resource: int, projects: Collection[int], now: float) -> None:
    """The quota of these projects (by id) has to be pushed as soon as possible."""
    # in one order, as others do the same for other resources of the service
    _mark(engine, _lock_services(engine, resource, projects), now)
