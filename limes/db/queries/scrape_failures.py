"""Which backends cannot be read, and since when: for those who are told so, not for those who mend it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from limes.db.engine import Engine, placeholders
from limes.db.queries.project_rows import in_projects
from limes.db.rows import named

SINCE = "CASE WHEN ps.scrape_error <> '' THEN COALESCE(ps.failing_since, ps.checked_at) END"
"""Since when the scrapes of a row of `project_services`, called `ps`, fail; null if the last one did not."""


class ScrapeState(NamedTuple):
    """How the scrapes of one service of one project go. Times are in seconds since the epoch."""

    service_type: str
    scraped_at: float | None
    failing_since: float | None


class ProjectScrapeRow(NamedTuple):
    """When a project's service was scraped, and since when that fails, if it does."""

    project_id: int
    service_id: int
    scraped_at: float | None
    failing_since: float | None


def project_scrapes(
    engine: Engine, services: Sequence[int], domain_id: int, project_ids: Sequence[int] | None
) -> Iterator[ProjectScrapeRow]:
    """How the scrapes of each project's services go."""
    if not services:
        return iter(())
    where, params = in_projects(engine, domain_id, project_ids)
    rows = engine.rows(
        f"SELECT project_id, service_id, scraped_at, {SINCE} FROM project_services ps"
        f" WHERE service_id IN ({placeholders(len(services))}) AND {where}",
        [*services, *params],
    )
    return named(ProjectScrapeRow, rows)


def of_project(engine: Engine, project_id: int, service_types: Sequence[str]) -> list[ScrapeState]:
    """The state of these services in a project."""
    rows = engine.rows(
        f"SELECT s.type, ps.scraped_at, {SINCE} FROM project_services ps JOIN services s ON s.id = ps.service_id"
        f" WHERE ps.project_id = %s AND s.type IN ({placeholders(len(service_types))}) ORDER BY s.type",
        [project_id, *service_types],
    )
    return [ScrapeState._make(row) for row in rows]


def everywhere(engine: Engine, service_types: Sequence[str]) -> dict[str, float]:
    """Since when a service fails as a whole, by its type: scrapes fail, and since then none has succeeded anywhere.

    A backend that is left alone while it does not answer fails for projects that it was not asked about, too. Looks at
    all projects of these services, so ask only where something is wrong.
    """
    if not service_types:
        return {}
    rows = engine.rows(
        f"""
        SELECT latest.type, MIN({SINCE})
          FROM (SELECT s.id, s.type, MAX(ps.scraped_at) AS scraped_at
                  FROM services s JOIN project_services ps ON ps.service_id = s.id
                 WHERE s.type IN ({placeholders(len(service_types))}) GROUP BY s.id, s.type) latest
          JOIN project_services ps ON ps.service_id = latest.id AND ps.scrape_error <> ''
         WHERE COALESCE(ps.failing_since, ps.checked_at) > COALESCE(latest.scraped_at, 0)
         GROUP BY latest.type
        """,
        service_types,
    )
    return {service_type: since for service_type, since in rows if since is not None}
