"""What is near its limit: resources of projects by the use of their quota, commitments that need attention, and
temporary quotas that end soon, or could not begin or be given back.

Each query is for the whole cluster, one domain or one project, as its `Scope` says.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from peewee import JOIN, Case, fn

from limes.commitments import queries as commitments_conditions
from limes.commitments.models import Commitment
from limes.db.compiled import Select, any_of
from limes.db.query import Node, made, rows
from limes.notifications.alerts import AlertRules, Kind
from limes.projects import scope as projects_scope
from limes.projects.models import Domain, DomainResource, Project, ProjectResource
from limes.projects.scope import PLACE, PlacedRow, Scope
from limes.quota import models, temporary_queries
from limes.quota.temporary import TemporaryQuota as Temporary
from limes.quota.temporary import TemporaryState
from limes.reports import attention_queries
from limes.reports import attention_queries as attention

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


class Shares(NamedTuple):
    """The thresholds, as parts of the quota, and from where on a use is near the lower one."""

    near: float
    warning: float
    critical: float


_QUOTA, _USAGE = ProjectResource.quota, ProjectResource.usage
_IS_ABOVE = (_USAGE > _QUOTA) & ~Project.has_bursting
"""Projects with bursting may use more than their quota for a while."""


@projects_scope.placed(UsedRow, int, int, int, int)
def most_used(scope: Scope, resources: Sequence[int], shares: Shares, limit: int) -> Node:
    """Resources where projects use nearly the lower share of their quota, or more, fullest first."""
    steps = [(_IS_ABOVE, 2), (_QUOTA * shares.critical < _USAGE, 1), (_QUOTA * shares.warning < _USAGE, 0)]
    columns = (*PLACE, ProjectResource.resource, _QUOTA, _USAGE, Case(None, steps, -1))
    query = attention.above_share(scope, resources, shares.near, *columns)
    return query.order_by(attention.fullness().desc(), _USAGE.desc(), Domain.name, Project.name).limit(limit)


@rows(UsedCount)
def count_used(scope: Scope, resources: Sequence[int], shares: Shares) -> Node:
    resource = ProjectResource.resource
    counts = (fn.COUNT(resource), attention.count_if(_QUOTA * shares.critical < _USAGE), attention.count_if(_IS_ABOVE))
    return attention.above_share(scope, resources, shares.warning, resource, *counts).group_by(resource)


# -- commitments -------------------------------------------------------------------------------------------------------


class CommitmentRow(NamedTuple):
    commitment: attention_queries.EndingRow
    confirm_by: float | None
    renewal_error: str
    kind: str
    is_critical: int


class CommitmentCount(NamedTuple):
    resource_id: int
    unconfirmed: int
    renewal_failed: int
    expiring: int
    """The ones that end soon, including the next one."""
    expiring_critical: int


_ROW = Commitment
_TERM = _ROW.expires_at - fn.COALESCE(_ROW.confirm_by, _ROW.confirmed_at, _ROW.created_at)
_IS_UNCONFIRMED = _ROW.status == "pending"
"""No capacity was found for it. For ones that are still planned, this was not tried yet."""
_HAS_FAILED = (_ROW.status == "confirmed") & _ROW.auto_renews & (_ROW.renewal_error != "")


class Times(NamedTuple):
    """The times before which commitments end soon, and very soon. Short ones, by their whole term, never do."""

    now: float
    warning: float
    warning_term: float
    critical: float
    critical_term: float

    @classmethod
    def of(cls, rules: AlertRules, now: float) -> "Times":
        soon, very_soon = rules.expiry_warning, rules.expiry_critical
        return cls(now, now + soon, 2 * soon, now + very_soon, 2 * very_soon)

    def ends_soon(self) -> Any:
        return _ends(self.warning, self.warning_term) | self.ends_very_soon()

    def ends_very_soon(self) -> Any:
        return _ends(self.critical, self.critical_term)


def _ends(when: float, term: float) -> Any:
    is_confirmed = _ROW.status == "confirmed"
    return (
        is_confirmed
        & (_ROW.expires_at <= when)
        & (term <= _TERM)
        & ~commitments_conditions.renews_itself(_ROW)
        & ~_HAS_FAILED
    )


def _needing(scope: Scope, resources: Sequence[int], times: Times, *columns: Any) -> Select:
    needs_somebody = _IS_UNCONFIRMED | ((times.ends_soon() | _HAS_FAILED) & ~commitments_conditions.was_renewed(_ROW))
    is_wanted = (any_of(_ROW.resource, resources), _ROW.expires_at > times.now, needs_somebody)
    return projects_scope.in_scope(_ROW.select(*columns).join(Project).join(Domain).where(*is_wanted), scope)


def _commitment(*row: Any) -> CommitmentRow:
    return CommitmentRow(attention_queries.EndingRow(PlacedRow(*row[:4]), *row[4:11]), *row[11:])


@made(_commitment, *[str] * 4, int, str, int, str, int, str, float, float | None, str, str, int)
def commitments(scope: Scope, resources: Sequence[int], times: Times, limit: int) -> Node:
    """Commitments that end soon, could not be confirmed by their date or not be renewed: the critical ones first, then
    by their end. Ones that were renewed, and ones that will renew themselves, are left out."""
    kind = Case(
        None,
        [(_IS_UNCONFIRMED, Kind.COMMITMENT_UNCONFIRMED.value), (_HAS_FAILED, Kind.AUTO_RENEWAL_FAILED.value)],
        Kind.COMMITMENT_EXPIRES.value,
    )
    is_critical = Case(None, [(_IS_UNCONFIRMED, 1), (_HAS_FAILED, 1), (times.ends_very_soon(), 1)], 0)
    more = (_ROW.confirm_by, _ROW.renewal_error, kind.alias("kind"), is_critical.alias("is_critical"))
    query = _needing(scope, resources, times, *attention.ENDING, *more)
    return query.order_by(is_critical.desc(), _ROW.expires_at, _ROW.id).limit(limit)


@rows(CommitmentCount)
def count_commitments(scope: Scope, resources: Sequence[int], times: Times) -> Node:
    counts = map(attention.count_if, (_IS_UNCONFIRMED, _HAS_FAILED, times.ends_soon(), times.ends_very_soon()))
    return _needing(scope, resources, times, _ROW.resource, *counts).group_by(_ROW.resource)


# -- temporary quotas --------------------------------------------------------------------------------------------------


class TemporaryAlertRow(NamedTuple):
    """A temporary quota that is worth an alert. A domain's own has a place without a project."""

    place: PlacedRow
    kind: str
    resource_id: int
    present: int
    temporary: Temporary


