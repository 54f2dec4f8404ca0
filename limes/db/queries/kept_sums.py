"""Sums over the projects of domains and of the cluster, as the reports and decisions read them.

PostgreSQL keeps them (`limes.db.models.kept_sums`, docs/adr/0024), so that reading them takes as long in a large cloud
as in a small one. On SQLite they are computed from the rows of the projects each time (`project_sums`).

Kept sums know no time. Commitments that have ended count until they are settled, so they are subtracted here: they are
few, and none where the caller has settled the resource.
"""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, NamedTuple

import peewee
from peewee import Case, Select, Value, fn

from limes.core.catalog import ANY_AZ
from limes.core.commitments.commitment import LIVE, Status
from limes.db.compiled import Compiled, Parameters, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Commitment, Project, ProjectAZResource
from limes.db.models.kept_sums import ALL_DOMAINS, CommitmentSum, ProjectSum, UnusedCommitment
from limes.db.queries import project_sums
from limes.db.queries.project_sums import Among, AZUsageSum, CommittedSum, Level, ResourceSum

_ALL_AZS = ""
"""What the rows about all AZs together have as their AZ."""


def are_kept(engine: Engine) -> bool:
    """Returns whether this database keeps sums."""
    return engine.dialect == "postgresql"


def _are_kept(engine: Engine, by: Level, among: Among) -> bool:
    return are_kept(engine) and by != "project" and among.kind != "project"


def _where(query: Any, p: Parameters, kind: Level, domain: Any, *conditions: Any) -> Any:
    if kind != "cluster":
        conditions = (*conditions, any_of(domain, p.ids))
    return query.where(*conditions) if conditions else query


def _where_kept(query: Any, p: Parameters, by: Level, kind: Level, kept: Any, *conditions: Any) -> Any:
    """The rows of these domains. Over all of them, there are ready sums."""
    if kind != "cluster":
        return query.where(*conditions, any_of(kept.domain_id, p.ids))
    return query.where(*conditions, _all_together(kept) if by == "cluster" else kept.domain_id != ALL_DOMAINS)


def _all_together(kept: Any) -> Any:
    return (kept.domain_id == ALL_DOMAINS) | kept.is_change


def _key(by: Level, domain: Any) -> Any:
    return Value(0) if by == "cluster" else domain


def _group(query: Any, by: Level, domain: Any, *columns: Any) -> Any:
    return query.group_by(*columns) if by == "cluster" else query.group_by(domain, *columns)


# -- quota and usage ---------------------------------------------------------------------------------------------------

_SUM = ProjectSum


def _unless_none(count: peewee.Field, value: Any) -> Any:
    return Case(None, [(fn.SUM(count) > 0, value)])


@cache
def _resource_sums(by: Level, kind: Level) -> Compiled:
    query = _SUM.select(
        _key(by, _SUM.domain_id),
        _SUM.resource_id,
        _unless_none(_SUM.quotas, fn.SUM(_SUM.quota)),
        fn.SUM(_SUM.usage),
        fn.SUM(_SUM.physical_usage),
        fn.SUM(_SUM.physical_usages) > 0,
        fn.SUM(_SUM.burst_usage),
        fn.SUM(_SUM.backend_quota),
        _unless_none(_SUM.backend_quotas, fn.SUM(_SUM.infinite_backend_quotas) > 0),
    ).having(fn.SUM(_SUM.projects) > 0)
    query = _group(query, by, _SUM.domain_id, _SUM.resource_id)
    return compiled(
        lambda p: _where_kept(query, p, by, kind, _SUM, any_of(_SUM.resource_id, p.resources), _SUM.az == _ALL_AZS)
    )


def resource_sums(engine: Engine, resources: Sequence[int], by: Level, among: Among) -> list[ResourceSum]:
    """Returns sums over projects for each resource."""
    if not _are_kept(engine, by, among):
        return project_sums.resource_sums(engine, resources, by, among)
    return engine.all(_resource_sums(by, among.kind), ResourceSum, resources=resources, ids=among.ids)


def select_quotas(p: Parameters) -> Any:
    """Selects the sum of project quotas by domain and resource, as the source `sums`. To be used where sums are
    kept."""
    key = (_SUM.domain_id, _SUM.resource_id)
    quota = fn.SUM(_SUM.quota).alias("quota")
    is_wanted = (any_of(_SUM.resource_id, p.resources), _SUM.az == _ALL_AZS, _SUM.domain_id != ALL_DOMAINS)
    return _SUM.select(*key, quota).where(*is_wanted).group_by(*key).alias("sums")


@cache
def _az_usage_sums(by: Level, kind: Level) -> Compiled:
    query = _SUM.select(
        _key(by, _SUM.domain_id),
        _SUM.resource_id,
        _SUM.az,
        fn.SUM(_SUM.usage),
        fn.SUM(_SUM.physical_usage),
        fn.SUM(_SUM.physical_usages) > 0,
    ).having(fn.SUM(_SUM.projects) > 0)
    query = _group(query, by, _SUM.domain_id, _SUM.resource_id, _SUM.az)
    return compiled(
        lambda p: _where_kept(query, p, by, kind, _SUM, any_of(_SUM.resource_id, p.resources), _SUM.az != _ALL_AZS)
    )


