"""Sums of quota, usage and commitments over the projects of a domain or of the cluster, by resource and by AZ.

A `key` is the id of the project or domain that a sum is about, and 0 for the cluster.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import peewee
from peewee import JOIN, Case, Value, fn

from limes.core.catalog import ANY_AZ, UNKNOWN_AZ, Ref
from limes.core.commitments.commitment import Status
from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import (
    Commitment,
    Project,
    ProjectAZQuota,
    ProjectAZResource,
    ProjectResource,
    Resource,
    Service,
)

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


class ResourceSum(NamedTuple):
    """Sums over projects for one resource."""

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


class AZUsageSum(NamedTuple):
    """Usage of all projects in one AZ."""

    key: int
    resource_id: int
    az: str
    usage: int
    physical_usage: int
    """Projects without a physical usage count with their usage."""
    has_physical_usage: bool


class CommittedSum(NamedTuple):
    """What is committed for one duration."""

    key: int
    resource_id: int
    az: str
    status: str
    duration: str
    amount: int


# -- what the queries are made of --------------------------------------------------------------------------------------

_KEYS: dict[Level, Any] = {"project": Project.id, "domain": Project.domain, "cluster": Value(0)}


def _group(query: Select, by: Level, *columns: peewee.Node) -> Select:
    """Groups by the key and these columns. A constant cannot be grouped by."""
    return query.group_by(*columns) if by == "cluster" else query.group_by(_KEYS[by], *columns)


def _where(query: Select, p: Parameters, kind: Level, *conditions: Any) -> Select:
    """Adds the conditions, and that a project is one of those asked for."""
    return query.where(*conditions) if kind == "cluster" else query.where(*conditions, any_of(_KEYS[kind], p.ids))


def _join_projects(query: Select, project: Any, by: Level, kind: Level) -> Select:
    """Joins the projects where they are needed. Sums of the whole cluster read hundreds of thousands of rows, and do
    not ask whose they are."""
    return query if by == kind == "cluster" else query.join(Project, on=Project.id == project)


# -- by resource -------------------------------------------------------------------------------------------------------


@cache
def _resource_sums(by: Level, kind: Level) -> Compiled:
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
    query = _join_projects(query, row.project, by, kind)
    return compiled(lambda p: _group(_where(query, p, kind, any_of(row.resource, p.resources)), by, row.resource))


def resource_sums(engine: Engine, resources: Sequence[int], by: Level, among: Among) -> list[ResourceSum]:
    """Returns sums over projects for each resource."""
    if not resources:
        return []
    return engine.all(_resource_sums(by, among.kind), ResourceSum, resources=resources, ids=among.ids)


# -- usage by AZ -------------------------------------------------------------------------------------------------------

_USAGE = ProjectAZResource
_USAGE_BY_AZ = compiled(
    lambda p: (
        _USAGE.select(_USAGE.resource_id, _USAGE.az, fn.SUM(_USAGE.usage))
        .where(any_of(_USAGE.resource_id, p.resources))
        .group_by(_USAGE.resource_id, _USAGE.az)
    )
)


def usage_by_az(engine: Engine, resources: Sequence[int]) -> dict[tuple[int, str], int]:
    """Returns usage of all projects together, by resource id and AZ. What no project has reported on is missing."""
    if not resources:
        return {}
    return {(resource, az): usage for resource, az, usage in engine.tuples(_USAGE_BY_AZ, resources=resources)}


@cache
def _az_usage_sums(by: Level, kind: Level) -> Compiled:
    query = _USAGE.select(
        _KEYS[by],
        _USAGE.resource_id,
        _USAGE.az,
        fn.SUM(_USAGE.usage),
        fn.SUM(fn.COALESCE(_USAGE.physical_usage, _USAGE.usage)),
        fn.MAX(_USAGE.physical_usage).is_null(False),
    )
    query = _join_projects(query, _USAGE.project_id, by, kind)
    return compiled(
        lambda p: _group(
            _where(query, p, kind, any_of(_USAGE.resource_id, p.resources)), by, _USAGE.resource_id, _USAGE.az
        )
    )


def az_usage_sums(engine: Engine, resources: Sequence[int], by: Level, among: Among) -> list[AZUsageSum]:
    """Returns usage over projects for each resource and AZ."""
    return engine.all(_az_usage_sums(by, among.kind), AZUsageSum, resources=resources, ids=among.ids)


@cache
def _az_quota_sums(by: Level, kind: Level) -> Compiled:
    row = ProjectAZQuota
    query = _join_projects(row.select(_KEYS[by], row.resource_id, row.az, fn.SUM(row.quota)), row.project_id, by, kind)
    return compiled(
        lambda p: _group(_where(query, p, kind, any_of(row.resource_id, p.resources)), by, row.resource_id, row.az)
    )


def az_quota_sums(engine: Engine, resources: Sequence[int], by: Level, among: Among) -> dict[tuple[int, int, str], int]:
    """Returns quota over projects by key, resource id and AZ. It is only known by AZ where it grows by itself."""
    rows = engine.tuples(_az_quota_sums(by, among.kind), resources=resources, ids=among.ids)
    return {(key, resource, az): int(quota) for key, resource, az, quota in rows}


_UNPLACED = compiled(
    lambda p: (
        _USAGE.select(Service.type, Resource.name, fn.SUM(_USAGE.usage), fn.COUNT(_USAGE.project_id.distinct()))
        .join(Resource, on=Resource.id == _USAGE.resource_id)
        .join(Service)
        .where(_USAGE.az.in_([ANY_AZ, UNKNOWN_AZ]), _USAGE.usage > 0)
        .group_by(Service.type, Resource.name)
    )
)


def unplaced_usage(engine: Engine) -> dict[Ref, tuple[int, int]]:
    """Returns what is used in AZs that are not known, and in how many projects."""
    rows = engine.tuples(_UNPLACED)
    return {(service_type, name): (int(usage), int(projects)) for service_type, name, usage, projects in rows}


# -- commitments by AZ -------------------------------------------------------------------------------------------------


@cache
def _committed_sums(by: Level, kind: Level) -> Compiled:
    live = [Status.PLANNED.value, Status.PENDING.value, Status.CONFIRMED.value]
    columns = (Commitment.resource, Commitment.az, Commitment.status, Commitment.duration)
    query = Commitment.select(_KEYS[by], *columns, fn.SUM(Commitment.amount)).join(Project)

    def build(p: Parameters) -> peewee.Query:
        is_live = Commitment.status.in_(live) & (Commitment.expires_at > p.now)
        return _group(_where(query, p, kind, is_live, any_of(Commitment.resource, p.resources)), by, *columns)

    return compiled(build)


def committed_sums(engine: Engine, resources: Sequence[int], now: float, by: Level, among: Among) -> list[CommittedSum]:
    """Returns commitments that have not ended, by status and duration."""
    query = _committed_sums(by, among.kind)
    return engine.all(query, CommittedSum, resources=resources, now=now, ids=among.ids)


def _confirmed(p: Parameters, *columns: peewee.Field) -> Select:
    """Returns what is confirmed now, summed up by these columns, as the source `committed`."""
    return (
        Commitment.select(*columns, fn.SUM(Commitment.amount).alias("amount"))
        .where(
            any_of(Commitment.resource, p.resources),
            Commitment.status == Status.CONFIRMED.value,
            Commitment.expires_at > p.now,
        )
        .group_by(*columns)
        .alias("committed")
    )


@cache
def _unused_commitments(by: Level, kind: Level) -> Compiled:
    def build(p: Parameters) -> peewee.Query:
        committed = _confirmed(p, Commitment.project, Commitment.resource, Commitment.az)
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
        query = _where(query, p, kind, committed.c.amount > usage)
        return _group(query, by, committed.c.resource_id, committed.c.az)

    return compiled(build)


def unused_commitments(
    engine: Engine, resources: Sequence[int], now: float, by: Level, among: Among
) -> dict[tuple[int, int, str], int]:
    """Returns what projects have committed to but do not use, by key, resource id and AZ."""
    query = _unused_commitments(by, among.kind)
    rows = engine.tuples(query, resources=resources, now=now, ids=among.ids)
    return {(key, resource, az): amount for key, resource, az, amount in rows}


def _unused_overall(p: Parameters) -> peewee.Query:
    committed = _confirmed(p, Commitment.project, Commitment.resource)
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


_UNUSED_OVERALL = compiled(_unused_overall)


def unused_commitments_overall(engine: Engine, resources: Sequence[int], now: float) -> dict[int, int]:
    """Returns what projects have committed to beyond what they use in all AZs together, by resource id."""
    return dict(engine.tuples(_UNUSED_OVERALL, resources=resources, now=now)) if resources else {}
