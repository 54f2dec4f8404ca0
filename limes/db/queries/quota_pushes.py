"""The state of writing the quota of a project's service into its backend."""

from collections.abc import Sequence
from typing import NamedTuple

from peewee import fn

from limes.db.compiled import any_of, compiled, lock
from limes.db.engine import Engine
from limes.db.models import ProjectService, Service


class PushState(NamedTuple):
    """The columns of `project_services` about writing the quota."""

    quota_desynced_at: float | None
    next_push_at: float | None
    push_claimed_until: float | None
    push_failures: int
    drifted_at: float | None


_MARK_DESYNCED = compiled(
    lambda p: ProjectService.update(quota_desynced_at=p.now, next_push_at=p.now, push_failures=0).where(
        ProjectService.project == p.project,
        any_of(ProjectService.service, Service.select(Service.id).where(any_of(Service.type, p.types))),
    )
)


def mark_desynced(engine: Engine, project_id: int, service_types: Sequence[str], now: float) -> None:
    """Marks the backends of these services: they have to be told this project's quota as soon as possible."""
    engine.write(_MARK_DESYNCED, project=project_id, types=service_types, now=now)


_DRIFTED = compiled(
    lambda p: (
        ProjectService.select(Service.type)
        .join(Service)
        .where(
            ProjectService.project == p.project,
            any_of(Service.type, p.types),
            ProjectService.drifted_at.is_null(False),
            ProjectService.quota_desynced_at.is_null(),
        )
    )
)


def drifted_services(engine: Engine, project_id: int, service_types: Sequence[str]) -> list[str]:
    """Returns those services whose backend somebody else has changed, and that are not marked for a push yet."""
    return engine.column(_DRIFTED, project=project_id, types=service_types)


_LOCK_STATE = compiled(
    lambda p: lock(
        ProjectService.select(
            ProjectService.quota_desynced_at,
            ProjectService.next_push_at,
            ProjectService.push_claimed_until,
            ProjectService.push_failures,
            ProjectService.drifted_at,
        ).where(ProjectService.id == p.id)
    )
)


def lock_push_state(engine: Engine, id_: int) -> PushState | None:
    """Returns the row in `project_services`, locked; None if the project or service is gone."""
    return engine.first(_LOCK_STATE, PushState, id=id_)


_RECORD_OUTDATED = compiled(
    lambda p: ProjectService.update(
        pushed_at=p.now, quota_desynced_at=p.desynced_at, next_push_at=p.now, push_claimed_until=None
    ).where(ProjectService.id == p.id)
)


def record_outdated_push(engine: Engine, id_: int, desynced_at: float, now: float) -> None:
    """Records that the backend was told its quota, and has to be told again."""
    engine.write(_RECORD_OUTDATED, id=id_, desynced_at=desynced_at, now=now)


_MARK_AGAIN = compiled(
    lambda p: ProjectService.update(
        quota_desynced_at=p.desynced_at, next_push_at=fn.COALESCE(ProjectService.next_push_at, p.next_push_at)
    ).where(ProjectService.id == p.id)
)


def mark_desynced_again(engine: Engine, id_: int, desynced_at: float, next_push_at: float) -> None:
    """Marks the backend once more. A push that is running goes on."""
    engine.write(_MARK_AGAIN, id=id_, desynced_at=desynced_at, next_push_at=next_push_at)


_RECORD = compiled(
    lambda p: ProjectService.update(
        pushed_at=p.now,
        quota_desynced_at=None,
        next_push_at=None,
        push_claimed_until=None,
        push_failures=0,
        push_error="",
        drifted_at=None,
    ).where(ProjectService.id == p.id)
)


def record_push(engine: Engine, id_: int, now: float) -> None:
    """Records that the backend was told its quota, and that it is the wanted one."""
    engine.write(_RECORD, id=id_, now=now)


_RECORD_FAILED = compiled(
    lambda p: ProjectService.update(
        next_push_at=p.next_push_at, push_failures=p.failures, push_error=p.error, push_claimed_until=None
    ).where(ProjectService.id == p.id)
)


def record_failed_push(engine: Engine, id_: int, next_push_at: float, failures: int, error: str) -> None:
    """Records that the quota could not be written, and when to try again."""
    engine.write(_RECORD_FAILED, id=id_, next_push_at=next_push_at, failures=failures, error=error)


_REQUEST_SCRAPE = compiled(lambda p: ProjectService.update(is_stale=True).where(ProjectService.id == p.id))


def request_scrape(engine: Engine, id_: int) -> None:
    """Asks for a scrape that comes before all that are merely due."""
    engine.write(_REQUEST_SCRAPE, id=id_)
