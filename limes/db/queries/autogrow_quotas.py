"""Quota that follows usage as it is written for many projects at once, and what projects have said about its bounds."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from limes.core.history import What
from limes.db.compiled import CompiledForRows, any_of, compiled_update, lock
from limes.db.compiled import lock as lock_rows
from limes.db.engine import Engine
from limes.db.models import Project, ProjectAZQuota, ProjectResource, ProjectService, Resource
from limes.db.queries.autogrow_figures import AZQuota
from limes.db.query import Insert, Node, column, mapping, rows, writes_for

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


# -- bounds ------------------------------------------------------------------------------------------------------------


class AutogrowBoundsRow(NamedTuple):
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


@rows(AutogrowBoundsRow)
def autogrow_bounds(resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None, *, lock: bool) -> Node:
    """The bounds of these projects, or of all projects of a domain. What was never scraped is missing.

    With `lock`, nobody else changes them until the transaction ends. The resources are to be locked before.
    """
    row = ProjectResource
    among = Project.select(Project.id).where(Project.domain == domain_id) if project_ids is None else project_ids
    query = (
        row.select(*[getattr(row, name) for name in AutogrowBoundsRow._fields])
        .where(any_of(row.resource, resources), any_of(row.project, among))
        .order_by(row.resource, row.project)
    )
    return lock_rows(query) if lock else query


_Amount = Literal["max_quota", "min_quota"]
_AMOUNTS: dict[What, _Amount] = {What.MAX_QUOTA: "max_quota", What.MIN_QUOTA: "min_quota"}


def _compile_update(name: str) -> CompiledForRows:
    row = ProjectResource
    return compiled_update(row.resource, getattr(row, name), lambda p: any_of(row.project, p.projects))


_SET_AMOUNT = {name: _compile_update(name) for name in _AMOUNTS.values()}
_SET_FORBIDDEN = _compile_update("forbids_autogrowth")


@writes_for("resources")
def _drop(resources: Collection[int], project_ids: Collection[int], amount: _Amount) -> Node:
    row = ProjectResource
    return row.update({amount: None}).where(any_of(row.resource, resources), any_of(row.project, project_ids))


def write_autogrow_bounds(
    engine: Engine, project_ids: Collection[int], what: What, values: Sequence[tuple[int, int | None]]
) -> None:
    """Sets one of the bounds of all these projects, given as (resource id, value), in at most two statements."""
    if what is What.FORBID_AUTOGROWTH:
        engine.write(_SET_FORBIDDEN, rows=[(id_, bool(value)) for id_, value in values], projects=project_ids)
        return
    amounts = [(id_, value) for id_, value in values if value is not None]
    if amounts:
        engine.write(_SET_AMOUNT[_AMOUNTS[what]], rows=amounts, projects=project_ids)
    _drop(engine, [id_ for id_, value in values if value is None], project_ids, _AMOUNTS[what])
