"""Sums over the projects of domains and of the cluster, as the reports and decisions read them.

PostgreSQL keeps them (`limes.usage.models`, docs/adr/0024), so that reading them takes as long in a large cloud
as in a small one. On SQLite they are computed from the rows of the projects each time (`project_sums`).

Stored sums know no time. Commitments that have ended count until they are settled, so they are subtracted here: they
are few, and none where the caller has settled the resource.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

import peewee
from peewee import Case, Select, Value, fn

from limes.catalog.catalog import ANY_AZ
from limes.commitments import commitment, models
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, Query, mapping, rows
from limes.projects.models import Project, ProjectAZResource, ProjectResource
from limes.usage import project_sums
from limes.usage.models import ALL_AZS, ALL_DOMAINS, CommitmentSum, ProjectSum, UnusedCommitment
from limes.usage.project_sums import ALL_PROJECTS, Among, Level, ResourceSum, UsageSum

P = ParamSpec("P")
T = TypeVar("T")
_SUM = ProjectSum


def are_stored(engine: Engine) -> bool:
    return engine.dialect == "postgresql"


def _kept(kept: Query[P, T], computed: Query[P, T]) -> Callable[Concatenate[Engine, P], T]:
    """Returns what reads stored sums where there are any, or else adds up. The last arguments are `by` and `among`."""

    def read(engine: Engine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        by, among = cast("tuple[Level, Among]", args[-2:])
        is_kept = are_stored(engine) and by != "project" and among.kind != "project"
        return (kept if is_kept else computed)(engine, *args, **kwargs)

    return read


def _among(query: Any, among: Among) -> Any:
    return query if among.ids is None else query.where(any_of(Project.domain, among.ids))


def _is_kept_among(kept: Any, by: Level, among: Among) -> Any:
    """The rows of these domains. Over all of them, there are ready sums."""
    if among.ids is not None:
        return any_of(kept.domain_id, among.ids)
    return _all_together(kept) if by == "cluster" else kept.domain_id != ALL_DOMAINS


def _all_together(kept: Any) -> Any:
    return (kept.domain_id == ALL_DOMAINS) | kept.is_change


def _key(by: Level, domain: Any) -> Any:
    return Value(0) if by == "cluster" else domain


def _group(query: Any, by: Level, domain: Any, *columns: Any) -> Node:
    grouped: Node = query.group_by(*columns) if by == "cluster" else query.group_by(domain, *columns)
    return grouped


_USAGE = (fn.SUM(_SUM.usage), fn.SUM(_SUM.physical_usage), fn.SUM(_SUM.physical_usages) > 0)


def _unless_none(count: peewee.Field, value: Any) -> Any:
    return Case(None, [(fn.SUM(count) > 0, value)])


@rows(ResourceSum, prepare=True)
def _resource_sums(resources: Sequence[int], by: Level, among: Among) -> Node:
    query = _SUM.select(
        _key(by, _SUM.domain_id),
        _SUM.resource_id,
        _unless_none(_SUM.quotas, fn.SUM(_SUM.quota)),
        *_USAGE,
        fn.SUM(_SUM.burst_usage),
        fn.SUM(_SUM.backend_quota),
        _unless_none(_SUM.backend_quotas, fn.SUM(_SUM.infinite_backend_quotas) > 0),
    ).having(fn.SUM(_SUM.projects) > 0)
    is_wanted = (any_of(_SUM.resource_id, resources), _SUM.az == ALL_AZS, _is_kept_among(_SUM, by, among))
    return _group(query.where(*is_wanted), by, _SUM.domain_id, _SUM.resource_id)


resource_sums = _kept(_resource_sums, project_sums.resource_sums)


def select_quotas(resources: Sequence[int]) -> Any:
    """Selects the sum of project quotas by domain and resource, as the source `sums`. To be used where sums are
    kept."""
    key = (_SUM.domain_id, _SUM.resource_id)
    quota = fn.SUM(_SUM.quota).alias("quota")
    is_wanted = (any_of(_SUM.resource_id, resources), _SUM.az == ALL_AZS, _SUM.domain_id != ALL_DOMAINS)
    return _SUM.select(*key, quota).where(*is_wanted).group_by(*key).alias("sums")


@mapping(tuple[int, int, str], UsageSum)
def _az_usage_sums(resources: Sequence[int], by: Level, among: Among) -> Node:
    query = _SUM.select(_key(by, _SUM.domain_id), _SUM.resource_id, _SUM.az, *_USAGE).having(fn.SUM(_SUM.projects) > 0)
    is_wanted = (any_of(_SUM.resource_id, resources), _SUM.az != ALL_AZS, _is_kept_among(_SUM, by, among))
    return _group(query.where(*is_wanted), by, _SUM.domain_id, _SUM.resource_id, _SUM.az)


az_usage_sums = _kept(_az_usage_sums, project_sums.az_usage_sums)


def usage_by_az(engine: Engine, resources: Sequence[int]) -> dict[tuple[int, str], int]:
    """Returns usage of all projects together, by resource id and AZ. What no project has reported on is missing."""
    if not are_stored(engine):
        return project_sums.usage_by_az(engine, resources)
    sums = az_usage_sums(engine, resources, "cluster", ALL_PROJECTS) if resources else {}
    return {(resource, az): total.usage for (_, resource, az), total in sums.items()}


_STATUSES = sorted(status.value for status in commitment.LIVE)


@mapping(tuple[int, int, str, str, str], int)
def _committed_sums(resources: Sequence[int], now: float, by: Level, among: Among) -> Node:
    row, kept, names = models.Commitment, CommitmentSum, ("resource_id", "az", "status", "duration")
    parts: Any = kept.select(kept.domain_id, *(getattr(kept, name) for name in names), kept.amount)
    parts = parts.where(any_of(kept.resource_id, resources), _is_kept_among(kept, by, among))
    minus = Value(0) - row.amount
    ended = row.select(Project.domain, row.resource, row.az, row.status, row.duration, minus).join(Project)
    ended = ended.where(row.status.in_(_STATUSES), row.expires_at <= now, any_of(row.resource, resources))
    parts = parts.union_all(_among(ended, among)).alias("parts")
    columns, amount = [getattr(parts.c, name) for name in names], fn.SUM(parts.c.amount)
    query = Select([parts], [_key(by, parts.c.domain_id), *columns, amount]).having(amount > 0)
    return _group(query, by, parts.c.domain_id, *columns)


committed_sums = _kept(_committed_sums, project_sums.committed_sums)


def _with_ended(resources: Sequence[int], now: float) -> Any:
    """Selects the projects and resources with confirmed commitments that have ended, which are few."""
    row = models.Commitment
    is_over = (row.status == commitment.Status.CONFIRMED.value, row.expires_at <= now, any_of(row.resource, resources))
    return row.select(row.project, row.resource).where(*is_over).distinct().alias("ended")


def _same_pair(table: Any, pair: Any) -> Any:
    return (table.project_id == pair.c.project_id) & (table.resource_id == pair.c.resource_id)


def _corrections(resources: Sequence[int], now: float, *, is_pooled: bool) -> tuple[Any, Any]:
    """Selects what to add to kept figures of what is unused, by project, resource and AZ: what it is now where
    commitments have ended, and the kept figures of the same projects and resources, to be subtracted."""
    row, usage, kept = models.Commitment, ProjectAZResource, UnusedCommitment
    pairs, other, third = (_with_ended(resources, now) for _ in range(3))

    def az(column: Any) -> Any:
        return (Value(ALL_AZS) if is_pooled else column).alias("az")

    committed = (
        row.select(row.project, row.resource, az(row.az), row.amount)
        .join(pairs, on=_same_pair(row, pairs))
        .where(row.status == commitment.Status.CONFIRMED.value, row.expires_at > now)
    )
    used = usage.select(usage.project_id, usage.resource_id, az(usage.az), Value(0) - usage.usage).join(
        other, on=_same_pair(usage, other)
    )
    parts = committed.union_all(used).alias("parts")
    key, amount = [parts.c.project_id, parts.c.resource_id, parts.c.az], fn.SUM(parts.c.amount)
    present = Select([parts], [*key, amount.alias("amount")]).group_by(*key).having(amount > 0)
    stored = (
        kept.select(kept.project_id, kept.resource_id, kept.az, (Value(0) - kept.unused).alias("amount"))
        .join(third, on=_same_pair(kept, third))
        .where((kept.az == ALL_AZS) if is_pooled else (kept.az != ALL_AZS))
    )
    return present, stored


def _unused(resources: Sequence[int], now: float, by: Level, among: Among, *, is_pooled: bool) -> Any:
    """Selects key, resource, AZ and amount."""
    is_wanted = (_SUM.az == ALL_AZS) if is_pooled else (_SUM.az != ALL_AZS)
    parts: Any = _SUM.select(_SUM.domain_id, _SUM.resource_id, _SUM.az, _SUM.unused.alias("amount"))
    parts = parts.where(any_of(_SUM.resource_id, resources), is_wanted, _is_kept_among(_SUM, by, among))
    for correction in _corrections(resources, now, is_pooled=is_pooled):
        one = correction.alias("correction")
        of_domain: Any = Project.select(Project.domain, one.c.resource_id, one.c.az, one.c.amount)
        of_domain = of_domain.join(one, on=one.c.project_id == Project.id)
        parts = parts.union_all(_among(of_domain, among))
    parts = parts.alias("parts")
    key, amount = (parts.c.resource_id, parts.c.az), fn.SUM(parts.c.amount)
    return parts, key, amount


@mapping(tuple[int, int, str], int)
def _unused_commitments(resources: Sequence[int], now: float, by: Level, among: Among) -> Node:
    parts, key, amount = _unused(resources, now, by, among, is_pooled=False)
    query = Select([parts], [_key(by, parts.c.domain_id), *key, amount]).having(amount > 0)
    return _group(query, by, parts.c.domain_id, *key)


unused_commitments = _kept(_unused_commitments, project_sums.unused_commitments)


@mapping(int, int, skip_empty="resources")
def _unused_overall(resources: Sequence[int], now: float) -> Node:
    parts, key, amount = _unused(resources, now, "cluster", ALL_PROJECTS, is_pooled=True)
    return Select([parts], [parts.c.resource_id, amount]).having(amount > 0).group_by(*key)


def unused_commitments_overall(engine: Engine, resources: Sequence[int], now: float) -> dict[int, int]:
    """Returns what projects have committed to beyond what they use in all AZs together, by resource id."""
    find = _unused_overall if are_stored(engine) else project_sums.unused_commitments_overall
    return find(engine, resources, now)


# -- claims ------------------------------------------------------------------------------------------------------------


@mapping(str, int)
def _claimed(
    resources: Sequence[int], now: float, azs: Collection[str], among: Literal["all", "these", "others"]
) -> Node:
    is_pooled, is_total = among == "all", _SUM.az == ALL_AZS

    def in_azs(az: Any) -> list[Any]:
        if is_pooled:
            return []
        return [any_of(az, azs) if among == "these" else ~any_of(az, azs)]

    def counting(az: Any) -> Any:
        return Value(ANY_AZ) if is_pooled else az

    amount = Case(None, [(is_total, _SUM.unused)], _SUM.usage) if is_pooled else _SUM.usage + _SUM.unused
    is_wanted = [] if is_pooled else [~is_total, *in_azs(_SUM.az)]
    parts: Any = _SUM.select(counting(_SUM.az).alias("az"), amount.alias("amount"))
    parts = parts.where(any_of(_SUM.resource_id, resources), _all_together(_SUM), *is_wanted)
    for index, correction in enumerate(_corrections(resources, now, is_pooled=is_pooled)):
        one = correction.alias(f"correction_{index}")
        selected = Select([one], [counting(one.c.az), one.c.amount])
        parts = parts.union_all(selected if is_pooled else selected.where(*in_azs(one.c.az)))
    parts = parts.alias("parts")
    return Select([parts], [parts.c.az, fn.SUM(parts.c.amount)]).group_by(parts.c.az)


def claimed(
    engine: Engine, resource: int, now: float, azs: Collection[str], among: Literal["all", "these", "others"]
) -> dict[str, int]:
    """Returns what all projects claim of a resource by AZ: what they use, and what they have committed to beyond that.
    In `these` AZs, in all `others`, or in `all` AZs together, as `any`, where commitments are for all of them."""
    return _claimed(engine, [resource], now, azs, among)


IS_SUSPICIOUS = (ProjectResource.usage > ProjectResource.quota) | (
    ProjectResource.backend_quota != ProjectResource.quota
)
