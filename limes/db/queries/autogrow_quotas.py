"""Writes quota of many projects at once, in each AZ and over all of them. The caller has locked their rows."""

from collections.abc import Collection, Mapping

from limes.db.compiled import any_of, lock
from limes.db.engine import Engine
from limes.db.models import ProjectAZQuota, ProjectResource, ProjectService, Resource
from limes.db.queries.autogrow_figures import AZQuota
from limes.db.query import Insert, Node, column, mapping, writes_for

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
        self,
        project: int,
        stored: Mapping[str, AZQuota],
        quotas: Mapping[str, int],
        changed_at: float,
        *,
        everything: bool = False,
    ) -> None:
        """Adds what differs for a project (its id). `changed_at` is when its quota over all AZs was changed; with
        `everything`, all of its rows say so."""
        for az, quota in quotas.items():
            if everything or az not in stored or stored[az].quota != quota:
                self._written.append((project, az, quota, changed_at))
        self._deleted += [f"{project}:{az}" for az in stored if az not in quotas]

    def write(self, engine: Engine, resource: int) -> None:
        _delete_azs(engine, resource, self._deleted)
        _write_azs(engine, [(project, resource, az, quota, at) for project, az, quota, at in sorted(self._written)])


@mapping(tuple[int, str], int, skip_empty="resources")
def quotas_of_project(project_id: int, resources: Collection[int]) -> Node:
    """A project's quota in each AZ, by resource id and AZ."""
    row = ProjectAZQuota
    query = row.select(row.resource_id, row.az, row.quota)
    return query.where(row.project_id == project_id, any_of(row.resource_id, resources))


# -- backends ----------------------------------------------------------------------------------------------------------


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
    """The backend has to be told the quota of these projects (by id) as soon as possible."""
    # in one order, as others do the same for other resources of the service
    _mark(engine, _lock_services(engine, resource, projects), now)
