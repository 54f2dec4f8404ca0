"""The figures that decide whether a commitment can be confirmed."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from peewee import Case, Query, Select, Value, fn

from limes.core.catalog import ANY_AZ, UNKNOWN_AZ, Behavior
from limes.core.commitments.claims import Balance, Claims
from limes.db.compiled import Compiled, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import AZResource, Commitment, ProjectAZResource
from limes.db.queries import kept_sums

_Condition = Callable[[Any], list[Any]]
"""What has to be true of the column with the AZ."""


class _Share(NamedTuple):
    az: str
    project_id: int
    committed: int
    used: int


class _Queries:
    """The queries about one resource. If it is pooled, everything counts as one AZ, `any`."""

    def __init__(self, *, is_pooled: bool) -> None:
        self._is_pooled = is_pooled
        self.capacity = compiled(self._select_capacity)
        """Raw capacity by AZ."""
        self.claimed = compiled(lambda p: self._select_claimed(p, lambda az: []))
        """What all projects use, by AZ, and what they have committed to beyond that. One statement, so one state."""
        self.claimed_in = compiled(lambda p: self._select_claimed(p, lambda az: [any_of(az, p.azs)]))
        """The same in these AZs."""
        self.claimed_elsewhere = compiled(lambda p: self._select_claimed(p, lambda az: [~any_of(az, p.azs)]))
        """The same in all other AZs."""
        self.shares = compiled(self._select_shares)
        """What some projects have committed to and use, by AZ and project."""

    def _az(self, table: Any) -> Any:
        return Value(ANY_AZ) if self._is_pooled else table.az

    def _by_az(self, table: Any) -> list[Any]:
        return [] if self._is_pooled else [table.az]

    def _select_capacity(self, p: Any) -> Query:
        query = AZResource.select(self._az(AZResource), fn.COALESCE(fn.SUM(AZResource.raw_capacity), 0))
        return query.where(AZResource.resource == p.resource).group_by(*self._by_az(AZResource))

    def _select_claimed(self, p: Any, condition: _Condition) -> Query:
        used, covering = ProjectAZResource, ProjectAZResource.alias()
        usage = (
            used.select(self._az(used).alias("az"), fn.COALESCE(fn.SUM(used.usage), 0).alias("amount"))
            .where(used.resource_id == p.resource, *condition(used.az))
            .group_by(*self._by_az(used))
        )
        committed = (
            Commitment.select(
                Commitment.project, self._az(Commitment).alias("az"), fn.SUM(Commitment.amount).alias("amount")
            )
            .where(*_holds(p), *condition(Commitment.az))
            .group_by(Commitment.project, *self._by_az(Commitment))
            .alias("committed")
        )
        total = fn.SUM(covering.usage)
        same_az = [] if self._is_pooled else [covering.az == committed.c.az]
        covered = covering.select(Case(None, [(total >= committed.c.amount, committed.c.amount)], total)).where(
            covering.project_id == committed.c.project_id, covering.resource_id == p.resource, *same_az
        )
        beyond = Select([committed], [committed.c.az, (committed.c.amount - fn.COALESCE(covered, 0)).alias("amount")])
        claims = usage.union_all(beyond).alias("claims")
        return Select([claims], [claims.c.az, fn.SUM(claims.c.amount)]).group_by(claims.c.az)

    def _select_shares(self, p: Any) -> Query:
        used = ProjectAZResource
        committed = Commitment.select(
            self._az(Commitment).alias("az"),
            Commitment.project,
            Commitment.amount.alias("committed"),
            Value(0).alias("used"),
        ).where(*_holds(p), any_of(Commitment.project, p.projects))
        usage = used.select(
            self._az(used).alias("az"), used.project_id, Value(0).alias("committed"), used.usage.alias("used")
        ).where(used.resource_id == p.resource, any_of(used.project_id, p.projects))
        parts = committed.union_all(usage).alias("parts")
        columns = parts.c
        return Select(
            [parts], [columns.az, columns.project_id, fn.SUM(columns.committed), fn.SUM(columns.used)]
        ).group_by(columns.az, columns.project_id)


def _holds(p: Any) -> list[Any]:
    return [Commitment.resource == p.resource, Commitment.status == "confirmed", Commitment.expires_at > p.now]


_BY_AZ, _POOLED = _Queries(is_pooled=False), _Queries(is_pooled=True)


def read_balance(
    engine: Engine, resource_id: int, behavior: Behavior, azs: Collection[str], projects: Collection[int], now: float
) -> Balance:
    """Returns the claims on a resource in these AZs, and the shares of these projects. To decide, lock the resource
    before.

    Where usage is in no known AZ, the claims in all AZs: then they share the whole capacity. Where commitments are not
    for single AZs, everything counts as `any`. At most four statements.
    """
    is_pooled = not behavior.commitment_is_az_aware
    queries = _POOLED if is_pooled else _BY_AZ
    raw = _by_az(engine, queries.capacity, resource=resource_id)
    if is_pooled:
        claimed = _claimed_overall(engine, resource_id, now)
    else:
        first = sorted({*azs, ANY_AZ, UNKNOWN_AZ})
        claimed = _claimed_in(engine, resource_id, now, first)
        # `any` is among `azs` for commitments from before they were for single AZs
        if claimed.get(ANY_AZ) or claimed.get(UNKNOWN_AZ) or ANY_AZ in azs:
            claimed |= _claimed_elsewhere(engine, resource_id, now, first)
    shares = []
    if projects:
        shares = engine.all(queries.shares, _Share, resource=resource_id, now=now, projects=sorted(projects))
    return Balance(
        Claims.of(raw, claimed, behavior),
        committed={(share.az, share.project_id): int(share.committed) for share in shares},
        usage={(share.az, share.project_id): int(share.used) for share in shares},
    )


def _claimed_overall(engine: Engine, resource: int, now: float) -> dict[str, int]:
    if kept_sums.are_kept(engine):
        return kept_sums.claimed_overall(engine, resource, now)
    return _by_az(engine, _POOLED.claimed, resource=resource, now=now)


def _claimed_in(engine: Engine, resource: int, now: float, azs: Collection[str]) -> dict[str, int]:
    if kept_sums.are_kept(engine):
        return kept_sums.claimed_in(engine, resource, now, azs)
    return _by_az(engine, _BY_AZ.claimed_in, resource=resource, now=now, azs=azs)


def _claimed_elsewhere(engine: Engine, resource: int, now: float, azs: Collection[str]) -> dict[str, int]:
    if kept_sums.are_kept(engine):
        return kept_sums.claimed_elsewhere(engine, resource, now, azs)
    return _by_az(engine, _BY_AZ.claimed_elsewhere, resource=resource, now=now, azs=azs)


def _by_az(engine: Engine, query: Compiled, **values: Any) -> dict[str, int]:
    return {az: int(amount) for az, amount in engine.tuples(query, **values)}
