"""Sums of what projects use and have committed to: to decide on capacity, by day, and over many projects."""

from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

from peewee import EXCLUDED, JOIN, Case, CompoundSelectQuery, Field, Select, Value, fn

from limes.catalog.catalog import ANY_AZ, UNKNOWN_AZ, Behavior
from limes.catalog.models import AZResource
from limes.commitments import commitment, plan, queries
from limes.commitments.claims import Balance, Claims
from limes.commitments.models import Commitment, CommitmentUse
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.query import Node, collected, mapping, rows, value, writes
from limes.kernel.units import MAX_STORED
from limes.projects.models import Project, ProjectAZResource, ProjectResource
from limes.projects.scope import Scope, in_scope
from limes.usage import sums as stored_sums

# -- the figures that decide whether a commitment can be confirmed -----------------------------------------------------


def _az(table: Any, is_pooled: bool) -> Any:
    return Value(ANY_AZ) if is_pooled else table.az


def _by_az(table: Any, is_pooled: bool) -> list[Any]:
    return [] if is_pooled else [table.az]


def _holds(resource: int, now: float) -> list[Any]:
    return [Commitment.resource == resource, Commitment.status == "confirmed", Commitment.expires_at > now]


@mapping(str, int, prepare=True)
def _capacity(resource: int, *, is_pooled: bool) -> Node:
    row = AZResource
    query = row.select(_az(row, is_pooled), fn.COALESCE(fn.SUM(row.raw_capacity), 0)).where(row.resource == resource)
    return query.group_by(*_by_az(row, is_pooled))


@mapping(str, int, prepare=True)
def _claimed(resource: int, now: float, azs: Collection[str], among: Literal["all", "these", "others"]) -> Node:
    """What all projects use, by AZ, and what they have committed to beyond that: in these AZs or the others, or of a
    pooled resource. One statement, so one state."""
    used, covering, is_pooled = ProjectAZResource, ProjectAZResource.alias(), among == "all"

    def is_wanted(az: Any) -> list[Any]:
        return [] if among == "all" else [any_of(az, azs) if among == "these" else ~any_of(az, azs)]

    usage = (
        used.select(_az(used, is_pooled).alias("az"), fn.COALESCE(fn.SUM(used.usage), 0).alias("amount"))
        .where(used.resource_id == resource, *is_wanted(used.az))
        .group_by(*_by_az(used, is_pooled))
    )
    committed = (
        Commitment.select(
            Commitment.project, _az(Commitment, is_pooled).alias("az"), fn.SUM(Commitment.amount).alias("amount")
        )
        .where(*_holds(resource, now), *is_wanted(Commitment.az))
        .group_by(Commitment.project, *_by_az(Commitment, is_pooled))
        .alias("committed")
    )
    total = fn.SUM(covering.usage)
    same_az = [] if is_pooled else [covering.az == committed.c.az]
    covered = covering.select(Case(None, [(total >= committed.c.amount, committed.c.amount)], total)).where(
        covering.project_id == committed.c.project_id, covering.resource_id == resource, *same_az
    )
    beyond = Select([committed], [committed.c.az, (committed.c.amount - fn.COALESCE(covered, 0)).alias("amount")])
    claims = usage.union_all(beyond).alias("claims")
    return Select([claims], [claims.c.az, fn.SUM(claims.c.amount)]).group_by(claims.c.az)


@mapping(tuple[str, int], tuple[int, int], skip_empty="projects", prepare=True)
def _shares(resource: int, projects: Collection[int], now: float, *, is_pooled: bool) -> Node:
    row, used, nothing = Commitment, ProjectAZResource, Value(0)
    committed = row.select(
        _az(row, is_pooled).alias("az"), row.project, row.amount.alias("committed"), nothing.alias("used")
    ).where(*_holds(resource, now), any_of(row.project, projects))
    usage = used.select(
        _az(used, is_pooled).alias("az"), used.project_id, nothing.alias("committed"), used.usage.alias("used")
    ).where(used.resource_id == resource, any_of(used.project_id, projects))
    parts = committed.union_all(usage).alias("parts")
    key = (parts.c.az, parts.c.project_id)
    return Select([parts], [*key, fn.SUM(parts.c.committed), fn.SUM(parts.c.used)]).group_by(*key)


