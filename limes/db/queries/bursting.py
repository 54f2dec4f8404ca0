"""Bursting of a project."""

from limes.db.compiled import lock_but_not_key
from limes.db.engine import Engine
from limes.db.models import Project, ProjectResource, Resource, Service
from limes.db.query import Node, first_value, tuples, writes


@first_value(bool)
def _has_bursting(project_id: int, *, lock: bool) -> Node:
    query = Project.select(Project.has_bursting).where(Project.id == project_id)
    # not FOR UPDATE, which would block inserts of rows that refer to the project
    return lock_but_not_key(query) if lock else query


def lock_project(engine: Engine, project_id: int, *, lock: bool) -> bool:
    """Returns whether the project may burst. With `lock`, nobody else can change that until the transaction ends."""
    return bool(_has_bursting(engine, project_id, lock=lock))


@writes
def write_bursting(project_id: int, enabled: bool) -> Node:
    """Sets whether the project may burst."""
    return Project.update(has_bursting=enabled).where(Project.id == project_id)


@tuples(tuple[str, str])
def bursted_resources(project_id: int) -> Node:
    """Resources whose usage is above the project's quota."""
    query = ProjectResource.select(Service.type, Resource.name).join(Resource).join(Service)
    return query.where(ProjectResource.project == project_id, ProjectResource.usage > ProjectResource.quota)
