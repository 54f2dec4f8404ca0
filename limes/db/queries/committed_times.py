"""When commitments were confirmed, and whose they were, as their events tell (docs/adr/0032)."""

from collections.abc import Collection
from typing import NamedTuple

from limes.db.compiled import any_of
from limes.db.models import CommittedTime
from limes.db.query import Insert, Node, grouped


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


@grouped(str, "commitment_uuid", CommittedRow)
def committed_times(uuids: Collection[str]) -> Node:
    """The times of these commitments, in order."""
    row = CommittedTime
    query = row.select(*[getattr(row, name) for name in CommittedRow._fields])
    return query.where(any_of(row.commitment_uuid, uuids)).order_by(row.begins)


write_committed_times = Insert(CommittedRow, CommittedTime, key=2)
"""Adds or changes these times."""