def read_balance(
    engine: Engine, resource_id: int, behavior: Behavior, azs: Collection[str], projects: Collection[int], now: float
) -> Balance:
    """Returns the claims on a resource in these AZs, and the shares of these projects. To decide, lock the resource
    before. Where usage is in no known AZ, the claims in all AZs: then they share the whole capacity. Where commitments
    are not for single AZs, everything counts as `any`. At most four statements."""
    is_pooled = not behavior.commitment_is_az_aware
    raw = _capacity(engine, resource_id, is_pooled=is_pooled)
    find = stored_sums.claimed if stored_sums.are_stored(engine) else _claimed
    if is_pooled:
        claimed = find(engine, resource_id, now, (), "all")
    else:
        first = sorted({*azs, ANY_AZ, UNKNOWN_AZ})
        claimed = find(engine, resource_id, now, first, "these")
        # `any` is among `azs` for commitments from before they were for single AZs
        if claimed.get(ANY_AZ) or claimed.get(UNKNOWN_AZ) or ANY_AZ in azs:
            claimed |= find(engine, resource_id, now, first, "others")
    shares = _shares(engine, resource_id, projects, now, is_pooled=is_pooled)
    return Balance(
        Claims.of(raw, claimed, behavior),
        committed={key: committed for key, (committed, _) in shares.items()},
        usage={key: used for key, (_, used) in shares.items()},
    )


# -- by day ------------------------------------------------------------------------------------------------------------

_Use = CommitmentUse
_KEY = (_Use.project, _Use.resource, _Use.az, _Use.day)
_FIGURES = (_Use.looks, _Use.usage_sum, _Use.usage_min, _Use.usage_max, _Use.committed_sum)


@value(int)
def _looks(resources: Collection[int], day: int) -> Node:
    return _Use.select(fn.COALESCE(fn.MAX(_Use.looks), 0)).where(_Use.day == day, any_of(_Use.resource, resources))


def _select_sample(resources: Collection[int], day: int, now: float, *, by_az: bool) -> CompoundSelectQuery:
    """Usage, commitments, and what has a row already, so that this counts with nothing at least."""
    usage = ProjectAZResource

    def az(column: Field) -> Any:
        return (column if by_az else Value(ANY_AZ)).alias("az")

    nothing = Value(0)
    used = usage.select(
        usage.project_id, usage.resource_id, az(usage.az), usage.usage.alias("used"), nothing.alias("committed")
    ).where(any_of(usage.resource_id, resources), usage.usage > 0)
    committed = Commitment.select(
        Commitment.project, Commitment.resource, az(Commitment.az), nothing, Commitment.amount
    ).where(any_of(Commitment.resource, resources), Commitment.status == "confirmed", Commitment.expires_at > now)
    known = _Use.select(_Use.project, _Use.resource, _Use.az, nothing, nothing).where(
        any_of(_Use.resource, resources), _Use.day == day
    )
    return used.union_all(committed).union_all(known)


def _at_most_stored(total: Any) -> Any:
    """Returns a sum as an integer that the database can hold."""
    return Case(None, [(total > MAX_STORED, MAX_STORED)], total)


def _added(field: Field) -> Any:
    """Returns the stored figure plus the new one, likewise: a few samples near the largest amount are too much."""
    new = getattr(EXCLUDED, field.column_name)
    return Case(None, [(field > MAX_STORED - new, MAX_STORED)], field + new)


def _extreme(is_beyond: Any, field: Field) -> Any:
    return Case(None, [(is_beyond, EXCLUDED.usage_sum)], field)


