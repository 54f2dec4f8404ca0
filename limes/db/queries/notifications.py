"""What people were told, and up to where the events of commitments were looked at."""

from collections.abc import Collection, Mapping

from peewee import fn

from limes.db.compiled import any_of, compiled, compiled_insert, lock
from limes.db.engine import Engine
from limes.db.models import CommitmentEvent, NotificationCursor, NotificationState

Key = tuple[str, str]
"""Kind and subject."""

_CURSOR = compiled(lambda p: lock(NotificationCursor.select(NotificationCursor.last).where(NotificationCursor.id == 1)))
_MOVE = compiled(lambda p: NotificationCursor.update(last=p.last).where(NotificationCursor.id == 1))
_NEWEST = compiled(lambda p: CommitmentEvent.select(fn.COALESCE(fn.MAX(CommitmentEvent.number), 0)))


def lock_cursor(engine: Engine) -> int | None:
    """Locks the cursor against others who decide what to tell. Returns the number of the last event that was looked
    at, or None."""
    (last,) = engine.column(_CURSOR)
    return None if last is None else int(last)


def move_cursor(engine: Engine, last: int) -> None:
    """Remembers that number."""
    engine.write(_MOVE, last=last)


def newest_event(engine: Engine) -> int:
    """Returns the number of the newest event of a commitment; 0 if there is none."""
    (number,) = engine.column(_NEWEST)
    return int(number)


_STATES = compiled(
    lambda p: NotificationState.select(NotificationState.kind, NotificationState.subject, NotificationState.level)
)
_INSERT = compiled_insert(NotificationState, NotificationState.kind, NotificationState.subject, NotificationState.level)
_DELETE = compiled(
    lambda p: NotificationState.delete().where(
        NotificationState.kind == p.kind, any_of(NotificationState.subject, p.subjects)
    )
)


def states(engine: Engine) -> dict[Key, int]:
    """Returns the level of everything that was told and has not ended."""
    return {(kind, subject): level for kind, subject, level in engine.tuples(_STATES)}


def change_states(engine: Engine, ended: Collection[Key], told: Mapping[Key, int]) -> None:
    """Forgets what has ended, and remembers what is told now."""
    subjects: dict[str, list[str]] = {}
    for kind, subject in [*ended, *told]:
        subjects.setdefault(kind, []).append(subject)
    for kind, some in subjects.items():
        engine.write(_DELETE, kind=kind, subjects=some)
    rows = [(*key, level) for key, level in told.items()]
    for start in range(0, len(rows), 200):
        engine.write(_INSERT, rows=rows[start : start + 200])
