"""How scraping goes: what the collector's gauges show."""

from typing import NamedTuple

from limes.db.engine import Engine


class ServiceScrapes(NamedTuple):
    """The scrapes of one service over all projects."""

    service: str
    oldest: float | None
    newest: float | None
    pending: int
    """Projects whose quota has to be written."""


class ProjectScrape(NamedTuple):
    """The last scrape of one service of one project."""

    domain: str
    domain_id: str
    project: str
    project_id: str
    service: str
    ok: bool


class ScrapeState(NamedTuple):
    """Everything."""

    services: list[ServiceScrapes]
    capacitors: list[tuple[str, bool]]
    projects: list[ProjectScrape]


def read(engine: Engine) -> ScrapeState:
    """Three queries, whatever the number of projects."""
    services = engine.rows(
        """
        SELECT s.type, MIN(ps.scraped_at), MAX(ps.scraped_at), COUNT(ps.quota_desynced_at)
          FROM services s LEFT JOIN project_services ps ON ps.service_id = s.id GROUP BY s.type ORDER BY s.type
        """
    )
    capacitors = engine.rows(
        "SELECT name, CASE WHEN scraped_at IS NOT NULL AND scrape_error = '' THEN 1 ELSE 0 END"
        " FROM capacitors ORDER BY name"
    )
    projects = engine.rows(
        """
        SELECT d.name, d.uuid, p.name, p.uuid, s.type,
               CASE WHEN ps.scraped_at IS NOT NULL AND ps.scrape_error = '' THEN 1 ELSE 0 END
          FROM project_services ps
          JOIN services s ON s.id = ps.service_id
          JOIN projects p ON p.id = ps.project_id
          JOIN domains d ON d.id = p.domain_id
         WHERE ps.checked_at IS NOT NULL ORDER BY d.uuid, p.uuid, s.type
        """
    )
    return ScrapeState(
        [ServiceScrapes._make(row) for row in services],
        [(name, bool(ok)) for name, ok in capacitors],
        [ProjectScrape._make([*row[:5], bool(row[5])]) for row in projects],
    )
