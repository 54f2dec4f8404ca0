"""Idempotency keys of commitments, by project."""

from typing import NamedTuple

from limes.db.engine import Engine


class KeyRow(NamedTuple):
    """What was asked for with a key, and the JSON of what was answered."""

    request: str
    document: str


def claim(engine: Engine, project_id: int, key: str, now: float) -> KeyRow | None:
    """What was answered under this key before; None if it is new: nobody else can use it until the transaction ends.

    Waits for another transaction that is using the key. After None, `remember` has to follow, or a roll-back.
    """
    made = engine.execute(
        "INSERT INTO commitment_keys (project_id, key, request, document, created_at) VALUES (%s, %s, '', '', %s)"
        " ON CONFLICT (project_id, key) DO NOTHING",
        [project_id, key, now],
    )
    if made:
        return None
    row = engine.row(
        "SELECT request, document FROM commitment_keys WHERE project_id = %s AND key = %s", [project_id, key]
    )
    assert row is not None  # keys are only deleted long after their use
    return KeyRow._make(row)


def remember(engine: Engine, project_id: int, key: str, request: str, document: str, now: float) -> None:
    """Keeps what was answered."""
    engine.execute(
        "UPDATE commitment_keys SET request = %s, document = %s, created_at = %s WHERE project_id = %s AND key = %s",
        [request, document, now, project_id, key],
    )


def forget_before(engine: Engine, time: float) -> None:
    """Deletes keys that were used before that time."""
    engine.execute("DELETE FROM commitment_keys WHERE created_at < %s", [time])
