"""The dated history of quotas. Rows name what they are about by UUID and name, and outlive it."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from limes.core.catalog import Ref
from limes.db.engine import Engine, placeholders

_COLUMNS = (
    "at, domain_uuid, project_uuid, service_type, resource_name, what, old, new, reason, detail,"
    " initiator_id, initiator_name, request_id"
)
_CHUNK = 500


class HistoryRow(NamedTuple):
    """A change. `old` and `new` are None where there was, or is, no number; domain quotas have no project."""

    at: float
    domain_uuid: str
    project_uuid: str
    service_type: str
    resource_name: str
    what: str
    old: int | None
    new: int | None
    reason: str
    detail: str
    initiator_id: str
    """A user's id; empty for a job."""
    initiator_name: str
    request_id: str


class NumberedChange(NamedTuple):
    """A change with its number. Of two changes of the same quota, the later one has the greater number."""

    number: int
    row: HistoryRow


def append(engine: Engine, rows: Sequence[HistoryRow]) -> None:
    """Adds changes, in this order."""
    for start in range(0, len(rows), _CHUNK):
        some = rows[start : start + _CHUNK]
        engine.execute(
            f"INSERT INTO quota_history ({_COLUMNS}) VALUES " + ", ".join([f"({placeholders(13)})"] * len(some)),
            [value for row in some for value in row],
        )


def page(
    engine: Engine, domain_uuid: str, project_uuid: str, refs: Collection[Ref] | None, before: int, limit: int
) -> list[NumberedChange]:
    """At most `limit` changes with a number below `before`, the newest first.

    With `refs`, only those of these resources, and those of the whole project.
    """
    condition, params = "", []
    if refs is not None:
        pairs = " OR ".join(["(service_type = %s AND resource_name = %s)"] * len(refs))
        condition = f" AND (service_type = ''{' OR ' if refs else ''}{pairs})"
        params = [name for ref in sorted(refs) for name in ref]
    rows = engine.rows(
        f"SELECT number, {_COLUMNS} FROM quota_history WHERE domain_uuid = %s AND project_uuid = %s"
        f" AND number < %s{condition} ORDER BY number DESC LIMIT %s",
        [domain_uuid, project_uuid, before, *params, limit],
    )
    return [_numbered(row) for row in rows]


def latest(engine: Engine, domain_uuid: str, project_uuid: str) -> dict[Ref, NumberedChange]:
    """The last change of each quota of a project, or of a domain."""
    rows = engine.rows(
        f"SELECT number, {_COLUMNS} FROM quota_history WHERE number IN (SELECT MAX(number) FROM quota_history"
        " WHERE domain_uuid = %s AND project_uuid = %s AND what = 'quota' GROUP BY service_type, resource_name)",
        [domain_uuid, project_uuid],
    )
    found = [_numbered(row) for row in rows]
    return {(one.row.service_type, one.row.resource_name): one for one in found}


def forget_before(engine: Engine, time: float, limit: int) -> int:
    """Deletes the oldest changes, if they are from before that time: at most `limit`. Answers how many."""
    rows = engine.rows("SELECT number, at FROM quota_history ORDER BY number LIMIT %s", [limit])
    old = [number for number, at in rows if at < time]
    if old:
        engine.execute(f"DELETE FROM quota_history WHERE number IN ({placeholders(len(old))})", old)
    return len(old)


def _numbered(row: Sequence[object]) -> NumberedChange:
    return NumberedChange(int(str(row[0])), HistoryRow._make(row[1:]))