def az_usage_sums(engine: Engine, resources: Sequence[int], by: Level, among: Among) -> list[AZUsageSum]:
    """Returns usage over projects for each resource and AZ."""
    if not _are_kept(engine, by, among):
        return project_sums.az_usage_sums(engine, resources, by, among)
    return engine.all(_az_usage_sums(by, among.kind), AZUsageSum, resources=resources, ids=among.ids)


def usage_by_az(engine: Engine, resources: Sequence[int]) -> dict[tuple[int, str], int]:
    """Returns usage of all projects together, by resource id and AZ. What no project has reported on is missing."""
    if not are_kept(engine):
        return project_sums.usage_by_az(engine, resources)
    sums = az_usage_sums(engine, resources, "cluster", Among("domain", None)) if resources else []
    return {(row.resource_id, row.az): row.usage for row in sums}


# -- commitments -------------------------------------------------------------------------------------------------------

_STATUSES = sorted(status.value for status in LIVE)


@cache
def _committed_sums(by: Level, kind: Level) -> Compiled:
    columns = ("resource_id", "az", "status", "duration")
    row = Commitment

    def build(p: Parameters) -> Any:
        kept = CommitmentSum.select(
            CommitmentSum.domain_id, *(getattr(CommitmentSum, name) for name in columns), CommitmentSum.amount
        )
        ended = row.select(Project.domain, row.resource, row.az, row.status, row.duration, Value(0) - row.amount).join(
            Project
        )
        kept = _where_kept(kept, p, by, kind, CommitmentSum, any_of(CommitmentSum.resource_id, p.resources))
        is_over = (row.status.in_(_STATUSES), row.expires_at <= p.now, any_of(row.resource, p.resources))
        parts = kept.union_all(_where(ended, p, kind, Project.domain, *is_over)).alias("parts")
        by_columns = [getattr(parts.c, name) for name in columns]
        amount = fn.SUM(parts.c.amount)
        query = Select([parts], [_key(by, parts.c.domain_id), *by_columns, amount]).having(amount > 0)
        return _group(query, by, parts.c.domain_id, *by_columns)

    return compiled(build)


def committed_sums(engine: Engine, resources: Sequence[int], now: float, by: Level, among: Among) -> list[CommittedSum]:
    """Returns commitments that have not ended, by status and duration."""
    if not _are_kept(engine, by, among):
        return project_sums.committed_sums(engine, resources, now, by, among)
    return engine.all(_committed_sums(by, among.kind), CommittedSum, resources=resources, now=now, ids=among.ids)


def _with_ended(p: Parameters) -> Any:
    """Selects the projects and resources with confirmed commitments that have ended, which are few."""
    row = Commitment
    is_over = (row.status == Status.CONFIRMED.value, row.expires_at <= p.now, any_of(row.resource, p.resources))
    return row.select(row.project, row.resource).where(*is_over).distinct().alias("ended")


def _same_pair(table: Any, pair: Any) -> Any:
    project, resource = (
        (table.project, table.resource) if table is Commitment else (table.project_id, table.resource_id)
    )
    return (project == pair.c.project_id) & (resource == pair.c.resource_id)


def _corrections(p: Parameters, *, is_pooled: bool) -> tuple[Any, Any]:
    """Selects what to add to kept figures of what is unused, by project, resource and AZ: what it is now where
    commitments have ended, and the kept figures of the same projects and resources, to be subtracted."""
    row, usage, kept = Commitment, ProjectAZResource, UnusedCommitment
    pairs = _with_ended(p)

    def az(column: Any) -> Any:
        return (Value(_ALL_AZS) if is_pooled else column).alias("az")

    committed = (
        row.select(row.project, row.resource, az(row.az), row.amount)
        .join(pairs, on=_same_pair(row, pairs))
        .where(row.status == Status.CONFIRMED.value, row.expires_at > p.now)
    )
    other = _with_ended(p)
    used = usage.select(usage.project_id, usage.resource_id, az(usage.az), Value(0) - usage.usage).join(
        other, on=_same_pair(usage, other)
    )
    parts = committed.union_all(used).alias("parts")
    key, amount = [parts.c.project_id, parts.c.resource_id, parts.c.az], fn.SUM(parts.c.amount)
    present = Select([parts], [*key, amount.alias("amount")]).group_by(*key).having(amount > 0)
    third = _with_ended(p)
    stored = (
        kept.select(kept.project_id, kept.resource_id, kept.az, (Value(0) - kept.unused).alias("amount"))
        .join(third, on=_same_pair(kept, third))
        .where((kept.az == _ALL_AZS) if is_pooled else (kept.az != _ALL_AZS))
    )
    return present, stored


