"""Writes lifetimes of subresources: from scrapes, when projects are deleted, and when they are old.

Everything is by set: however many subresources a project has, a scrape reads them with one statement and writes what
has changed with up to three.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import peewee
from peewee import JOIN, Case, fn

from limes.core.lifetimes import NewPeriod, OpenPeriod
from limes.db.compiled import Parameters, Select, any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import LifetimeProject, Project, ProjectService, Service, SubresourceLifetime
from limes.db.queries.tasks import ProjectTask

_CHUNK = 2000
"""Rows of one statement: SQLite takes at most 32,766 values."""

_L, _P = SubresourceLifetime.alias("l"), LifetimeProject.alias("p")


class KnownLifetimes(NamedTuple):
    """What is stored of a service in a project."""

    project_id: int | None
    """None if the project is not known by its present names."""
    periods: list[OpenPeriod]


_OPEN = compiled(
    lambda p: (
        _P.select(
            *(_P.id, _P.name, _P.domain_uuid, _P.domain_name),
            *(_L.id, _L.resource_name, _L.az, _L.subresource_id, _L.attributes, _L.first_seen_at, _L.began_at),
        )
        .join(
            _L,
            JOIN.LEFT_OUTER,
            on=(_L.project == _P.id) & (_L.service_type == p.service_type) & _L.ended_at.is_null(),
        )
        .where(_P.uuid == p.uuid)
        .order_by(_L.id)
    )
)


def open_periods(engine: Engine, task: ProjectTask) -> KnownLifetimes:
    """Returns the open periods of a service in a project."""
    rows = engine.tuples(_OPEN, uuid=task.project_uuid, service_type=task.service_type)
    names = (task.project_name, task.domain_uuid, task.domain_name)
    project_id = rows[0][0] if rows and rows[0][1:4] == names else None
    return KnownLifetimes(project_id, [OpenPeriod._make(row[4:]) for row in rows if row[4] is not None])


_NAME_PROJECT = compiled(
    lambda p: (
        LifetimeProject.insert(uuid=p.uuid, name=p.name, domain_uuid=p.domain_uuid, domain_name=p.domain_name)
        .on_conflict(
            conflict_target=[LifetimeProject.uuid],
            preserve=[LifetimeProject.name, LifetimeProject.domain_uuid, LifetimeProject.domain_name],
        )
        .returning(LifetimeProject.id)
    )
)


def name_project(engine: Engine, task: ProjectTask) -> int:
    """Stores the names of a project. Returns its id here."""
    (id_,) = engine.column(
        _NAME_PROJECT,
        uuid=task.project_uuid,
        name=task.project_name,
        domain_uuid=task.domain_uuid,
        domain_name=task.domain_name,
    )
    return int(id_)


_END = compiled(
    lambda p: SubresourceLifetime.update(ended_at=p.at, last_seen_at=p.last_seen_at).where(
        any_of(SubresourceLifetime.id, p.numbers)
    )
)


def end_periods(engine: Engine, numbers: Collection[int], at: float, last_seen_at: float) -> None:
    engine.write(_END, numbers=numbers, at=at, last_seen_at=last_seen_at)


_BEGIN = compiled_insert(
    SubresourceLifetime,
    *(SubresourceLifetime.project, SubresourceLifetime.service_type, SubresourceLifetime.resource_name),
    *(SubresourceLifetime.az, SubresourceLifetime.subresource_id, SubresourceLifetime.attributes),
    *(SubresourceLifetime.name, SubresourceLifetime.first_seen_at, SubresourceLifetime.began_at),
)


def begin_periods(engine: Engine, project_id: int, service_type: str, periods: Sequence[NewPeriod], at: float) -> None:
    """Adds periods that begin at that time. `project_id` is the one that `name_project` gives."""
    for start in range(0, len(periods), _CHUNK):
        rows = [
            (
                project_id,
                service_type,
                *period.found[:5],
                at if period.first_seen_at is None else period.first_seen_at,
                at,
            )
            for period in periods[start : start + _CHUNK]
        ]
        engine.write(_BEGIN, rows=rows)


# -- ends without a scrape ---------------------------------------------------------------------------------------------


def _last_scrape() -> Select:
    """As a subquery in an UPDATE of periods: when the service was last scraped in the project; null without both."""
    return (
        ProjectService.select(ProjectService.scraped_at)
        .join(Project, on=ProjectService.project == Project.id)
        .join(LifetimeProject, on=LifetimeProject.uuid == Project.uuid)
        .join(Service, on=ProjectService.service == Service.id)
        .where(LifetimeProject.id == SubresourceLifetime.project, Service.type == SubresourceLifetime.service_type)
    )


def _note_last_scrape(condition: Any) -> peewee.Node:
    return SubresourceLifetime.update(last_seen_at=_last_scrape()).where(
        SubresourceLifetime.ended_at.is_null(), condition
    )


def _end(p: Parameters, condition: Any) -> peewee.Node:
    began_at = SubresourceLifetime.began_at
    return SubresourceLifetime.update(
        ended_at=Case(None, [(began_at > p.at, began_at)], p.at),
        last_seen_at=fn.COALESCE(SubresourceLifetime.last_seen_at, began_at),
    ).where(SubresourceLifetime.ended_at.is_null(), condition)


def _of_projects(p: Parameters) -> Any:
    ids = LifetimeProject.select(LifetimeProject.id)
    return any_of(SubresourceLifetime.project, ids.where(any_of(LifetimeProject.uuid, p.projects)))


_NOTE_LAST_SCRAPES = compiled(lambda p: _note_last_scrape(_of_projects(p)))
_END_PROJECTS = compiled(lambda p: _end(p, _of_projects(p)))


def note_last_scrapes(engine: Engine, projects: Collection[str]) -> None:
    """Stores when the subresources of projects were seen last. To be called before the projects are deleted."""
    engine.write(_NOTE_LAST_SCRAPES, projects=sorted(projects))


def end_projects(engine: Engine, projects: Collection[str], at: float) -> None:
    """Ends all periods of projects. To be called after they are deleted: a scrape that was still writing is over
    then, and none comes any more."""
    engine.write(_END_PROJECTS, projects=sorted(projects), at=at)


def _not_followed(p: Parameters) -> Any:
    ref = SubresourceLifetime.service_type.concat("/").concat(SubresourceLifetime.resource_name)
    return ~any_of(ref, p.followed)


_ANY_NOT_FOLLOWED = compiled(
    lambda p: (
        SubresourceLifetime.select(SubresourceLifetime.id)
        .where(SubresourceLifetime.ended_at.is_null(), _not_followed(p))
        .limit(1)
    )
)
_NOTE_LAST_SCRAPES_OF_OTHERS = compiled(lambda p: _note_last_scrape(_not_followed(p)))
_END_OTHERS = compiled(lambda p: _end(p, _not_followed(p)))


def end_others(engine: Engine, followed: Collection[str], at: float) -> None:
    """Ends the periods of all resources but these (`service/resource`): nobody looks at them any more."""
    if engine.column(_ANY_NOT_FOLLOWED, followed=followed):
        engine.write(_NOTE_LAST_SCRAPES_OF_OTHERS, followed=followed)
        engine.write(_END_OTHERS, followed=followed, at=at)


# -- what is old -------------------------------------------------------------------------------------------------------

_OLD = compiled(
    lambda p: (
        SubresourceLifetime.select(SubresourceLifetime.id)
        .where(SubresourceLifetime.ended_at < p.before)
        .order_by(SubresourceLifetime.ended_at)
        .limit(p.limit)
    )
)
_DELETE = compiled(lambda p: SubresourceLifetime.delete().where(any_of(SubresourceLifetime.id, p.numbers)))
_DELETE_PROJECTS = compiled(
    lambda p: LifetimeProject.delete().where(
        ~fn.EXISTS(Project.select(Project.id).where(Project.uuid == LifetimeProject.uuid)),
        ~fn.EXISTS(
            SubresourceLifetime.select(SubresourceLifetime.id).where(SubresourceLifetime.project == LifetimeProject.id)
        ),
    )
)


def delete_ended_before(engine: Engine, time: float, limit: int) -> int:
    """Deletes at most `limit` periods that ended before that time. Returns how many."""
    numbers = engine.column(_OLD, before=time, limit=limit)
    if numbers:
        engine.write(_DELETE, numbers=numbers)
    return len(numbers)


def delete_projects_without_periods(engine: Engine) -> None:
    """Deletes the names of projects that do not exist any more, and of which no periods are left."""
    engine.write(_DELETE_PROJECTS)
