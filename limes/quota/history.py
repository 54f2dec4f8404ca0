"""The history of quotas. Rows name domain, project and resource by UUID and name, and outlive them."""

from collections.abc import Collection
from typing import Any, NamedTuple, get_type_hints

from peewee import fn

from limes.catalog.catalog import Ref
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Insert, Node, made, mapping, tuples, writes_for
from limes.quota.models import QuotaHistory


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


OVERRIDE = "override"
_COLUMNS = tuple(getattr(QuotaHistory, name) for name in HistoryRow._fields)
append = Insert(HistoryRow, QuotaHistory, at_once=2000, prepare=True)  # SQLite takes at most 32,766 values
"""Adds changes, in this order."""


def _numbered(number: int, *row: Any) -> NumberedChange:
    return NumberedChange(number, HistoryRow(*row))


@made(_numbered, int, *get_type_hints(HistoryRow).values())
def _latest(domain_uuid: str, project_uuid: str) -> Node:
    row = QuotaHistory
    is_wanted = (row.domain_uuid == domain_uuid, row.project_uuid == project_uuid, row.what == "quota")
    last = row.select(fn.MAX(row.number)).where(*is_wanted).group_by(row.service_type, row.resource_name)
    return row.select(row.number, *_COLUMNS).where(row.number.in_(last))


def latest(engine: Engine, domain_uuid: str, project_uuid: str) -> dict[Ref, NumberedChange]:
    """Returns the last change of each quota of a project, or of a domain."""
    changes = _latest(engine, domain_uuid, project_uuid)
    return {(change.row.service_type, change.row.resource_name): change for change in changes}


class OverridePlace(NamedTuple):
    """A resource of a project, by UUIDs and names."""

    domain_uuid: str
    project_uuid: str
    service_type: str
    resource_name: str


@mapping(OverridePlace, int)
def overrides() -> Node:
    """What the quotas of projects are pinned to, as was last recorded."""
    row = QuotaHistory
    place = [getattr(row, name) for name in OverridePlace._fields]
    last = row.select(fn.MAX(row.number)).where(row.what == OVERRIDE).group_by(*place)
    return row.select(*place, row.new).where(row.number.in_(last), row.new.is_null(False))


@tuples(tuple[int, float])
def _oldest(limit: int) -> Node:
    """Without overrides: the last ones say what is in force."""
    row = QuotaHistory
    return row.select(row.number, row.at).where(row.what != OVERRIDE).order_by(row.number).limit(limit)


@writes_for("numbers")
def _delete(numbers: Collection[int]) -> Node:
    return QuotaHistory.delete().where(any_of(QuotaHistory.number, numbers))


def forget_before(engine: Engine, time: float, limit: int) -> int:
    """Deletes at most `limit` changes from before that time. Returns how many."""
    return _delete(engine, [number for number, at in _oldest(engine, limit) if at < time])
