"""What people were told, and up to where the events of commitments were looked at."""

from collections.abc import Collection, Mapping

from peewee import fn

from limes.db.compiled import any_of, lock
from limes.db.engine import Engine
from limes.db.models import CommitmentEvent, NotificationCursor, NotificationState
from limes.db.query import Insert, Node, first_value, mapping, value, writes

Key = tuple[str, str]
"""Kind and subject."""


@first_value(int)
def lock_cursor() -> Node:
    """The number of the last event that was looked at, or None. Locked against others who decide what to tell."""
    return lock(NotificationCursor.select(NotificationCursor.last).where(NotificationCursor.id == 1))


@writes
def move_cursor(last: int) -> Node:
    """Remembers that number."""
    return NotificationCursor.update(last=last).where(NotificationCursor.id == 1)


@value(int)
def newest_event() -> Node:
    """The number of the newest event of a commitment; 0 if there is none."""
    return CommitmentEvent.select(fn.COALESCE(fn.MAX(CommitmentEvent.number), 0))


_STATE = (NotificationState.kind, NotificationState.subject, NotificationState.level)
_insert = Insert(tuple[str, str, int], NotificationState, *_STATE, at_once=200)


@mapping(tuple[str, str], int)
def states() -> Node:
    """The level of everything that was told and has not ended, by kind and subject."""
    return NotificationState.select(*_STATE)


@writes
def _delete(kind: str, subjects: Collection[str]) -> Node:
    return NotificationState.delete().where(NotificationState.kind == kind, any_of(NotificationState.subject, subjects))


def change_states(engine: Engine, ended: Collection[Key], told: Mapping[Key, int]) -> None:
    """Forgets what has ended, and remembers what is told now."""
    subjects: dict[str, list[str]] = {}
    for kind, subject in [*ended, *told]:
        subjects.setdefault(kind, []).append(subject)
    for kind, some in subjects.items():
        _delete(engine, kind, some)
    _insert(engine, [(*key, level) for key, level in told.items()])
