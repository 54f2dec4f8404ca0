"""Quota, usage and commitments as reports show them, summed up over the projects of a domain or of the cluster; by
resource, and by AZ.

A `key` is the id of the project or domain that a sum is about, and 0 for the cluster.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import peewee
from peewee import JOIN, Case, Value, fn

from limes.autogrow.models import ProjectAZQuota
from limes.catalog.catalog import ANY_AZ, UNKNOWN_AZ
from limes.catalog.models import Resource, Service
from limes.commitments.commitment import Status
from limes.commitments.models import Commitment
from limes.db.compiled import Select, any_of
from limes.db.query import Node, mapping, rows
from limes.projects.models import Project, ProjectAZResource, ProjectResource

Level = Literal["project", "domain", "cluster"]


class Among(NamedTuple):
    """The projects whose figures to read: those with these ids, or those of the domains with these ids. None means all
    projects."""

    level: Literal["project", "domain"]
    ids: Sequence[int] | None

    @property
    def kind(self) -> Level:
        """What the ids are of; `cluster` without any."""
        return "cluster" if self.ids is None else self.level


ALL_PROJECTS = Among("domain", None)


class ResourceSum(NamedTuple):
    key: int
    resource_id: int
    quota: int | None
    usage: int
    physical_usage: int
    """Projects without a physical usage count with their usage."""
    has_physical_usage: bool
    burst_usage: int
    backend_quota: int
    has_infinite_backend_quota: bool | None


class UsageSum(NamedTuple):
    usage: int
    physical_usage: int
    """Projects without a physical usage count with their usage."""
    has_physical_usage: bool


# -- what the queries are made of --------------------------------------------------------------------------------------

_KEYS: dict[Level, Any] = {"project": Project.id, "domain": Project.domain, "cluster": Value(0)}


def _group(query: Select, by: Level, *columns: peewee.Node) -> Select:
    """Groups by the key and these columns. A constant cannot be grouped by."""
    return query.group_by(*columns) if by == "cluster" else query.group_by(_KEYS[by], *columns)


def _where(query: Select, among: Among, *conditions: Any) -> Select:
    """Adds the conditions, and that a project is one of those asked for."""
    is_asked_for = () if among.ids is None else (any_of(_KEYS[among.level], among.ids),)
    return query.where(*conditions, *is_asked_for)


def _summed(
    query: Select, row: Any, resources: Sequence[int], by: Level, among: Among, *columns: peewee.Node
) -> Select:
    """Sums up rows of these resources. Joins the projects where they are needed: sums of the whole cluster read
    hundreds of thousands of rows, and do not ask whose they are."""
    if by != "cluster" or among.ids is not None:
        query = query.join(Project, on=Project.id == row.project_id)
    return _group(_where(query, among, any_of(row.resource_id, resources)), by, row.resource_id, *columns)


@rows(ResourceSum, skip_empty="resources")
def resource_sums(resources: Sequence[int], by: Level, among: Among) -> Node:
    row = ProjectResource
    burst = Case(None, [(row.usage > row.quota, row.usage - row.quota)], 0)
    limited = Case(None, [(row.backend_quota > 0, row.backend_quota)], 0)
    query = row.select(
        _KEYS[by],
        row.resource,
        fn.SUM(row.quota),
        fn.SUM(row.usage),
        fn.SUM(fn.COALESCE(row.physical_usage, row.usage)),
        fn.MAX(row.physical_usage).is_null(False),
        fn.SUM(burst),
        fn.SUM(limited),
        fn.MIN(row.backend_quota) < 0,
    )
    return _summed(query, row, resources, by, among)


_USAGE = ProjectAZResource


@mapping(tuple[int, str], int, skip_empty="resources", prepare=True)
def usage_by_az(resources: Sequence[int]) -> Node:
    """Usage of all projects together, by resource id and AZ. What no project has reported on is missing."""
    key = (_USAGE.resource_id, _USAGE.az)
    return _USAGE.select(*key, fn.SUM(_USAGE.usage)).where(any_of(_USAGE.resource_id, resources)).group_by(*key)


@mapping(tuple[int, int, str], UsageSum)
def az_usage_sums(resources: Sequence[int], by: Level, among: Among) -> Node:
    """Usage by key, resource id and AZ."""
    query = _USAGE.select(
        _KEYS[by],
        _USAGE.resource_id,
        _USAGE.az,
        fn.SUM(_USAGE.usage),
        fn.SUM(fn.COALESCE(_USAGE.physical_usage, _USAGE.usage)),
        fn.MAX(_USAGE.physical_usage).is_null(False),
    )
    return _summed(query, _USAGE, resources, by, among, _USAGE.az)


@mapping(tuple[int, int, str], int)
def az_quota_sums(resources: Sequence[int], by: Level, among: Among) -> Node:
    """Quota over projects by key, resource id and AZ. It is only known by AZ where it grows by itself."""
    row = ProjectAZQuota
    query = row.select(_KEYS[by], row.resource_id, row.az, fn.SUM(row.quota))
    return _summed(query, row, resources, by, among, row.az)


@mapping(tuple[str, str], tuple[int, int])
def unplaced_usage() -> Node:
    """What is used in AZs that are not known, and in how many projects."""
    return (
        _USAGE.select(Service.type, Resource.name, fn.SUM(_USAGE.usage), fn.COUNT(_USAGE.project_id.distinct()))
        .join(Resource, on=Resource.id == _USAGE.resource_id)
        .join(Service)
        .where(_USAGE.az.in_([ANY_AZ, UNKNOWN_AZ]), _USAGE.usage > 0)
        .group_by(Service.type, Resource.name)
    )


@mapping(tuple[int, int, str, str, str], int)
def committed_sums(resources: Sequence[int], now: float, by: Level, among: Among) -> Node:
    """Commitments that have not ended, by key, resource id, AZ, status and duration."""
    row = Commitment
    columns = (row.resource, row.az, row.status, row.duration)
    live = row.status.in_([Status.PLANNED.value, Status.PENDING.value, Status.CONFIRMED.value])
    query = row.select(_KEYS[by], *columns, fn.SUM(row.amount)).join(Project)
    return _group(_where(query, among, live & (row.expires_at > now), any_of(row.resource, resources)), by, *columns)


def _confirmed(resources: Sequence[int], now: float, *columns: peewee.Field) -> Select:
    """What is confirmed now, summed up by these columns, as the source `committed`."""
    row = Commitment
    is_confirmed = (row.status == Status.CONFIRMED.value, row.expires_at > now)
    query = row.select(*columns, fn.SUM(row.amount).alias("amount")).where(
        any_of(row.resource, resources), *is_confirmed
    )
    return query.group_by(*columns).alias("committed")


@mapping(tuple[int, int, str], int)
def unused_commitments(resources: Sequence[int], now: float, by: Level, among: Among) -> Node:
    """What projects have committed to but do not use, by key, resource id and AZ."""
    committed = _confirmed(resources, now, Commitment.project, Commitment.resource, Commitment.az)
    usage = fn.COALESCE(_USAGE.usage, 0)
    same = (
        (_USAGE.project_id == committed.c.project_id)
        & (_USAGE.resource_id == committed.c.resource_id)
        & (_USAGE.az == committed.c.az)
    )
    query = (
        Project.select(_KEYS[by], committed.c.resource_id, committed.c.az, fn.SUM(committed.c.amount - usage))
        .join(committed, on=committed.c.project_id == Project.id)
        .join(_USAGE, JOIN.LEFT_OUTER, on=same)
    )
    return _group(_where(query, among, committed.c.amount > usage), by, committed.c.resource_id, committed.c.az)


@mapping(int, int, skip_empty="resources")
def unused_commitments_overall(resources: Sequence[int], now: float) -> Node:
    """What projects have committed to beyond what they use in all AZs together, by resource id."""
    committed = _confirmed(resources, now, Commitment.project, Commitment.resource)
    used = _USAGE.select(fn.COALESCE(fn.SUM(_USAGE.usage), 0)).where(
        _USAGE.project_id == committed.c.project_id, _USAGE.resource_id == committed.c.resource_id
    )
    amount = fn.SUM(Case(None, [(committed.c.amount > used, committed.c.amount - used)], 0))
    return (
        Project.select(committed.c.resource_id, amount)
        .join(committed, on=committed.c.project_id == Project.id)
        .group_by(committed.c.resource_id)
        .having(amount > 0)
    )
