"""The state of writing the quota of a project's service into its backend."""

from collections.abc import Sequence
from typing import NamedTuple

from peewee import fn

from limes.catalog.models import Service
from limes.db.compiled import any_of, lock
from limes.db.query import Node, column, first, writes, writes_for
from limes.projects.models import ProjectService

_ROW = ProjectService


class PushState(NamedTuple):
    quota_desynced_at: float | None
    next_push_at: float | None
    push_claimed_until: float | None
    push_failures: int
    drifted_at: float | None


@writes_for(prepare=True)
def mark_desynced(project_id: int, service_types: Sequence[str], now: float, job_at: float) -> Node:
    """Marks the backends of these services: this project's quota has to be pushed to them, by the job from `job_at`."""
    services = Service.select(Service.id).where(any_of(Service.type, service_types))
    changes = _ROW.update(quota_desynced_at=now, next_push_at=job_at, push_failures=0)
    return changes.where(_ROW.project == project_id, any_of(_ROW.service, services))


@column(str)
def drifted_services(project_id: int, service_types: Sequence[str]) -> Node:
    """The services whose backend was changed outside Limes, and that are not marked for a push yet."""
    is_drifted = (_ROW.drifted_at.is_null(False), _ROW.quota_desynced_at.is_null())
    query = _ROW.select(Service.type).join(Service)
    return query.where(_ROW.project == project_id, any_of(Service.type, service_types), *is_drifted)


@first(PushState, prepare=True)
def lock_push_state(id_: int) -> Node:
    """The row in `project_services`, locked; None if the project or service is gone."""
    return lock(_ROW.select(*(getattr(_ROW, name) for name in PushState._fields)).where(_ROW.id == id_))


@writes
def record_outdated_push(id_: int, desynced_at: float, now: float) -> Node:
    """Records a push to the backend, and that another one is needed."""
    times = {"pushed_at": now, "quota_desynced_at": desynced_at, "next_push_at": now}
    return _ROW.update(**times, push_claimed_until=None).where(_ROW.id == id_)


@writes
def mark_desynced_again(id_: int, desynced_at: float, next_push_at: float) -> Node:
    """Marks the backend once more. A push that is running goes on."""
    next_push = fn.COALESCE(_ROW.next_push_at, next_push_at)
    return _ROW.update(quota_desynced_at=desynced_at, next_push_at=next_push).where(_ROW.id == id_)


@writes_for(prepare=True)
def record_push(id_: int, now: float) -> Node:
    """Records a push of the wanted quota to the backend."""
    times = {"pushed_at": now, "quota_desynced_at": None, "next_push_at": None, "drifted_at": None}
    return _ROW.update(**times, push_claimed_until=None, push_failures=0, push_error="").where(_ROW.id == id_)


@writes
def record_failed_push(id_: int, next_push_at: float, failures: int, error: str) -> Node:
    """Records that the quota could not be written, and when to try again."""
    changes = {"next_push_at": next_push_at, "push_failures": failures, "push_error": error}
    return _ROW.update(**changes, push_claimed_until=None).where(_ROW.id == id_)


@writes
def request_scrape(id_: int) -> Node:
    """Asks for a scrape that comes before all that are merely due."""
    return _ROW.update(is_stale=True).where(_ROW.id == id_)
