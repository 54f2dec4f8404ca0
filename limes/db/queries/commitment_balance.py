"""The figures that decide whether a commitment can be confirmed."""

from collections.abc import Collection
from typing import Any, Literal

from peewee import Case, Select, Value, fn

from limes.core.catalog import ANY_AZ, UNKNOWN_AZ, Behavior
from limes.core.commitments.claims import Balance, Claims
from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.models import AZResource, Commitment, ProjectAZResource
from limes.db.queries import kept_sums
from limes.db.query import Node, mapping


def _az(table: Any, is_pooled: bool) -> Any:
    """If the resource is pooled, everything counts as one AZ."""
    return Value(ANY_AZ) if is_pooled else table.az


def _by_az(table: Any, is_pooled: bool) -> list[Any]:
    return [] if is_pooled else [table.az]


def _holds(resource: int, now: float) -> list[Any]:
    return [Commitment.resource == resource, Commitment.status == "confirmed", Commitment.expires_at > now]


@mapping(str, int)
def _capacity(resource: int, *, is_pooled: bool) -> Node:
    row = AZResource
    query = row.select(_az(row, is_pooled), fn.COALESCE(fn.SUM(row.raw_capacity), 0)).where(row.resource == resource)
    return query.group_by(*_by_az(row, is_pooled))


@mapping(str, int)
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


@mapping(tuple[str, int], tuple[int, int], skip_empty="projects")
def _shares(resource: int, projects: Collection[int], now: float, *, is_pooled: bool) -> Node:
    """What some projects have committed to and use, by AZ and project."""
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
    before.

    Where usage is in no known AZ, the claims in all AZs: then they share the whole capacity. Where commitments are not
    for single AZs, everything counts as `any`. At most four statements.
    """
    is_pooled = not behavior.commitment_is_az_aware
    raw = _capacity(engine, resource_id, is_pooled=is_pooled)
    find = kept_sums.claimed if kept_sums.are_kept(engine) else _claimed
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
