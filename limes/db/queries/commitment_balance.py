"""The figures that decide whether a commitment can be confirmed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from limes.core.catalog import ANY_AZ, UNKNOWN_AZ, Behavior
from limes.core.commitments.claims import Balance, Claims, Share
from limes.db.engine import Engine, placeholders

_BATCH = 10_000


def read_balance(
    engine: Engine, resource_id: int, behavior: Behavior, azs: Collection[str], projects: Collection[int], now: float
) -> Balance:
    """The claims on a resource in these AZs, and the shares of these projects. To decide, lock the resource before.

    Where something is used in AZs that are not known, the claims in all AZs: then they share what is left. Where
    commitments are not for one AZ, everything counts as `any`, wherever it is. At most four statements, whatever the
    number of projects (but for batches of thousands of them).
    """
    is_pooled = not behavior.commitment_is_az_aware
    figures = _Figures(engine, resource_id, f"'{ANY_AZ}'" if is_pooled else "az", now)
    raw = figures.capacity()
    if is_pooled:
        claimed = figures.claimed()
    else:
        first = sorted({*azs, ANY_AZ, UNKNOWN_AZ})
        claimed = figures.claimed(f" AND az IN ({placeholders(len(first))})", first)
        if claimed.get(ANY_AZ) or claimed.get(UNKNOWN_AZ) or ANY_AZ in azs:  # the last: from before they were for an AZ
            claimed |= figures.claimed(f" AND az NOT IN ({placeholders(len(first))})", first)
    committed: dict[Share, int] = {}
    usage: dict[Share, int] = {}
    ordered = sorted(projects)
    for start in range(0, len(ordered), _BATCH):
        for az, project, amount, used in figures.shares(ordered[start : start + _BATCH]):
            committed[az, project], usage[az, project] = amount, used
    return Balance(Claims.of(raw, claimed, behavior), committed, usage)


@dataclass(frozen=True, slots=True)
class _Figures:
    """What is known of one resource. `az` is the SQL for where a row counts; conditions are on the column `az`."""

    engine: Engine
    resource_id: int
    az: str
    now: float

    def capacity(self) -> dict[str, int]:
        """Raw capacity by AZ."""
        sql = f"SELECT {self.az} AS place, SUM(raw_capacity) FROM az_resources WHERE resource_id = %s GROUP BY 1"
        return {az: int(capacity) for az, capacity in self.engine.rows(sql, [self.resource_id])}

    def claimed(self, condition: str = "", params: Sequence[str] = ()) -> dict[str, int]:
        """By AZ: what all projects use, and what they have committed to beyond that. One statement, so one state."""
        covered = "CASE WHEN SUM(u.usage) >= c.amount THEN c.amount ELSE SUM(u.usage) END"
        same_az = " AND u.az = c.place" if self.az == "az" else ""
        rows = self.engine.rows(
            f"""
            SELECT x.place, SUM(x.claimed)
              FROM (SELECT {self.az} AS place, SUM(usage) AS claimed FROM project_az_resources
                     WHERE resource_id = %s{condition} GROUP BY 1
                     UNION ALL
                    SELECT c.place, c.amount - COALESCE((SELECT {covered} FROM project_az_resources u
                             WHERE u.project_id = c.project_id AND u.resource_id = %s{same_az}), 0) AS claimed
                      FROM (SELECT project_id, {self.az} AS place, SUM(amount) AS amount FROM project_commitments
                             WHERE resource_id = %s AND status = 'confirmed' AND expires_at > %s{condition}
                             GROUP BY 1, 2) c) x
             GROUP BY x.place
            """,
            [self.resource_id, *params, self.resource_id, self.resource_id, self.now, *params],
        )
        return {az: int(claimed) for az, claimed in rows}

    def shares(self, projects: Sequence[int]) -> list[tuple[str, int, int, int]]:
        """AZ, project, what it has committed to there, and what it uses there."""
        marks = placeholders(len(projects))
        rows = self.engine.rows(
            f"""
            SELECT x.place, x.project_id, SUM(x.committed), SUM(x.used)
              FROM (SELECT {self.az} AS place, project_id, 0 AS committed, usage AS used FROM project_az_resources
                     WHERE resource_id = %s AND project_id IN ({marks})
                     UNION ALL
                    SELECT {self.az} AS place, project_id, amount AS committed, 0 AS used FROM project_commitments
                     WHERE resource_id = %s AND status = 'confirmed' AND expires_at > %s
                       AND project_id IN ({marks})) x
             GROUP BY x.place, x.project_id
            """,
            [self.resource_id, *projects, self.resource_id, self.now, *projects],
        )
        return [(az, project, int(committed), int(used)) for az, project, committed, used in rows]
