"""Writes quota of many projects at once, in each AZ and over all of them. The caller has locked their rows."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from limes.db.compiled import any_of, compiled, compiled_insert, lock
from limes.db.engine import Engine
from limes.db.models import ProjectAZQuota, ProjectResource, ProjectService, Resource
from limes.db.queries.autogrow_figures import AZQuota

_CHUNK = 2000
"""Rows of one statement: SQLite takes at most 32,766 values."""

_WRITE_QUOTAS = compiled_insert(
    ProjectResource,
    *(ProjectResource.project, ProjectResource.resource, ProjectResource.quota),
    finish=lambda insert: insert.on_conflict(
        conflict_target=[ProjectResource.project, ProjectResource.resource], preserve=[ProjectResource.quota]
    ),
)
_KEY: list[Any] = [ProjectAZQuota.project_id, ProjectAZQuota.resource_id, ProjectAZQuota.az]
_FIGURES: list[Any] = [ProjectAZQuota.quota, ProjectAZQuota.changed_at]
_WRITE_AZS = compiled_insert(
    ProjectAZQuota, *_KEY, *_FIGURES, finish=lambda insert: insert.on_conflict(conflict_target=_KEY, preserve=_FIGURES)
)
_DELETE_AZS = compiled(
    lambda p: ProjectAZQuota.delete().where(
        ProjectAZQuota.resource_id == p.resource,
        any_of(ProjectAZQuota.project_id.cast("TEXT").concat(":").concat(ProjectAZQuota.az), p.keys),
    )
)


def write_quotas(engine: Engine, resource: int, quotas: Mapping[int, int]) -> None:
    """Sets the quota of these projects (by id), which all have a row."""
    for rows in _in_chunks([(project, resource, quota) for project, quota in sorted(quotas.items())]):
        engine.write(_WRITE_QUOTAS, rows=rows)


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
        """Writes all of it."""
        if self._deleted:
            engine.write(_DELETE_AZS, resource=resource, keys=self._deleted)
        rows = sorted((project, resource, *others) for project, *others in self._written)
        for chunk in _in_chunks(rows):
            engine.write(_WRITE_AZS, rows=chunk)


_OF_PROJECT = compiled(
    lambda p: ProjectAZQuota.select(ProjectAZQuota.resource_id, ProjectAZQuota.az, ProjectAZQuota.quota).where(
        ProjectAZQuota.project_id == p.project, any_of(ProjectAZQuota.resource_id, p.resources)
    )
)


def quotas_of_project(engine: Engine, project_id: int, resources: Collection[int]) -> dict[tuple[int, str], int]:
    """Returns a project's quota in each AZ, by resource id and AZ."""
    if not resources:
        return {}
    rows = engine.tuples(_OF_PROJECT, project=project_id, resources=resources)
    return {(resource, az): quota for resource, az, quota in rows}


def _in_chunks(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), _CHUNK):
        yield rows[start : start + _CHUNK]


# -- backends ----------------------------------------------------------------------------------------------------------

_LOCK_SERVICES = compiled(
    lambda p: lock(
        ProjectService.select(ProjectService.id)
        .where(
            ProjectService.service == Resource.select(Resource.service).where(Resource.id == p.resource),
            any_of(ProjectService.project, p.projects),
        )
        .order_by(ProjectService.id)
    )
)
_MARK = compiled(
    lambda p: ProjectService.update(quota_desynced_at=p.now, next_push_at=p.now, push_failures=0).where(
        any_of(ProjectService.id, p.ids)
    )
)


def mark_desynced(engine: Engine, resource: int, projects: Collection[int], now: float) -> None:
    """The backend has to be told the quota of these projects (by id) as soon as possible."""
    if projects:
        # in one order, as others do the same for other resources of the service
        ids = engine.column(_LOCK_SERVICES, resource=resource, projects=sorted(projects))
        engine.write(_MARK, ids=ids, now=now)
