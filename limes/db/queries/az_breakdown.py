"""Usage and commitments by AZ, over the projects of a domain or of the cluster, and commitments of single projects."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from limes.db.engine import Engine, placeholders

Level = Literal["project", "domain", "cluster"]
_KEY: dict[Level, str] = {"project": "p.id", "domain": "p.domain_id", "cluster": "0"}


class Among(NamedTuple):
    """Whose figures to read: those of projects or of domains with these ids; all if `ids` is None."""

    level: Literal["project", "domain"]
    ids: Sequence[int] | None

    def sql(self) -> tuple[str, Sequence[int]]:
        """A condition on the table `p` of projects, and its parameters."""
        if self.ids is None:
            return "", ()
        return f" AND {_KEY[self.level]} IN ({placeholders(len(self.ids))})", self.ids


class AZUsageSum(NamedTuple):
    """Usage of all projects of a domain, or of the cluster (`key` 0), in one AZ."""

    key: int
    resource_id: int
    az: str
    usage: int
    physical_usage: int
    has_physical_usage: bool


class CommittedRow(NamedTuple):
    """What is committed to for one duration, by a project, a domain's projects, or all (`key` 0)."""

    key: int
    resource_id: int
    az: str
    status: str
    duration: str
    amount: int


def usage_sums(engine: Engine, resources: Sequence[int], by: Level, among: Among) -> list[AZUsageSum]:
    """Sums over projects. Those without a physical usage count with their usage."""
    condition, params = among.sql()
    rows = engine.rows(
        f"SELECT {_KEY[by]} AS key, az.resource_id, az.az, SUM(az.usage),"
        " SUM(COALESCE(az.physical_usage, az.usage)), MAX(az.physical_usage) IS NOT NULL"
        " FROM project_az_resources az JOIN projects p ON p.id = az.project_id"
        f" WHERE az.resource_id IN ({placeholders(len(resources))}){condition} GROUP BY 1, az.resource_id, az.az",
        [*resources, *params],
    )
    return [AZUsageSum._make(row) for row in rows]


def committed(engine: Engine, resources: Sequence[int], now: float, by: Level, among: Among) -> list[CommittedRow]:
    """Commitments that have not ended, by status and duration."""
    condition, params = among.sql()
    rows = engine.rows(
        f"SELECT {_KEY[by]} AS key, c.resource_id, c.az, c.status, c.duration, SUM(c.amount)"
        " FROM project_commitments c JOIN projects p ON p.id = c.project_id"
        " WHERE c.status IN ('planned', 'pending', 'confirmed') AND c.expires_at > %s"
        f" AND c.resource_id IN ({placeholders(len(resources))}){condition}"
        " GROUP BY 1, c.resource_id, c.az, c.status, c.duration",
        [now, *resources, *params],
    )
    return [CommittedRow._make(row) for row in rows]


def unused(
    engine: Engine, resources: Sequence[int], now: float, by: Level, among: Among
) -> dict[tuple[int, int, str], int]:
    """What projects have committed to but do not use, by key, resource id and AZ."""
    condition, params = among.sql()
    rows = engine.rows(
        f"SELECT {_KEY[by]} AS key, c.resource_id, c.az, SUM(c.amount - COALESCE(az.usage, 0))"
        " FROM (SELECT project_id, resource_id, az, SUM(amount) AS amount FROM project_commitments"
        f" WHERE status = 'confirmed' AND expires_at > %s AND resource_id IN ({placeholders(len(resources))})"
        " GROUP BY project_id, resource_id, az) c JOIN projects p ON p.id = c.project_id"
        " LEFT JOIN project_az_resources az"
        " ON az.project_id = c.project_id AND az.resource_id = c.resource_id AND az.az = c.az"
        f" WHERE c.amount > COALESCE(az.usage, 0){condition} GROUP BY 1, c.resource_id, c.az",
        [now, *resources, *params],
    )
    return {(key, resource, az): amount for key, resource, az, amount in rows}