@writes
def _add_sample(resources: Collection[int], day: int, now: float, looks: int, *, by_az: bool, is_first: bool) -> Node:
    sample = _select_sample(resources, day, now, by_az=by_az).alias("sample")
    used, committed = _at_most_stored(fn.SUM(sample.c.used)), _at_most_stored(fn.SUM(sample.c.committed))
    key = (sample.c.project_id, sample.c.resource_id, sample.c.az)
    smallest = used if is_first else 0
    rows = sample.select_from(*key, day, looks, used, smallest, used, committed).group_by(*key)
    return _Use.insert_from(rows, [*_KEY, *_FIGURES]).on_conflict(
        conflict_target=_KEY,
        update={
            _Use.looks: _Use.looks + 1,
            _Use.usage_sum: _added(_Use.usage_sum),
            _Use.usage_min: _extreme(EXCLUDED.usage_sum < _Use.usage_min, _Use.usage_min),
            _Use.usage_max: _extreme(EXCLUDED.usage_sum > _Use.usage_max, _Use.usage_max),
            _Use.committed_sum: _added(_Use.committed_sum),
        },
    )


def add_sample(engine: Engine, resources: Collection[int], *, by_az: bool, day: int, now: float) -> None:
    """Adds what is used and confirmed now, over all projects, to this day's figures. With `by_az` AZ by AZ, else all
    AZs together as `any`. A new row also counts the day's earlier samples, in which nothing was used or committed; and
    each row counts all later ones."""
    if resources:
        looks = _looks(engine, resources, day)
        _add_sample(engine, resources, day, now, looks + 1, by_az=by_az, is_first=not looks)


@writes
def forget_before(day: int) -> Node:
    return _Use.delete().where(_Use.day < day)


@collected(tuple[int, str], plan.DayOfUse)
def of_project(project_id: int, since: int) -> Node:
    columns = (_Use.resource, _Use.az, _Use.day, *_FIGURES)
    return _Use.select(*columns).where(_Use.project == project_id, _Use.day >= since).order_by(_Use.day)


class UsageOfDay(NamedTuple):
    """Averages of one day, summed up over projects and AZs."""

    resource_id: int
    day: int
    usage: int
    committed: int


@rows(UsageOfDay)
def by_day(scope: Scope, resources: Collection[int], since: int) -> Node:
    usage, committed = fn.SUM(_Use.usage_sum / _Use.looks), fn.SUM(_Use.committed_sum / _Use.looks)
    query = (
        _Use.select(_Use.resource, _Use.day, usage, committed)
        .join(Project)
        .where(any_of(_Use.resource, resources), _Use.day >= since)
        .group_by(_Use.resource, _Use.day)
        .order_by(_Use.resource, _Use.day)
    )
    return in_scope(query, scope)


# -- sums over many projects, by resource and AZ -----------------------------------------------------------------------


class LiveSum(NamedTuple):
    """Commitments of one status in one AZ that have not ended."""

    resource_id: int
    az: str
    status: str
    amount: int
    number: int
    expiring: int
    """The amount of commitments that end before the time asked about and were not renewed."""


class UseSum(NamedTuple):
    """Confirmed commitments in one AZ, and how much of them is used: each project uses its own only."""

    resource_id: int
    az: str
    used: int
    projects: int


def _is_live(now: float) -> Any:
    return Commitment.status.in_(sorted(commitment.LIVE)) & (Commitment.expires_at > now)


@rows(LiveSum)
def live_sums(scope: Scope, resources: Sequence[int], now: float, until: float) -> Node:
    """The sums of commitments that have not ended, and of what ends before `until`."""
    row = Commitment
    is_ending = (row.expires_at <= until) & ~queries.was_renewed(row) & ~queries.renews_itself(row)
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
        .where(_is_live(now), row.status == commitment.Status.CONFIRMED.value, any_of(row.resource, resources))
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