class TemporaryAlertCount(NamedTuple):
    resource_id: int
    kind: str
    number: int


_TEMPORARY = models.TemporaryQuota
_KIND = Case(
    _TEMPORARY.state,
    [
        (TemporaryState.OVER.value, Kind.TEMPORARY_QUOTA_OVER.value),
        (TemporaryState.PLANNED.value, Kind.TEMPORARY_QUOTA_WAITS.value),
    ],
    Kind.TEMPORARY_QUOTA_ENDS.value,
).alias("kind")


def _needing_temporary(scope: Scope, resources: Sequence[int], now: float, lead: float, *columns: Any) -> Select:
    ends_soon = (
        (_TEMPORARY.state == TemporaryState.ACTIVE.value)
        & (_TEMPORARY.until <= now + lead)
        & (_TEMPORARY.until - _TEMPORARY.starts_at >= 2 * lead)
    )
    is_over = _TEMPORARY.state == TemporaryState.OVER.value
    waits = (_TEMPORARY.state == TemporaryState.PLANNED.value) & (_TEMPORARY.problem != "")
    query = (
        _TEMPORARY.select(*columns)
        .join(Domain)
        .switch(_TEMPORARY)
        .join(Project, JOIN.LEFT_OUTER, on=(_TEMPORARY.project == Project.id))
        .where(any_of(_TEMPORARY.resource, resources), is_over | waits | ends_soon)
    )
    if scope.level == "cluster":
        return query
    return query.where((_TEMPORARY.domain if scope.level == "domain" else _TEMPORARY.project) == scope.id)


def _temporary(*row: Any) -> TemporaryAlertRow:
    return TemporaryAlertRow(PlacedRow(*row[:4]), row[4], row[5], row[6], temporary_queries.temporary_of(*row[7:]))


@made(_temporary, str | None, str | None, str, str, str, int, int, *temporary_queries.TEMPORARY_KINDS)
def temporary_alerts(scope: Scope, resources: Sequence[int], lead: float, now: float, limit: int) -> Node:
    """At most `limit`, the first to end first. Temporary quotas end soon if they end within `lead` seconds."""
    own = (ProjectResource.project == _TEMPORARY.project) & (ProjectResource.resource == _TEMPORARY.resource)
    above = (DomainResource.domain == _TEMPORARY.domain) & (DomainResource.resource == _TEMPORARY.resource)
    present = Case(None, [(_TEMPORARY.project.is_null(), DomainResource.quota)], ProjectResource.quota)
    columns = (*PLACE, _KIND, _TEMPORARY.resource, fn.COALESCE(present, 0), *temporary_queries.TEMPORARY_COLUMNS)
    return (
        _needing_temporary(scope, resources, now, lead, *columns)
        .join_from(_TEMPORARY, ProjectResource, JOIN.LEFT_OUTER, on=own)
        .join_from(_TEMPORARY, DomainResource, JOIN.LEFT_OUTER, on=above)
        .order_by(_TEMPORARY.until, _TEMPORARY.id)
        .limit(limit)
    )


@rows(TemporaryAlertCount)
def count_temporary_alerts(scope: Scope, resources: Sequence[int], lead: float, now: float) -> Node:
    query = _needing_temporary(scope, resources, now, lead, _TEMPORARY.resource, _KIND, fn.COUNT(_TEMPORARY.id))
    return query.group_by(_TEMPORARY.resource, _TEMPORARY.state)
