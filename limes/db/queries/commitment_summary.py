"""Commitments of many projects, summed up by resource and AZ."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from peewee import JOIN, Case, fn

from limes.core.commitments.commitment import LIVE, Status
from limes.db.compiled import any_of
from limes.db.models import Commitment, Project, ProjectAZResource, ProjectResource
from limes.db.queries.attention import Scope, in_scope, renews_itself
from limes.db.query import Node, rows


class LiveSum(NamedTuple):
    """Commitments of one status in one AZ that have not ended."""

    resource_id: int
    az: str
    status: str
    amount: int
    number: int
    """How many commitments these are."""
    expiring: int
    """The amount of those that end before the time asked about and were not renewed."""


class UseSum(NamedTuple):
    """Confirmed commitments in one AZ, and how much of them is used: each project uses its own only."""

    resource_id: int
    az: str
    used: int
    projects: int


def _is_live(now: float) -> Any:
    return Commitment.status.in_(sorted(LIVE)) & (Commitment.expires_at > now)


@rows(LiveSum)
def live_sums(scope: Scope, resources: Sequence[int], now: float, until: float) -> Node:
    """The sums of commitments that have not ended, and of what ends before `until`."""
    row, following = Commitment, Commitment.alias()
    is_renewed = fn.EXISTS(
        following.select(following.id).where(following.predecessor == row.id, following.status.in_(sorted(LIVE)))
    )
    is_ending = (row.expires_at <= until) & ~is_renewed & ~renews_itself(row)
    expiring = Case(None, [(is_ending, row.amount)], 0)
    query = (
        row.select(row.resource, row.az, row.status, fn.SUM(row.amount), fn.COUNT(row.id), fn.SUM(expiring))
        .join(Project)
        .where(_is_live(now), any_of(row.resource, resources))
        .group_by(row.resource, row.az, row.status)
    )
    return in_scope(query, scope)


@rows(UseSum, skip_empty="resources")
def use_sums(scope: Scope, resources: Sequence[int], now: float, *, is_pooled: bool) -> Node:
    """How much of what is confirmed is used, of resources that are committed to in single AZs, or (`is_pooled`) in all
    AZs together."""
    row = Commitment
    usage: Any = ProjectResource if is_pooled else ProjectAZResource
    committed = (
        row.select(row.project, row.resource, row.az, fn.SUM(row.amount).alias("amount"))
        .where(_is_live(now), row.status == Status.CONFIRMED.value, any_of(row.resource, resources))
        .group_by(row.project, row.resource, row.az)
        .alias("committed")
    )
    same = (usage.project_id == committed.c.project_id) & (usage.resource_id == committed.c.resource_id)
    if not is_pooled:
        same &= usage.az == committed.c.az
    used = fn.COALESCE(usage.usage, 0)
    within = Case(None, [(used < committed.c.amount, used)], committed.c.amount)
    query = (
        Project.select(committed.c.resource_id, committed.c.az, fn.SUM(within), fn.COUNT(Project.id))
        .join(committed, on=committed.c.project_id == Project.id)
        .join(usage, JOIN.LEFT_OUTER, on=same)
        .group_by(committed.c.resource_id, committed.c.az)
    )
    return in_scope(query, scope)
