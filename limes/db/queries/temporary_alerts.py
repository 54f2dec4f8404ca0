"""Temporary quotas that somebody should know of: those that end soon, and those that could not begin or be given back.

Each query is for the whole cluster, one domain with its projects, or one project, as its `Scope` says.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import peewee
from peewee import JOIN, Case, fn

from limes.core.alerts import AlertRules, Kind
from limes.core.temporary_quota import TemporaryState
from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Domain, DomainResource, Project, ProjectResource, TemporaryQuota
from limes.db.queries.attention import PLACE, PlacedRow, Scope
from limes.db.queries.temporary_quotas import TEMPORARY_COLUMNS, TemporaryRow


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


def _needing(p: Parameters, level: str, *columns: Any) -> Select:
    ends_soon = (
        (_ROW.state == TemporaryState.ACTIVE.value)
        & (_ROW.until <= p.now + p.lead)
        & (_ROW.until - _ROW.starts_at >= 2 * p.lead)
    )
    waits = (_ROW.state == TemporaryState.PLANNED.value) & (_ROW.problem != "")
    query = (
        _ROW.select(*columns)
        .join(Domain)
        .switch(_ROW)
        .join(Project, JOIN.LEFT_OUTER, on=(_ROW.project == Project.id))
        .where(any_of(_ROW.resource, p.resources), (_ROW.state == TemporaryState.OVER.value) | waits | ends_soon)
    )
    if level == "cluster":
        return query
    return query.where((_ROW.domain if level == "domain" else _ROW.project) == p.scope)


@cache
def _first(level: str) -> Compiled:
    def build(p: Parameters) -> peewee.Query:
        own = (ProjectResource.project == _ROW.project) & (ProjectResource.resource == _ROW.resource)
        above = (DomainResource.domain == _ROW.domain) & (DomainResource.resource == _ROW.resource)
        present = Case(None, [(_ROW.project.is_null(), DomainResource.quota)], ProjectResource.quota)
        return (
            _needing(p, level, *PLACE, _KIND, _ROW.resource, fn.COALESCE(present, 0), *TEMPORARY_COLUMNS)
            .join_from(_ROW, ProjectResource, JOIN.LEFT_OUTER, on=own)
            .join_from(_ROW, DomainResource, JOIN.LEFT_OUTER, on=above)
            .order_by(_ROW.until, _ROW.id)
            .limit(p.limit)
        )

    return compiled(build)


@cache
def _count(level: str) -> Compiled:
    return compiled(
        lambda p: _needing(p, level, _ROW.resource, _KIND, fn.COUNT(_ROW.id)).group_by(_ROW.resource, _ROW.state)
    )


def temporary_alerts(
    engine: Engine, scope: Scope, resources: Sequence[int], rules: AlertRules, now: float, limit: int
) -> list[TemporaryAlertRow]:
    """Returns at most so many, the first to end first."""
    values = {"scope": scope.id, "resources": resources, "now": now, "lead": rules.temporary_quota_ends, "limit": limit}
    rows = engine.tuples(_first(scope.level), **values)
    return [
        TemporaryAlertRow(PlacedRow(*row[:4]), row[4], row[5], int(row[6]), TemporaryRow._make(row[7:])) for row in rows
    ]


def count_temporary_alerts(
    engine: Engine, scope: Scope, resources: Sequence[int], rules: AlertRules, now: float
) -> list[TemporaryAlertCount]:
    """Returns how many there are."""
    values = {"scope": scope.id, "resources": resources, "now": now, "lead": rules.temporary_quota_ends}
    return engine.all(_count(scope.level), TemporaryAlertCount, **values)
