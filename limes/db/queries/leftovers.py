"""What hangs on services, resources and availability zones that a configuration has not got."""

from collections.abc import Sequence
from typing import NamedTuple

from limes.core.catalog import Ref
from limes.db.engine import Engine, placeholders
from limes.db.queries.commitments import LIVE


class StoredService(NamedTuple):
    """A service, and since when it is missing from the collectors' configuration."""

    id: int
    type: str
    vanished_at: float | None


class StoredResource(NamedTuple):
    """A resource, and whether it is hidden already."""

    id: int
    ref: Ref
    is_known: bool


class Holdings(NamedTuple):
    """What hangs on a resource, over all domains and projects. Amounts are in its unit."""

    projects: int
    """Projects that have quota or use it."""
    projects_quota: int
    usage: int
    domains_quota: int
    commitments: int
    """Those that have not ended."""
    committed: int


class ZoneHoldings(NamedTuple):
    """What hangs on an availability zone, over all resources."""

    projects: int
    """Projects that use something in it."""
    resources: int
    """Resources that have capacity in it."""
    commitments: int


def services(engine: Engine) -> list[StoredService]:
    """All, by type."""
    return [StoredService._make(row) for row in engine.rows("SELECT id, type, vanished_at FROM services ORDER BY type")]


def resources(engine: Engine) -> list[StoredResource]:
    """All, by service and name."""
    rows = engine.rows(
        "SELECT r.id, s.type, r.name, r.is_known FROM resources r JOIN services s ON s.id = r.service_id"
        " ORDER BY s.type, r.name"
    )
    return [StoredResource(id_, (service_type, name), bool(is_known)) for id_, service_type, name, is_known in rows]


def projects_of(engine: Engine, resources: Sequence[int]) -> int:
    """How many projects have quota of any of these resources, or use it."""
    if not resources:
        return 0
    row = engine.row(
        "SELECT COUNT(DISTINCT project_id) FROM project_resources"
        f" WHERE (quota > 0 OR usage > 0) AND resource_id IN ({placeholders(len(resources))})",
        resources,
    )
    return int(row[0]) if row else 0


def last_end(engine: Engine, resources: Sequence[int], now: float) -> float | None:
    """When the last of the commitments to these resources ends."""
    if not resources:
        return None
    row = engine.row(
        f"SELECT MAX(expires_at) FROM project_commitments WHERE {LIVE} AND expires_at > %s"
        f" AND resource_id IN ({placeholders(len(resources))})",
        [now, *resources],
    )
    return row[0] if row else None


def holdings(engine: Engine, resource: int, now: float) -> Holdings:
    """What hangs on a resource. Three queries: these are few, and somebody waits for the answer at a terminal."""
    projects = engine.row(
        "SELECT COUNT(CASE WHEN quota > 0 OR usage > 0 THEN 1 END), COALESCE(SUM(quota), 0), COALESCE(SUM(usage), 0)"
        " FROM project_resources WHERE resource_id = %s",
        [resource],
    )
    domains = engine.row("SELECT COALESCE(SUM(quota), 0) FROM domain_resources WHERE resource_id = %s", [resource])
    commitments = engine.row(
        f"SELECT COUNT(*), COALESCE(SUM(amount), 0) FROM project_commitments WHERE {LIVE} AND expires_at > %s"
        " AND resource_id = %s",
        [now, resource],
    )
    assert projects is not None
    assert domains is not None
    assert commitments is not None
    return Holdings(*(int(number) for number in (*projects, *domains, *commitments)))


def zones(engine: Engine, now: float) -> dict[str, ZoneHoldings]:
    """All availability zones in which there is something."""
    projects: dict[str, int] = dict(
        engine.rows("SELECT az, COUNT(DISTINCT project_id) FROM project_az_resources WHERE usage > 0 GROUP BY az")
    )
    capacity: dict[str, int] = dict(
        engine.rows("SELECT az, COUNT(*) FROM az_resources WHERE raw_capacity > 0 GROUP BY az")
    )
    commitments: dict[str, int] = dict(
        engine.rows(f"SELECT az, COUNT(*) FROM project_commitments WHERE {LIVE} AND expires_at > %s GROUP BY az", [now])
    )
    return {
        az: ZoneHoldings(projects.get(az, 0), capacity.get(az, 0), commitments.get(az, 0))
        for az in sorted({*projects, *capacity, *commitments})
    }
