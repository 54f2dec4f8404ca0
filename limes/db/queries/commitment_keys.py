"""Idempotency keys of commitments, by project."""

from typing import NamedTuple

from limes.db.compiled import compiled
from limes.db.engine import Engine
from limes.db.models import CommitmentKey


class KeyRow(NamedTuple):
    """What was asked for with a key, and the JSON of what was answered."""

    request: str
    document: str


_CLAIM = compiled(
    lambda p: CommitmentKey.insert(
        project=p.project, key=p.key, request="", document="", created_at=p.now
    ).on_conflict_ignore()
)
_BY_KEY = compiled(
    lambda p: CommitmentKey.select(CommitmentKey.request, CommitmentKey.document).where(
        CommitmentKey.project == p.project, CommitmentKey.key == p.key
    )
)
_REMEMBER = compiled(
    lambda p: CommitmentKey.update(request=p.request, document=p.document, created_at=p.now).where(
        CommitmentKey.project == p.project, CommitmentKey.key == p.key
    )
)
_FORGET = compiled(lambda p: CommitmentKey.delete().where(CommitmentKey.created_at < p.before))


def claim(engine: Engine, project_id: int, key: str, now: float) -> KeyRow | None:
    """What was answered under this key before; None if it is new: nobody else can use it until the transaction ends.

    Waits for another transaction that is using the key. After None, `remember` has to follow, or a roll-back.
    """
    if engine.write(_CLAIM, project=project_id, key=key, now=now):
        return None
    row = engine.first(_BY_KEY, KeyRow, project=project_id, key=key)
    assert row is not None  # keys are only deleted long after their use
    return row


def remember(engine: Engine, project_id: int, key: str, request: str, document: str, now: float) -> None:
    """Keeps what was answered."""
    engine.write(_REMEMBER, project=project_id, key=key, request=request, document=document, now=now)


def forget_before(engine: Engine, time: float) -> None:
    """Deletes keys that were used before that time."""
    engine.write(_FORGET, before=time)
