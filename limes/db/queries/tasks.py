"""Claims of due work. To be called inside a transaction.

A claim writes the end of its lease into the row. That time is the proof of the claim, and until then nobody else finds
the row due. Whoever finishes later finds another time in the row, and knows that the task now belongs to somebody else.
On PostgreSQL a row that another collector is claiming at the moment is skipped.

`never` is later than any time that a correct clock writes. If a row has a later one, a clock was wrong: the row is due.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import peewee
from peewee import Case

from limes.db.compiled import Compiled, Parameters, any_of, compiled, lock
from limes.db.engine import Engine
from limes.db.models import Capacitor, Domain, Job, Project, ProjectService, Service
from limes.db.queries.project_scrapes import failing_since


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
    """Whether somebody else claimed the task before and did not finish it within the lease."""
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
        """The project as the patterns of the configuration name it (`limes.core.catalog`)."""
        return f"{self.domain_name}/{self.project_name}"


class CapacitorTask(NamedTuple):
    """A capacitor, claimed for a scrape."""

    id: int
    name: str
    lease: float


_PS = ProjectService.alias("ps")


def _tasks(p: Parameters, due_at: peewee.Field, claimed_until: peewee.Field, *conditions: Any) -> peewee.Node:
    """Returns the rows that fulfil the conditions and that nobody else has locked, those that have waited longest
    first."""
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
        .limit(p.limit)
    )
    return lock(query, of="ps", skip_locked=True)


def _scrapes(p: Parameters, *conditions: Any, asked_for: bool) -> peewee.Node:
    kind = (_of_service(p), _PS.is_stale == asked_for)
    return _tasks(p, _PS.next_scrape_at, _PS.scrape_claimed_until, *kind, *conditions)


def _pushes(p: Parameters, *conditions: Any) -> peewee.Node:
    return _tasks(p, _PS.next_push_at, _PS.push_claimed_until, *conditions)


def _of_service(p: Parameters) -> Any:
    """As a subquery, so that the index of `project_services` gives the rows in order."""
    service = Service.alias()
    return _PS.service == service.select(service.id).where(service.type == p.service_type)


def _unclaimed(p: Parameters, claimed_until: Any) -> Any:
    return claimed_until.is_null() | (claimed_until <= p.now) | (claimed_until > p.never)


_SCRAPES_ASKED_FOR = compiled(lambda p: _scrapes(p, _unclaimed(p, _PS.scrape_claimed_until), asked_for=True))
_DUE_SCRAPES = compiled(lambda p: _scrapes(p, _PS.next_scrape_at <= p.now, asked_for=False))
_LOST_SCRAPES = compiled(lambda p: _scrapes(p, _PS.next_scrape_at > p.never, asked_for=False))
_LEASE_SCRAPES = compiled(
    lambda p: ProjectService.update(is_stale=False, next_scrape_at=p.lease, scrape_claimed_until=p.lease).where(
        any_of(ProjectService.id, p.ids)
    )
)


def claim_scrapes(
    engine: Engine, service_type: str, now: float, lease: float, never: float, limit: int
) -> list[ProjectTask]:
    """Returns up to `limit` projects: first those whose scrape was requested, then those that are due, each longest due
    first.

    A scrape that is requested while one is running comes after it: a user who asks again and again would otherwise take
    each scrape's lease away, and none would ever be recorded.
    """
    times = {"service_type": service_type, "now": now, "never": never}
    tasks = _find(engine, _SCRAPES_ASKED_FOR, lease, limit=limit, **times)
    if len(tasks) < limit:
        tasks += _find(engine, _DUE_SCRAPES, lease, limit=limit - len(tasks), **times)
    if not tasks:
        tasks = _find(engine, _LOST_SCRAPES, lease, limit=limit, **times)
    if tasks:
        # a sync that is requested from now on wants newer figures, so it marks the row again
        engine.write(_LEASE_SCRAPES, ids=[task.id for task in tasks], lease=lease)
    return tasks


_RELEASE_SCRAPE = compiled(
    lambda p: ProjectService.update(
        next_scrape_at=p.due_at, is_stale=ProjectService.is_stale | p.asked_for, scrape_claimed_until=None
    ).where(ProjectService.id == p.id, ProjectService.scrape_claimed_until == p.lease)
)


def release_scrapes(engine: Engine, claimed: Sequence[ProjectTask]) -> None:
    """Gives back claims that were not begun: their rows are due as before. Does nothing for claims that are lost."""
    for task in claimed:
        engine.write(_RELEASE_SCRAPE, id=task.id, due_at=task.due_at, asked_for=task.asked_for, lease=task.lease)


_DUE_PUSHES = compiled(
    lambda p: _pushes(p, _of_service(p), _PS.next_push_at <= p.now, _unclaimed(p, _PS.push_claimed_until))
)
_LOST_PUSHES = compiled(lambda p: _pushes(p, _of_service(p), _PS.next_push_at > p.never))
_PUSHES_OF_PROJECT = compiled(
    lambda p: _pushes(
        p,
        _PS.project == p.project,
        any_of(Service.type, p.service_types),
        (_PS.next_push_at <= p.now) | (_PS.next_push_at > p.never),
        _unclaimed(p, _PS.push_claimed_until),
    )
)
_LEASE_PUSHES = compiled(
    lambda p: ProjectService.update(next_push_at=p.lease, push_claimed_until=p.lease).where(
        any_of(ProjectService.id, p.ids)
    )
)


def claim_push(engine: Engine, service_type: str, now: float, lease: float, never: float) -> ProjectTask | None:
    """Returns the project with quota to write that has been due longest."""
    times = {"service_type": service_type, "now": now, "never": never}
    tasks = _find(engine, _DUE_PUSHES, lease, limit=1, **times)
    if not tasks:
        tasks = _find(engine, _LOST_PUSHES, lease, limit=1, **times)
    _lease_pushes(engine, tasks, lease)
    return tasks[0] if tasks else None


def claim_push_of(
    engine: Engine, project_id: int, service_types: Sequence[str], now: float, lease: float, never: float
) -> list[ProjectTask]:
    """Returns those of these services of the project whose quota has to be written, and that nobody has claimed."""
    times = {"now": now, "never": never}
    limit = len(service_types)
    tasks = _find(
        engine, _PUSHES_OF_PROJECT, lease, project=project_id, service_types=service_types, limit=limit, **times
    )
    _lease_pushes(engine, tasks, lease)
    return tasks


def _lease_pushes(engine: Engine, claimed: Sequence[ProjectTask], lease: float) -> None:
    if claimed:
        engine.write(_LEASE_PUSHES, ids=[task.id for task in claimed], lease=lease)


_RELEASE_PUSH = compiled(
    lambda p: ProjectService.update(
        next_push_at=Case(None, [(ProjectService.quota_desynced_at.is_null(False), p.now)]), push_claimed_until=None
    ).where(ProjectService.id == p.id, ProjectService.push_claimed_until == p.lease)
)


def release_push(engine: Engine, id_: int, lease: float, now: float) -> None:
    """Gives back a claim, so that the next one who polls finds the row due. Does nothing if the claim is lost."""
    engine.write(_RELEASE_PUSH, id=id_, lease=lease, now=now)


def _find(engine: Engine, query: Compiled, lease: float, **values: Any) -> list[ProjectTask]:
    """Returns the rows as tasks, which are now locked."""
    rows = engine.tuples(query, **values)
    return [
        ProjectTask._make([*row[:12], bool(row[12]), row[13], row[14] is not None, lease, *row[15:]]) for row in rows
    ]


_DUE_CAPACITOR = compiled(
    lambda p: lock(
        Capacitor.select(Capacitor.id, Capacitor.name)
        .where(
            (Capacitor.next_scrape_at <= p.now) | (Capacitor.next_scrape_at > p.never), any_of(Capacitor.name, p.names)
        )
        .order_by(Capacitor.next_scrape_at, Capacitor.id)
        .limit(1),
        skip_locked=True,
    )
)
_LEASE_CAPACITOR = compiled(lambda p: Capacitor.update(next_scrape_at=p.lease).where(Capacitor.id == p.id))


def claim_capacity(
    engine: Engine, names: Sequence[str], now: float, lease: float, never: float
) -> CapacitorTask | None:
    """Returns the one of these capacitors that has been due longest."""
    if not names:
        return None
    capacitors = engine.tuples(_DUE_CAPACITOR, names=names, now=now, never=never)
    if not capacitors:
        return None
    ((id_, name),) = capacitors
    engine.write(_LEASE_CAPACITOR, id=id_, lease=lease)
    return CapacitorTask(id_, name, lease)


_MAKE_JOB = compiled(
    lambda p: Job.insert(name=p.name, next_run_at=p.now).on_conflict("NOTHING", conflict_target=[Job.name])
)
_DUE_JOB = compiled(
    lambda p: lock(
        Job.select(Job.name).where(Job.name == p.name, (Job.next_run_at <= p.now) | (Job.next_run_at > p.never)),
        skip_locked=True,
    )
)
_LEASE_JOB = compiled(lambda p: Job.update(next_run_at=p.lease).where(Job.name == p.name))
_FINISH_JOB = compiled(
    lambda p: Job.update(ran_at=p.now, next_run_at=p.next_run_at, error=p.error).where(
        Job.name == p.name, Job.next_run_at == p.lease
    )
)


def claim_job(engine: Engine, name: str, now: float, lease: float, never: float) -> bool:
    """Claims a cluster-wide job if it is due; returns whether it was. Adds its row if there is none."""
    engine.write(_MAKE_JOB, name=name, now=now)
    if not engine.column(_DUE_JOB, name=name, now=now, never=never):
        return False
    engine.write(_LEASE_JOB, name=name, lease=lease)
    return True


def finish_job(engine: Engine, name: str, lease: float, now: float, next_run_at: float, error: str) -> bool:
    """Records the outcome of a job. False if the lease was lost meanwhile: then nothing is recorded."""
    return engine.write(_FINISH_JOB, name=name, now=now, next_run_at=next_run_at, error=error, lease=lease) == 1
