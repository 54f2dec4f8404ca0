"""Idempotency keys of commitments, by project."""

from typing import NamedTuple

from limes.db.engine import Engine
from limes.db.models import CommitmentKey
from limes.db.query import Node, first, writes


class KeyRow(NamedTuple):
    """The request that came with a key, and the answer to it as JSON."""

    request: str
    document: str


@writes
def _claim(project_id: int, key: str, now: float) -> Node:
    row = CommitmentKey
    return row.insert(project=project_id, key=key, request="", document="", created_at=now).on_conflict_ignore()


@first(KeyRow)
def _by_key(project_id: int, key: str) -> Node:
    row = CommitmentKey
    return row.select(row.request, row.document).where(row.project == project_id, row.key == key)


def claim(engine: Engine, project_id: int, key: str, now: float) -> KeyRow | None:
    """Returns the earlier answer under this key. None if the key is new: nobody else can use it until the transaction
    ends.

    Waits for another transaction that is using the key. After None, `remember` or a rollback has to follow.
    """
    if _claim(engine, project_id, key, now):
        return None
    row = _by_key(engine, project_id, key)
    assert row is not None  # keys are deleted only long after their use
    return row


@writes
def remember(project_id: int, key: str, request: str, document: str, now: float) -> Node:
    """Keeps the answer."""
    row = CommitmentKey
    update = row.update(request=request, document=document, created_at=now)
    return update.where(row.project == project_id, row.key == key)


@writes
def forget_before(time: float) -> Node:
    """Deletes keys that were used before that time."""
    return CommitmentKey.delete().where(CommitmentKey.created_at < time)
