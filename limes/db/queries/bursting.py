"""Bursting of a project."""

from typing import NamedTuple

from limes.core.catalog import Ref
from limes.db.compiled import compiled, lock_but_not_key
from limes.db.engine import Engine
from limes.db.models import Project, ProjectResource, Resource, Service


class _Bursting(NamedTuple):
    is_on: bool


class _Resource(NamedTuple):
    service_type: str
    name: str


_READ = compiled(lambda p: Project.select(Project.has_bursting).where(Project.id == p.project))
# not FOR UPDATE, which would block inserts of rows that refer to the project
_LOCK = compiled(lambda p: lock_but_not_key(Project.select(Project.has_bursting).where(Project.id == p.project)))
_WRITE = compiled(lambda p: Project.update(has_bursting=p.enabled).where(Project.id == p.project))
_BURSTED = compiled(
    lambda p: (
        ProjectResource.select(Service.type, Resource.name)
        .join(Resource)
        .join(Service)
        .where(ProjectResource.project == p.project, ProjectResource.usage > ProjectResource.quota)
    )
)


def lock_project(engine: Engine, project_id: int, *, lock: bool) -> bool:
    """Returns whether the project may burst. With `lock`, nobody else can change that until the transaction ends."""
    row = engine.first(_LOCK if lock else _READ, _Bursting, project=project_id)
    return row is not None and bool(row.is_on)


def write_bursting(engine: Engine, project_id: int, enabled: bool) -> None:
    """Sets whether the project may burst."""
    engine.write(_WRITE, project=project_id, enabled=enabled)


def bursted_resources(engine: Engine, project_id: int) -> list[Ref]:
    """Returns resources whose usage is above the project's quota."""
    return [(row.service_type, row.name) for row in engine.all(_BURSTED, _Resource, project=project_id)]