@cache
def _unused(by: Level, kind: Level, *, is_pooled: bool) -> Compiled:
    def build(p: Parameters) -> Any:
        is_wanted = (_SUM.az == _ALL_AZS) if is_pooled else (_SUM.az != _ALL_AZS)
        kept = _SUM.select(_SUM.domain_id, _SUM.resource_id, _SUM.az, _SUM.unused.alias("amount"))
        parts = _where_kept(kept, p, by, kind, _SUM, any_of(_SUM.resource_id, p.resources), is_wanted)
        for correction in _corrections(p, is_pooled=is_pooled):
            one = correction.alias("correction")
            of_domain = Project.select(Project.domain, one.c.resource_id, one.c.az, one.c.amount).join(
                one, on=one.c.project_id == Project.id
            )
            parts = parts.union_all(_where(of_domain, p, kind, Project.domain))
        parts = parts.alias("parts")
        key, amount = (parts.c.resource_id, parts.c.az), fn.SUM(parts.c.amount)
        query = Select([parts], [_key(by, parts.c.domain_id), *key, amount]).having(amount > 0)
        return _group(query, by, parts.c.domain_id, *key)

    return compiled(build)


def unused_commitments(
    engine: Engine, resources: Sequence[int], now: float, by: Level, among: Among
) -> dict[tuple[int, int, str], int]:
    """Returns what projects have committed to but do not use, by key, resource id and AZ."""
    if not _are_kept(engine, by, among):
        return project_sums.unused_commitments(engine, resources, now, by, among)
    rows = engine.tuples(_unused(by, among.kind, is_pooled=False), resources=resources, now=now, ids=among.ids)
    return {(key, resource, az): amount for key, resource, az, amount in rows}


def unused_commitments_overall(engine: Engine, resources: Sequence[int], now: float) -> dict[int, int]:
    """Returns what projects have committed to beyond what they use in all AZs together, by resource id."""
    if not are_kept(engine) or not resources:
        return project_sums.unused_commitments_overall(engine, resources, now)
    rows = engine.tuples(_unused("cluster", "cluster", is_pooled=True), resources=resources, now=now)
    return {resource: amount for _, resource, _, amount in rows}


# -- claims ------------------------------------------------------------------------------------------------------------


class ClaimedSum(NamedTuple):
    """What all projects claim of a resource in one AZ: what they use, and what they have committed to beyond that."""

    az: str
    amount: int


def _select_claimed(p: Parameters, among: str, *, is_pooled: bool) -> peewee.Query:
    def in_azs(az: Any) -> list[Any]:
        if among == "all":
            return []
        return [any_of(az, p.azs) if among == "these" else ~any_of(az, p.azs)]

    def counting(az: Any) -> Any:
        return Value(ANY_AZ) if is_pooled else az

    is_total = _SUM.az == _ALL_AZS
    amount = Case(None, [(is_total, _SUM.unused)], _SUM.usage) if is_pooled else _SUM.usage + _SUM.unused
    is_wanted = [] if is_pooled else [~is_total, *in_azs(_SUM.az)]
    parts: Any = _SUM.select(counting(_SUM.az).alias("az"), amount.alias("amount"))
    parts = parts.where(any_of(_SUM.resource_id, p.resources), _all_together(_SUM), *is_wanted)
    for index, correction in enumerate(_corrections(p, is_pooled=is_pooled)):
        one = correction.alias(f"correction_{index}")
        selected = Select([one], [counting(one.c.az), one.c.amount])
        parts = parts.union_all(selected.where(*in_azs(one.c.az)) if among != "all" else selected)
    parts = parts.alias("parts")
    return Select([parts], [parts.c.az, fn.SUM(parts.c.amount)]).group_by(parts.c.az)


_CLAIMED_POOLED = compiled(lambda p: _select_claimed(p, "all", is_pooled=True))
_CLAIMED_IN = compiled(lambda p: _select_claimed(p, "these", is_pooled=False))
_CLAIMED_ELSEWHERE = compiled(lambda p: _select_claimed(p, "others", is_pooled=False))


def claimed_overall(engine: Engine, resource: int, now: float) -> dict[str, int]:
    """Returns what all projects claim of a resource whose commitments are for all AZs together, as `any`."""
    return _by_az(engine, _CLAIMED_POOLED, resource, now)


def claimed_in(engine: Engine, resource: int, now: float, azs: Collection[str]) -> dict[str, int]:
    """Returns what all projects claim of a resource in each of these AZs."""
    return _by_az(engine, _CLAIMED_IN, resource, now, azs)


def claimed_elsewhere(engine: Engine, resource: int, now: float, azs: Collection[str]) -> dict[str, int]:
    """Returns what all projects claim of a resource in each of all other AZs."""
    return _by_az(engine, _CLAIMED_ELSEWHERE, resource, now, azs)


def _by_az(engine: Engine, query: Compiled, resource: int, now: float, azs: Collection[str] = ()) -> dict[str, int]:
    rows = engine.all(query, ClaimedSum, resources=[resource], now=now, azs=azs)
    return {row.az: row.amount for row in rows}
