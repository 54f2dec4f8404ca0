"""What is near its limit: resources of projects by the use of their quota, and commitments that need somebody.

Each query is for the whole cluster, one domain or one project, as its `Scope` says.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import peewee
from peewee import Case, fn

from limes.core.alerts import AlertRules, Kind
from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Commitment, Domain, Project, ProjectResource
from limes.db.queries.attention import (
    PLACE,
    PlacedRow,
    Scope,
    above_share,
    count_if,
    fullness,
    in_scope,
    renews_itself,
)

# -- quotas ------------------------------------------------------------------------------------------------------------


class UsedRow(NamedTuple):
    """A resource of a project that uses more of its quota than the lower threshold, or nearly as much."""

    project: PlacedRow
    resource_id: int
    quota: int
    usage: int
    level: int
    """2: above the quota, without bursting; 1: above the upper threshold; 0: above the lower one; -1: nearly."""


class UsedCount(NamedTuple):
    """How many of these there are of a resource. Each count includes the next one."""

    resource_id: int
    above_warning: int
    above_critical: int
    above_quota: int


_QUOTA, _USAGE = ProjectResource.quota, ProjectResource.usage
_IS_ABOVE = (_USAGE > _QUOTA) & ~Project.has_bursting
"""Projects with bursting may use more than their quota for a while."""


@cache
def _most_used(level: str) -> Compiled:
    def build(p: Parameters) -> peewee.Query:
        steps = [(_IS_ABOVE, 2), (_QUOTA * p.critical < _USAGE, 1), (_QUOTA * p.warning < _USAGE, 0)]
        reached = Case(None, steps, -1)
        query = above_share(p, level, p.near, *PLACE, ProjectResource.resource, _QUOTA, _USAGE, reached)
        return query.order_by(fullness().desc(), _USAGE.desc(), Domain.name, Project.name).limit(p.limit)

    return compiled(build)


@cache
def _count_used(level: str) -> Compiled:
    resource = ProjectResource.resource

    def build(p: Parameters) -> peewee.Query:
        counts = (fn.COUNT(resource), count_if(_QUOTA * p.critical < _USAGE), count_if(_IS_ABOVE))
        return above_share(p, level, p.warning, resource, *counts).group_by(resource)

    return compiled(build)


def most_used(
    engine: Engine, scope: Scope, resources: Sequence[int], shares: tuple[float, float, float], limit: int
) -> list[UsedRow]:
    """Returns resources of which projects use more than the first of these shares of their quota, fullest first. The
    others are the thresholds."""
    values = dict(zip(("near", "warning", "critical"), shares, strict=True))
    rows = engine.tuples(_most_used(scope.level), scope=scope.id, resources=resources, limit=limit, **values)
    return [UsedRow(PlacedRow(*row[:4]), *row[4:]) for row in rows]


def count_used(engine: Engine, scope: Scope, resources: Sequence[int], shares: tuple[float, float]) -> list[UsedCount]:
    """Returns how many there are, by resource."""
    values = {"scope": scope.id, "resources": resources, "warning": shares[0], "critical": shares[1]}
    return engine.all(_count_used(scope.level), UsedCount, **values)


# -- commitments -------------------------------------------------------------------------------------------------------


class CommitmentRow(NamedTuple):
    """A commitment that needs somebody. Times are seconds since the epoch."""

    project: PlacedRow
    id: int
    uuid: str
    resource_id: int
    az: str
    amount: int
    duration: str
    confirm_by: float | None
    expires_at: float
    renewal_error: str
    kind: str
    is_critical: int


class CommitmentCount(NamedTuple):
    """How many there are of a resource."""

    resource_id: int
    unconfirmed: int
    renewal_failed: int
    expiring: int
    """Those that end soon, including the next one."""
    expiring_critical: int


_ROW = Commitment
_TERM = _ROW.expires_at - fn.COALESCE(_ROW.confirm_by, _ROW.confirmed_at, _ROW.created_at)
_IS_UNCONFIRMED = _ROW.status == "pending"
"""Whoever settles commitments has found no capacity for it. Nobody has looked for those that are still planned."""
_HAS_FAILED = (_ROW.status == "confirmed") & _ROW.auto_renews & (_ROW.renewal_error != "")


def _ends(when: Any, term: Any) -> Any:
    is_confirmed = _ROW.status == "confirmed"
    return is_confirmed & (_ROW.expires_at <= when) & (term <= _TERM) & ~renews_itself(_ROW) & ~_HAS_FAILED


def _needing(p: Parameters, level: str, *columns: Any) -> Select:
    following = Commitment.alias("following")
    is_renewed = fn.EXISTS(
        following.select(following.id).where(
            following.predecessor == _ROW.id, following.status.in_(["planned", "pending", "confirmed"])
        )
    )
    is_ending = (_ends(p.warning, p.warning_term) | _ends(p.critical, p.critical_term) | _HAS_FAILED) & ~is_renewed
    query = (
        _ROW.select(*columns)
        .join(Project)
        .join(Domain)
        .where(any_of(_ROW.resource, p.resources), _ROW.expires_at > p.now, _IS_UNCONFIRMED | is_ending)
    )
    return in_scope(query, p, level)


@cache
def _needing_first(level: str) -> Compiled:
    def build(p: Parameters) -> peewee.Query:
        kind = Case(
            None,
            [(_IS_UNCONFIRMED, Kind.COMMITMENT_UNCONFIRMED.value), (_HAS_FAILED, Kind.AUTO_RENEWAL_FAILED.value)],
            Kind.COMMITMENT_EXPIRES.value,
        )
        is_critical = Case(None, [(_IS_UNCONFIRMED, 1), (_HAS_FAILED, 1), (_ends(p.critical, p.critical_term), 1)], 0)
        columns = (
            *(*PLACE, _ROW.id, _ROW.uuid, _ROW.resource, _ROW.az, _ROW.amount, _ROW.duration),
            *(
                _ROW.confirm_by,
                _ROW.expires_at,
                _ROW.renewal_error,
                kind.alias("kind"),
                is_critical.alias("is_critical"),
            ),
        )
        order = (is_critical.desc(), _ROW.expires_at, _ROW.id)
        return _needing(p, level, *columns).order_by(*order).limit(p.limit)

    return compiled(build)


@cache
def _count_needing(level: str) -> Compiled:
    def build(p: Parameters) -> peewee.Query:
        soon, very_soon = (p.warning, p.warning_term), (p.critical, p.critical_term)
        counts = (
            count_if(_IS_UNCONFIRMED),
            count_if(_HAS_FAILED),
            count_if(_ends(*soon) | _ends(*very_soon)),
            count_if(_ends(*very_soon)),
        )
        return _needing(p, level, _ROW.resource, *counts).group_by(_ROW.resource)

    return compiled(build)


def _times(rules: AlertRules, now: float) -> Mapping[str, float]:
    return {
        "now": now,
        "warning": now + rules.expiry_warning,
        "warning_term": 2 * rules.expiry_warning,
        "critical": now + rules.expiry_critical,
        "critical_term": 2 * rules.expiry_critical,
    }


def commitments(
    engine: Engine, scope: Scope, resources: Sequence[int], rules: AlertRules, now: float, limit: int
) -> list[CommitmentRow]:
    """Returns commitments that end soon, could not be confirmed by their date or not be renewed: the critical ones
    first, then by their end. Those that were renewed, and those that will renew themselves, are left out."""
    values = {"scope": scope.id, "resources": resources, "limit": limit, **_times(rules, now)}
    rows = engine.tuples(_needing_first(scope.level), **values)
    return [CommitmentRow(PlacedRow(*row[:4]), *row[4:]) for row in rows]


def count_commitments(
    engine: Engine, scope: Scope, resources: Sequence[int], rules: AlertRules, now: float
) -> list[CommitmentCount]:
    """Returns how many there are, by resource."""
    values = {"scope": scope.id, "resources": resources, **_times(rules, now)}
    return engine.all(_count_needing(scope.level), CommitmentCount, **values)
