"""Usage and commitments by AZ, over the projects of a domain or of the cluster, and commitments of single projects."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import peewee
from peewee import JOIN, fn

from limes.core.commitments.commitment import Status
from limes.db.compiled import Parameters, any_of, compiled
from limes.db.engine import Engine, placeholders
from limes.db.models import Commitment, Project, ProjectAZResource, ProjectResource

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


_USAGE_BY_AZ = compiled(
    lambda p: (
        ProjectAZResource.select(ProjectAZResource.resource_id, ProjectAZResource.az, fn.SUM(ProjectAZResource.usage))
        .where(any_of(ProjectAZResource.resource_id, p.resources))
        .group_by(ProjectAZResource.resource_id, ProjectAZResource.az)
    )
)


def usage_by_az(engine: Engine, resources: Sequence[int]) -> dict[tuple[int, str], int]:
    """Usage of all projects together, by resource id and AZ. What no project has reported on is missing."""
    if not resources:
        return {}
    return {(resource, az): usage for resource, az, usage in engine.tuples(_USAGE_BY_AZ, resources=resources)}


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


def _unused_overall(p: Parameters) -> peewee.Query:
    committed = (
        Commitment.select(Commitment.project, Commitment.resource, fn.SUM(Commitment.amount).alias("amount"))
        .where(
            any_of(Commitment.resource, p.resources),
            Commitment.status == Status.CONFIRMED.value,
            Commitment.expires_at > p.now,
        )
        .group_by(Commitment.project, Commitment.resource)
        .alias("committed")
    )
    usage = fn.COALESCE(ProjectResource.usage, 0)
    same = (ProjectResource.project == Project.id) & (ProjectResource.resource == committed.c.resource_id)
    return (
        Project.select(committed.c.resource_id, fn.SUM(committed.c.amount - usage))
        .join(committed, on=committed.c.project_id == Project.id)
        .join(ProjectResource, JOIN.LEFT_OUTER, on=same)
        .where(committed.c.amount > usage)
        .group_by(committed.c.resource_id)
    )


_UNUSED_OVERALL = compiled(_unused_overall)


def unused_overall(engine: Engine, resources: Sequence[int], now: float) -> dict[int, int]:
    """What projects have committed to beyond all that they use, wherever that is, by resource id."""
    return dict(engine.tuples(_UNUSED_OVERALL, resources=resources, now=now)) if resources else {}
