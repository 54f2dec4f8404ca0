"""When commitments were confirmed, and whose they were, as their events tell (docs/adr/0032)."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from limes.db.compiled import any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import CommittedTime


class CommittedRow(NamedTuple):
    """A time in which a confirmed commitment was a project's."""

    commitment_uuid: str
    begins: int
    ends: int
    project_uuid: str
    service_type: str
    resource_name: str
    az: str
    amount: int


_FIELDS = [getattr(CommittedTime, name) for name in CommittedRow._fields]
_OF_COMMITMENTS = compiled(
    lambda p: (
        CommittedTime.select(*_FIELDS)
        .where(any_of(CommittedTime.commitment_uuid, p.uuids))
        .order_by(CommittedTime.begins)
    )
)
_WRITE = compiled_insert(
    CommittedTime,
    *_FIELDS,
    finish=lambda insert: insert.on_conflict(conflict_target=_FIELDS[:2], preserve=_FIELDS[2:]),
)


def committed_times(engine: Engine, uuids: Collection[str]) -> dict[str, list[CommittedRow]]:
    """Returns the times of these commitments, in order."""
    found: dict[str, list[CommittedRow]] = {}
    for row in engine.all(_OF_COMMITMENTS, CommittedRow, uuids=sorted(uuids)):
        found.setdefault(row.commitment_uuid, []).append(row)
    return found


def write_committed_times(engine: Engine, rows: Sequence[CommittedRow]) -> None:
    """Adds or changes these times."""
    if rows:
        engine.write(_WRITE, rows=rows)
