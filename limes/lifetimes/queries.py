"""Lifetimes of subresources, those of deleted projects as well: from scrapes, when projects are deleted, and when they
are old.

Everything is by set: however many subresources a project has, a scrape reads them with one statement and writes what
has changed with up to three.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field
from peewee import JOIN, Case, fn

from limes.catalog.models import Service
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Insert, Node, column, exists, made, value, writes, writes_for
from limes.lifetimes.models import LifetimeProject, SubresourceLifetime
from limes.lifetimes.rules import NewPeriod, OpenPeriod, Subresource
from limes.projects.models import Domain, Project, ProjectService
from limes.projects.tasks import ProjectTask


class KnownLifetimes(NamedTuple):
    project_id: int | None
    """None if the project is not known by its present names."""
    periods: list[OpenPeriod]


@made(lambda *row: row, *(str, int, str, str, str), int | None, *[str | None] * 4, *[float | None] * 2)
def _open_periods(uuids: Collection[str], service_type: str) -> Node:
    period, project = SubresourceLifetime.alias("l"), LifetimeProject.alias("p")
    is_of = (period.project == project.id) & (period.service_type == service_type) & period.ended_at.is_null()
    columns = (
        *(project.uuid, project.id, project.name, project.domain_uuid, project.domain_name),
        *(period.id, period.resource_name, period.az, period.subresource_id),
        *(period.attributes, period.first_seen_at, period.began_at),
    )
    query = project.select(*columns).join(period, JOIN.LEFT_OUTER, on=is_of)
    return query.where(any_of(project.uuid, uuids)).order_by(period.id)


def open_periods(engine: Engine, tasks: Sequence[ProjectTask]) -> dict[str, KnownLifetimes]:
    """Of projects, by UUID. The tasks are all of one service."""
    known = {task.project_uuid: KnownLifetimes(None, []) for task in tasks}
    names = {task.project_uuid: (task.project_name, task.domain_uuid, task.domain_name) for task in tasks}
    for uuid, id_, *row in _open_periods(engine, list(known), tasks[0].service_type):
        periods = known[uuid].periods
        if row[3] is not None:
            periods.append(OpenPeriod(row[3], Subresource._make(row[4:8]), *row[8:]))
        known[uuid] = KnownLifetimes(id_ if tuple(row[:3]) == names[uuid] else None, periods)
    return known


@value(int)
def name_project(uuid: str, name: str, domain_uuid: str, domain_name: str) -> Node:
    """Stores the names of a project. Gives its id here."""
    row = LifetimeProject
    return (
        row.insert(uuid=uuid, name=name, domain_uuid=domain_uuid, domain_name=domain_name)
        .on_conflict(conflict_target=[row.uuid], preserve=[row.name, row.domain_uuid, row.domain_name])
        .returning(row.id)
    )


@writes
def end_periods(numbers: Collection[int], at: float, last_seen_at: float) -> Node:
    changes = SubresourceLifetime.update(ended_at=at, last_seen_at=last_seen_at)
    return changes.where(any_of(SubresourceLifetime.id, numbers))


_insert = Insert(
    tuple[Any, ...],
    SubresourceLifetime,
    *(SubresourceLifetime.project, SubresourceLifetime.service_type, SubresourceLifetime.resource_name),
    *(SubresourceLifetime.az, SubresourceLifetime.subresource_id, SubresourceLifetime.attributes),
    *(SubresourceLifetime.name, SubresourceLifetime.first_seen_at, SubresourceLifetime.began_at),
    at_once=2000,  # SQLite takes at most 32,766 values
)


def begin_periods(engine: Engine, project_id: int, service_type: str, periods: Sequence[NewPeriod], at: float) -> None:
    """Adds periods that begin at that time. `project_id` is the one that `name_project` gives."""
    new = []
    for period in periods:
        first_seen_at = at if period.first_seen_at is None else period.first_seen_at
        new.append((project_id, service_type, *period.found.what, period.found.name, first_seen_at, at))
    _insert(engine, new)


_Which = Literal["of projects", "of other resources"]
"""Periods of projects (by UUID), or of all resources but some (`service/resource`)."""


def _is_open(which: _Which, names: Collection[str]) -> Any:
    period = SubresourceLifetime
    if which == "of projects":
        ids = LifetimeProject.select(LifetimeProject.id).where(any_of(LifetimeProject.uuid, names))
        return period.ended_at.is_null() & any_of(period.project, ids)
    return period.ended_at.is_null() & ~any_of(period.service_type.concat("/").concat(period.resource_name), names)


@writes
def note_last_scrapes(which: _Which, names: Collection[str]) -> Node:
    """Stores when the subresources were seen last: when the service was last scraped in the project; null without both.
    To be called before projects are deleted."""
    period = SubresourceLifetime
    last_scrape = (
        ProjectService.select(ProjectService.scraped_at)
        .join(Project, on=ProjectService.project == Project.id)
        .join(LifetimeProject, on=LifetimeProject.uuid == Project.uuid)
        .join(Service, on=ProjectService.service == Service.id)
        .where(LifetimeProject.id == period.project, Service.type == period.service_type)
    )
    return period.update(last_seen_at=last_scrape).where(_is_open(which, names))


@writes
def _end(which: _Which, names: Collection[str], at: float) -> Node:
    period = SubresourceLifetime
    ended_at = Case(None, [(period.began_at > at, period.began_at)], at)
    changes = period.update(ended_at=ended_at, last_seen_at=fn.COALESCE(period.last_seen_at, period.began_at))
    return changes.where(_is_open(which, names))


def end_projects(engine: Engine, projects: Collection[str], at: float) -> None:
    """Ends all periods of projects. To be called after they are deleted: a scrape that was still writing is over
    then, and none comes any more."""
    _end(engine, "of projects", projects, at)


@exists
def _any_other(followed: Collection[str]) -> Node:
    return SubresourceLifetime.select(SubresourceLifetime.id).where(_is_open("of other resources", followed)).limit(1)


def end_others(engine: Engine, followed: Collection[str], at: float) -> None:
    """Ends the periods of all resources but these (`service/resource`): the others are not followed any more."""
    if _any_other(engine, followed):
        note_last_scrapes(engine, "of other resources", followed)
        _end(engine, "of other resources", followed, at)


@column(int)
def _old(before: float, limit: int) -> Node:
    period = SubresourceLifetime
    return period.select(period.id).where(period.ended_at < before).order_by(period.ended_at).limit(limit)


@writes_for("numbers")
def _delete(numbers: Collection[int]) -> Node:
    return SubresourceLifetime.delete().where(any_of(SubresourceLifetime.id, numbers))


def delete_ended_before(engine: Engine, time: float, limit: int) -> int:
    """Deletes at most `limit` periods. Returns how many."""
    numbers = _old(engine, time, limit)
    _delete(engine, numbers)
    return len(numbers)


@writes
def delete_projects_without_periods() -> Node:
    """Deletes the names of projects that do not exist any more and have no periods left."""
    row, period = LifetimeProject, SubresourceLifetime
    present = Project.select(Project.id).where(Project.uuid == row.uuid)
    periods = period.select(period.id).where(period.project == row.id)
    return row.delete().where(~fn.EXISTS(present), ~fn.EXISTS(periods))


_L, _P = SubresourceLifetime.alias("l"), LifetimeProject.alias("p")


class LifetimeFilter(Struct, frozen=True):
    """Which periods are wanted: ones that overlap with the time from `since` on and before `until`."""

    since: float
    until: float
    domain_uuid: str | None = None
    project_uuid: str | None = None
    values: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Wanted values by the names of `FILTERS`."""


