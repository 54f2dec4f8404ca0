"""Temporary quotas that somebody should know of: those that end soon, and those that could not begin or be given back.

Each query is for the whole cluster, one domain with its projects, or one project, as its `Scope` says.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from peewee import JOIN, Case, fn

from limes.core.alerts import Kind
from limes.core.temporary_quota import TemporaryState
from limes.db.compiled import Select, any_of
from limes.db.models import Domain, DomainResource, Project, ProjectResource, TemporaryQuota
from limes.db.queries.attention import PLACE, PlacedRow, Scope
from limes.db.queries.temporary_quotas import TEMPORARY_COLUMNS, TEMPORARY_KINDS, TemporaryRow
from limes.db.query import Node, made, rows


class TemporaryAlertRow(NamedTuple):
    """A temporary quota that is worth an alert. A domain's own has a place without a project."""

    place: PlacedRow
    kind: str
    resource_id: int
    present: int
    """The quota."""
    temporary: TemporaryRow


class TemporaryAlertCount(NamedTuple):
    """How many there are of a resource and kind."""

    resource_id: int
    kind: str
    number: int


_ROW = TemporaryQuota
_KIND = Case(
    _ROW.state,
    [
        (TemporaryState.OVER.value, Kind.TEMPORARY_QUOTA_OVER.value),
        (TemporaryState.PLANNED.value, Kind.TEMPORARY_QUOTA_WAITS.value),
    ],
    Kind.TEMPORARY_QUOTA_ENDS.value,
).alias("kind")


def _needing(scope: Scope, resources: Sequence[int], now: float, lead: float, *columns: Any) -> Select:
    ends_soon = (
        (_ROW.state == TemporaryState.ACTIVE.value)
        & (_ROW.until <= now + lead)
        & (_ROW.until - _ROW.starts_at >= 2 * lead)
    )
    waits = (_ROW.state == TemporaryState.PLANNED.value) & (_ROW.problem != "")
    query = (
        _ROW.select(*columns)
        .join(Domain)
        .switch(_ROW)
        .join(Project, JOIN.LEFT_OUTER, on=(_ROW.project == Project.id))
        .where(any_of(_ROW.resource, resources), (_ROW.state == TemporaryState.OVER.value) | waits | ends_soon)
    )
    if scope.level == "cluster":
        return query
    return query.where((_ROW.domain if scope.level == "domain" else _ROW.project) == scope.id)


def _alert(*row: Any) -> TemporaryAlertRow:
    return TemporaryAlertRow(PlacedRow(*row[:4]), row[4], row[5], row[6], TemporaryRow._make(row[7:]))


@made(_alert, str | None, str | None, str, str, str, int, int, *TEMPORARY_KINDS)
def temporary_alerts(scope: Scope, resources: Sequence[int], lead: float, now: float, limit: int) -> Node:
    """At most so many, the first to end first. Temporary quotas end soon if they end within `lead` seconds."""
    own = (ProjectResource.project == _ROW.project) & (ProjectResource.resource == _ROW.resource)
    above = (DomainResource.domain == _ROW.domain) & (DomainResource.resource == _ROW.resource)
    present = Case(None, [(_ROW.project.is_null(), DomainResource.quota)], ProjectResource.quota)
    columns = (*PLACE, _KIND, _ROW.resource, fn.COALESCE(present, 0), *TEMPORARY_COLUMNS)
    return (
        _needing(scope, resources, now, lead, *columns)
        .join_from(_ROW, ProjectResource, JOIN.LEFT_OUTER, on=own)
        .join_from(_ROW, DomainResource, JOIN.LEFT_OUTER, on=above)
        .order_by(_ROW.until, _ROW.id)
        .limit(limit)
    )


@rows(TemporaryAlertCount)
def count_temporary_alerts(scope: Scope, resources: Sequence[int], lead: float, now: float) -> Node:
    """How many there are."""
    query = _needing(scope, resources, now, lead, _ROW.resource, _KIND, fn.COUNT(_ROW.id))
    return query.group_by(_ROW.resource, _ROW.state)
