"""The history of quotas. Rows name domain, project and resource by UUID and name, and outlive them."""

from collections.abc import Collection, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from peewee import fn

from limes.core.catalog import Ref
from limes.db.compiled import any_of, compiled, compiled_insert
from limes.db.engine import Engine
from limes.db.models import QuotaHistory

_CHUNK = 2000
"""Rows of one statement: SQLite takes at most 32,766 values."""


class HistoryRow(NamedTuple):
    """A change. `old` and `new` are None where there is no number; domain quotas have no project."""

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
    """A change with its number. Later changes of the same quota have greater numbers."""

    number: int
    row: HistoryRow


_COLUMNS = tuple(getattr(QuotaHistory, name) for name in HistoryRow._fields)
_APPEND = compiled_insert(QuotaHistory, *_COLUMNS)


def append(engine: Engine, changes: Sequence[HistoryRow]) -> None:
    """Adds changes, in this order."""
    for start in range(0, len(changes), _CHUNK):
        engine.write(_APPEND, rows=changes[start : start + _CHUNK])


def page(
    engine: Engine, domain_uuid: str, project_uuid: str, refs: Collection[Ref] | None, before: int, limit: int
) -> list[NumberedChange]:
    """Returns at most `limit` changes with a number below `before`, the newest first.

    With `refs`, only those of these resources and of the whole project.
    """
    query = (
        QuotaHistory.select(QuotaHistory.number, *_COLUMNS)
        .where(
            QuotaHistory.domain_uuid == domain_uuid,
            QuotaHistory.project_uuid == project_uuid,
            QuotaHistory.number < before,
        )
        .order_by(QuotaHistory.number.desc())
        .limit(limit)
    )
    if refs is not None:
        resources = [
            (QuotaHistory.service_type == service) & (QuotaHistory.resource_name == name)
            for service, name in sorted(refs)
        ]
        query = query.where(reduce(or_, resources, QuotaHistory.service_type == ""))
    return [_numbered(row) for row in engine.tuples(query)]


_LATEST = compiled(
    lambda p: QuotaHistory.select(QuotaHistory.number, *_COLUMNS).where(
        QuotaHistory.number.in_(
            QuotaHistory.select(fn.MAX(QuotaHistory.number))
            .where(
                QuotaHistory.domain_uuid == p.domain,
                QuotaHistory.project_uuid == p.project,
                QuotaHistory.what == "quota",
            )
            .group_by(QuotaHistory.service_type, QuotaHistory.resource_name)
        )
    )
)


def latest(engine: Engine, domain_uuid: str, project_uuid: str) -> dict[Ref, NumberedChange]:
    """Returns the last change of each quota of a project, or of a domain."""
    changes = [_numbered(row) for row in engine.tuples(_LATEST, domain=domain_uuid, project=project_uuid)]
    return {(change.row.service_type, change.row.resource_name): change for change in changes}


class _Age(NamedTuple):
    number: int
    at: float


_OLDEST = compiled(
    lambda p: QuotaHistory.select(QuotaHistory.number, QuotaHistory.at).order_by(QuotaHistory.number).limit(p.limit)
)
_DELETE = compiled(lambda p: QuotaHistory.delete().where(any_of(QuotaHistory.number, p.numbers)))


def forget_before(engine: Engine, time: float, limit: int) -> int:
    """Deletes at most `limit` changes from before that time. Returns how many."""
    old = [row.number for row in engine.all(_OLDEST, _Age, limit=limit) if row.at < time]
    if old:
        engine.write(_DELETE, numbers=old)
    return len(old)


def _numbered(row: Sequence[object]) -> NumberedChange:
    return NumberedChange(int(str(row[0])), HistoryRow._make(row[1:]))