class LifetimeRow(NamedTuple):
    """A period. Names of projects and domains are the present ones, or the last."""

    number: int
    domain_uuid: str
    domain_name: str
    project_uuid: str
    project_name: str
    service_type: str
    resource_name: str
    az: str
    id: str
    name: str
    attributes: str
    """A JSON object."""
    first_seen_at: float
    began_at: float
    last_seen_at: float
    ended_at: float | None


FILTERS = {
    "service": _L.service_type,
    "resource": _L.resource_name,
    "availability_zone": _L.az,
    "domain_id": _P.domain_uuid,
    "project_id": _P.uuid,
    "id": _L.subresource_id,
}
"""What a request can choose by, and where it stands."""


def page(engine: Engine, wanted: LifetimeFilter, after: int, limit: int) -> list[LifetimeRow]:
    """Returns at most `limit` periods with numbers above `after`, in their order."""
    is_in = _L.ended_at.is_null() | ((_L.ended_at > wanted.since) & (_L.ended_at > _L.began_at))
    conditions: list[Any] = [_L.id > after, _L.began_at < wanted.until, is_in]
    conditions += [any_of(FILTERS[name], sorted(values)) for name, values in wanted.values.items()]
    if wanted.domain_uuid is not None:
        conditions.append(_P.domain_uuid == wanted.domain_uuid)
    if wanted.project_uuid is not None:
        conditions.append(_P.uuid == wanted.project_uuid)
    is_scraped = (ProjectService.project == Project.id) & (ProjectService.service == Service.id)
    query = (
        _L.select(
            *(_L.id, _P.domain_uuid, fn.COALESCE(Domain.name, _P.domain_name)),
            *(_P.uuid, fn.COALESCE(Project.name, _P.name), _L.service_type, _L.resource_name, _L.az),
            *(_L.subresource_id, _L.name, _L.attributes, _L.first_seen_at, _L.began_at),
            *(fn.COALESCE(_L.last_seen_at, ProjectService.scraped_at, _L.began_at), _L.ended_at),
        )
        .join(_P, on=_L.project == _P.id)
        .join(Project, JOIN.LEFT_OUTER, on=Project.uuid == _P.uuid)
        .join(Domain, JOIN.LEFT_OUTER, on=Project.domain == Domain.id)
        .join(Service, JOIN.LEFT_OUTER, on=Service.type == _L.service_type)
        .join(ProjectService, JOIN.LEFT_OUTER, on=is_scraped)
        .where(*conditions)
        .order_by(_L.id)
    )
    return engine.all(query.limit(limit), LifetimeRow)


@exists
def was_there(domain_uuid: str, project_uuid: str | None) -> Node:
    """Whether there are, or were, periods of a project, or of any project of a domain."""
    row = LifetimeProject
    query = row.select(row.id).where(row.domain_uuid == domain_uuid)
    return query.limit(1) if project_uuid is None else query.where(row.uuid == project_uuid)
