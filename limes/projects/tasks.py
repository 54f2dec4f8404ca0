"""Claims of due work. To be called inside a transaction.

A claim writes the end of its lease into the row. That time is the proof of the claim, and until then the row is
not due for others. A collector that finishes later finds another time in the row: the task now belongs to another one.
On PostgreSQL a row that another collector is claiming at the moment is skipped.

`never` is later than any time that a correct clock writes. If a row has a later one, a clock was wrong: the row is due.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, ParamSpec

from peewee import Case, Field

from limes.catalog.models import Capacitor, Job, Service
from limes.db.compiled import any_of, lock
from limes.db.engine import Engine
from limes.db.query import Build, Node, Query, column, made, tuples, writes, writes_for
from limes.projects.models import Domain, Project, ProjectService
from limes.projects.queries import failing_since

P = ParamSpec("P")


class ProjectTask(NamedTuple):
    """A service of a project, claimed for a scrape or for writing its quota."""

    id: int
    """Of the row in `project_services`."""
    project_id: int
    project_uuid: str
    project_name: str
    parent_uuid: str
    has_bursting: bool
    domain_uuid: str
    domain_name: str
    service_id: int
    service_type: str
    desynced_at: float | None
    """The desync mark at the time of the claim."""
    due_at: float
    """When the task became due."""
    asked_for: bool
    """Whether a sync has requested the scrape."""
    scrape_state: str
    """What the plugin has given with its last report, to get it back with the next one."""
    taken_over: bool
    """Whether another collector claimed the task before and did not finish it within the lease."""
    lease: float
    """When the claim ends, and the proof of it."""
    scraped_at: float | None = None
    """The last scrape that succeeded."""
    failing_since: float | None = None
    """The first of the scrapes that have failed since."""
    metered_at: float | None = None
    """The last scrape whose findings are in the account of usage."""

    @property
    def scope(self) -> str:
        """The project as the patterns of the configuration name it (`limes.catalog.catalog`)."""
        return f"{self.domain_name}/{self.project_name}"


class CapacitorTask(NamedTuple):
    id: int
    name: str
    lease: float


_PS = ProjectService.alias("ps")


def _claimable(build: Build[P], *, prepare: bool = False) -> Query[P, list[ProjectTask]]:
    """Gives the tasks that `_tasks` selects, without their lease."""
    project = (int, int, str, str, str, bool, str, str, int, str)
    scrape = (float | None, float, bool, str, *[float | None] * 4)

    def task(*row: Any) -> ProjectTask:
        return ProjectTask._make([*row[:12], bool(row[12]), row[13], row[14] is not None, 0.0, *row[15:]])

    return made(task, *project, *scrape, prepare=prepare)(build)


def _tasks(due_at: Field, claimed_until: Field, limit: int, *conditions: Any) -> Node:
    """The rows that fulfil the conditions and are not locked by others, the longest waiting first."""
    query = (
        _PS.select(
            _PS.id,
            *(Project.id, Project.uuid, Project.name, Project.parent_uuid, Project.has_bursting),
            *(Domain.uuid, Domain.name, Service.id, Service.type),
            *(_PS.quota_desynced_at, due_at, _PS.is_stale, _PS.scrape_state, claimed_until),
            *(_PS.scraped_at, failing_since(_PS), _PS.metered_at),
        )
        .join(Project, on=_PS.project == Project.id)
        .join(Domain, on=Project.domain == Domain.id)
        .join(Service, on=_PS.service == Service.id)
        .where(*conditions)
        .order_by(due_at)
        .limit(limit)
    )
    return lock(query, of="ps", skip_locked=True)


def _is_of(service_type: str) -> Any:
    """As a subquery, so that the index of `project_services` gives the rows in order."""
    service = Service.alias()
    return _PS.service == service.select(service.id).where(service.type == service_type)


def _is_unclaimed(claimed_until: Any, now: float, never: float) -> Any:
    return claimed_until.is_null() | (claimed_until <= now) | (claimed_until > never)


@_claimable
def _scrapes(
    which: Literal["asked for", "due", "lost"], service_type: str, now: float, never: float, limit: int
) -> Node:
    asked_for = which == "asked for"
    if asked_for:
        condition = _is_unclaimed(_PS.scrape_claimed_until, now, never)
    else:
        condition = _PS.next_scrape_at <= now if which == "due" else _PS.next_scrape_at > never
    kind = (_is_of(service_type), _PS.is_stale == asked_for)
    return _tasks(_PS.next_scrape_at, _PS.scrape_claimed_until, limit, *kind, condition)


@writes_for("ids", prepare=True)
def _lease(ids: Sequence[int], work: Literal["scrape", "push"], until: float) -> Node:
    if work == "push":
        changes = ProjectService.update(next_push_at=until, push_claimed_until=until)
    else:  # a sync that is requested from now on wants newer figures, so it marks the row again
        changes = ProjectService.update(is_stale=False, next_scrape_at=until, scrape_claimed_until=until)
    return changes.where(any_of(ProjectService.id, ids))


def _claim(
    engine: Engine, work: Literal["scrape", "push"], tasks: Sequence[ProjectTask], lease: float
) -> list[ProjectTask]:
    _lease(engine, [task.id for task in tasks], work, lease)
    return [task._replace(lease=lease) for task in tasks]


def claim_scrapes(
    engine: Engine, service_type: str, now: float, lease: float, never: float, limit: int
) -> list[ProjectTask]:
    """Up to `limit` projects: first the ones whose scrape was requested, then the due ones, each longest due first.
    A scrape that is requested while one is running comes after it: a user who asks again and again would otherwise take
    each scrape's lease away, and none would ever be recorded."""
    tasks = _scrapes(engine, "asked for", service_type, now, never, limit)
    if len(tasks) < limit:
        tasks += _scrapes(engine, "due", service_type, now, never, limit - len(tasks))
    if not tasks:
        tasks = _scrapes(engine, "lost", service_type, now, never, limit)
    return _claim(engine, "scrape", tasks, lease)


