"""Idempotency keys of commitments, by project."""

from typing import NamedTuple

from limes.db.compiled import compiled
from limes.db.engine import Engine
from limes.db.models import CommitmentKey


class KeyRow(NamedTuple):
    """The request that came with a key, and the answer to it as JSON."""

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
    """Returns the earlier answer under this key. None if the key is new: nobody else can use it until the transaction
    ends.

    Waits for another transaction that is using the key. After None, `remember` or a rollback has to follow.
    """
    if engine.write(_CLAIM, project=project_id, key=key, now=now):
        return None
    row = engine.first(_BY_KEY, KeyRow, project=project_id, key=key)
    assert row is not None  # keys are deleted only long after their use
    return row


def remember(engine: Engine, project_id: int, key: str, request: str, document: str, now: float) -> None:
    """Keeps the answer."""
    engine.write(_REMEMBER, project=project_id, key=key, request=request, document=document, now=now)


def forget_before(engine: Engine, time: float) -> None:
    """Deletes keys that were used before that time."""
    engine.write(_FORGET, before=time)
