"""Quota setups that contradict themselves or the backends, and scrapes that fail. All in set-based queries."""

from collections.abc import Sequence
from typing import NamedTuple

from limes.db.engine import Engine, placeholders


class OvercommittedRow(NamedTuple):
    """A domain that has given its projects more than it has."""

    domain_uuid: str
    domain_name: str
    resource_id: int
    domain_quota: int
    projects_quota: int


class ProjectFiguresRow(NamedTuple):
    """A project's resource whose usage or backend quota may contradict its quota."""

    domain_uuid: str
    domain_name: str
    project_uuid: str
    project_name: str
    has_bursting: bool
    resource_id: int
    quota: int
    backend_quota: int | None
    usage: int


class ScrapeErrorRow(NamedTuple):
    """A failed scrape of one project's service."""

    service_type: str
    project_uuid: str
    project_name: str
    domain_uuid: str
    domain_name: str
    checked_at: float
    message: str


def overcommitted(engine: Engine, resources: Sequence[int]) -> list[OvercommittedRow]:
    """Domains whose projects have more quota than the domain, in the order of domain names."""
    if not resources:
        return []
    rows = engine.rows(
        f"""
        SELECT d.uuid, d.name, sums.resource_id, COALESCE(dr.quota, 0), sums.quota
          FROM (SELECT p.domain_id, pr.resource_id, SUM(pr.quota) AS quota
                  FROM project_resources pr JOIN projects p ON p.id = pr.project_id
                 WHERE pr.resource_id IN ({placeholders(len(resources))})
                 GROUP BY p.domain_id, pr.resource_id) sums
          JOIN domains d ON d.id = sums.domain_id
          LEFT JOIN domain_resources dr ON dr.domain_id = sums.domain_id AND dr.resource_id = sums.resource_id
         WHERE sums.quota > COALESCE(dr.quota, 0)
         ORDER BY d.name
        """,
        resources,
    )
    return [OvercommittedRow._make(row) for row in rows]


def suspicious_projects(engine: Engine, resources: Sequence[int]) -> list[ProjectFiguresRow]:
    """Resources of projects whose usage is above the quota, or whose backend quota is not the quota.

    The caller knows the usable quota of bursting projects, and judges with it.
    """
    if not resources:
        return []
    rows = engine.rows(
        f"""
        SELECT d.uuid, d.name, p.uuid, p.name, p.has_bursting, pr.resource_id, pr.quota, pr.backend_quota, pr.usage
          FROM project_resources pr
          JOIN projects p ON p.id = pr.project_id
          JOIN domains d ON d.id = p.domain_id
         WHERE pr.resource_id IN ({placeholders(len(resources))}) AND pr.quota IS NOT NULL
           AND (pr.usage > pr.quota OR pr.backend_quota <> pr.quota OR p.has_bursting)
         ORDER BY d.name, p.name
        """,
        resources,
    )
    return [ProjectFiguresRow._make(row) for row in rows]


def scrape_errors(engine: Engine) -> list[ScrapeErrorRow]:
    """All failed scrapes, in the order of service type, domain name and project name."""
    rows = engine.rows(
        """
        SELECT s.type, p.uuid, p.name, d.uuid, d.name, ps.checked_at, ps.scrape_error
          FROM project_services ps
          JOIN services s ON s.id = ps.service_id
          JOIN projects p ON p.id = ps.project_id
          JOIN domains d ON d.id = p.domain_id
         WHERE ps.scrape_error <> '' AND ps.checked_at IS NOT NULL AND s.vanished_at IS NULL
         ORDER BY s.type, d.name, p.name
        """
    )
    return [ScrapeErrorRow._make(row) for row in rows]