@writes
def release_scrape(id_: int, lease: float, due_at: float, asked_for: bool) -> Node:
    """Gives back a claim that was not started: its row is due as before. Does nothing if the claim is lost."""
    row = ProjectService
    changes = row.update(next_scrape_at=due_at, is_stale=row.is_stale | asked_for, scrape_claimed_until=None)
    return changes.where(row.id == id_, row.scrape_claimed_until == lease)


@_claimable
def _pushes(which: Literal["due", "lost"], service_type: str, now: float, never: float, limit: int) -> Node:
    conditions: list[Any] = [_PS.next_push_at > never]
    if which == "due":
        conditions = [_PS.next_push_at <= now, _is_unclaimed(_PS.push_claimed_until, now, never)]
    return _tasks(_PS.next_push_at, _PS.push_claimed_until, limit, _is_of(service_type), *conditions)


@partial(_claimable, prepare=True)
def _pushes_of_project(project_id: int, service_types: Sequence[str], now: float, never: float, limit: int) -> Node:
    is_marked, is_free = _PS.next_push_at.is_null(False), _is_unclaimed(_PS.push_claimed_until, now, never)
    of_project = (_PS.project == project_id, any_of(Service.type, service_types))
    return _tasks(_PS.next_push_at, _PS.push_claimed_until, limit, *of_project, is_marked, is_free)


def claim_push(engine: Engine, service_type: str, now: float, lease: float, never: float) -> ProjectTask | None:
    """The project with quota to write that has been due longest."""
    times = (service_type, now, never)
    tasks = _pushes(engine, "due", *times, limit=1) or _pushes(engine, "lost", *times, limit=1)
    return next(iter(_claim(engine, "push", tasks, lease)), None)


def claim_push_of(
    engine: Engine, project_id: int, service_types: Sequence[str], now: float, lease: float, never: float
) -> list[ProjectTask]:
    """The unclaimed ones of these services of the project whose quota has to be written."""
    tasks = _pushes_of_project(engine, project_id, service_types, now, never, len(service_types))
    return _claim(engine, "push", tasks, lease)


@writes
def release_push(id_: int, lease: float, now: float) -> Node:
    """Gives back a claim, so that the next one who polls finds the row due. Does nothing if the claim is lost."""
    row = ProjectService
    next_push_at = Case(None, [(row.quota_desynced_at.is_null(False), now)])
    changes = row.update(next_push_at=next_push_at, push_claimed_until=None)
    return changes.where(row.id == id_, row.push_claimed_until == lease)


@tuples(tuple[int, str], skip_empty="names")
def _due_capacitor(names: Sequence[str], now: float, never: float) -> Node:
    row = Capacitor
    is_due = (row.next_scrape_at <= now) | (row.next_scrape_at > never)
    query = row.select(row.id, row.name).where(is_due, any_of(row.name, names))
    return lock(query.order_by(row.next_scrape_at, row.id).limit(1), skip_locked=True)


@writes
def _lease_capacitor(id_: int, lease: float) -> Node:
    return Capacitor.update(next_scrape_at=lease).where(Capacitor.id == id_)


def claim_capacity(
    engine: Engine, names: Sequence[str], now: float, lease: float, never: float
) -> CapacitorTask | None:
    """The one of these capacitors that has been due longest."""
    for id_, name in _due_capacitor(engine, names, now, never):
        _lease_capacitor(engine, id_, lease)
        return CapacitorTask(id_, name, lease)
    return None


@writes
def _make_job(name: str, now: float) -> Node:
    return Job.insert(name=name, next_run_at=now).on_conflict("NOTHING", conflict_target=[Job.name])


@column(str)
def _due_job(name: str, now: float, never: float) -> Node:
    is_due = (Job.next_run_at <= now) | (Job.next_run_at > never)
    return lock(Job.select(Job.name).where(Job.name == name, is_due), skip_locked=True)


@writes
def _lease_job(name: str, lease: float) -> Node:
    return Job.update(next_run_at=lease).where(Job.name == name)


def claim_job(engine: Engine, name: str, now: float, lease: float, never: float) -> bool:
    """Claims a cluster-wide job if it is due; returns whether it was. Adds its row if there is none."""
    _make_job(engine, name, now)
    return bool(_due_job(engine, name, now, never)) and _lease_job(engine, name, lease) == 1


@writes
def finish_job(name: str, lease: float, now: float, next_run_at: float, error: str) -> Node:
    """Records the outcome of a job. Nothing is recorded if the lease was lost meanwhile."""
    changes = Job.update(ran_at=now, next_run_at=next_run_at, error=error)
    return changes.where(Job.name == name, Job.next_run_at == lease)
