"""How the collector's work goes: what its gauges and `limes status` show. Of services that are configured."""

from collections.abc import Iterator
from typing import NamedTuple

from limes.core.error_text import PLACEHOLDER
from limes.db.engine import Engine


class ServiceState(NamedTuple):
    """One service over all projects. Times are seconds since the epoch; None where there is none."""

    service: str
    projects: int
    oldest: float | None
    newest: float | None
    unscraped: int
    """Projects that were never scraped with success."""
    stale: int
    """Projects whose figures are older than the given time."""
    scrape_errors: int
    due_scrapes: int
    due_scrape_since: float | None
    """When the oldest due scrape became due. One that was asked for is due at once and has no time."""
    running_scrapes: int
    pending: int
    """Projects whose quota has to be written."""
    pending_since: float | None
    push_errors: int
    due_pushes: int
    due_push_since: float | None
    drifted: int
    """Projects whose backend quota somebody else has changed."""


class CapacitorState(NamedTuple):
    """One capacitor."""

    name: str
    scraped_at: float | None
    next_scrape_at: float
    error: str

    @property
    def ok(self) -> bool:
        """Whether the last scrape succeeded."""
        return self.scraped_at is not None and not self.error


class JobState(NamedTuple):
    """A job that is done for the whole cluster."""

    name: str
    ran_at: float | None
    next_run_at: float
    error: str


class AuditBacklog(NamedTuple):
    """Audit events that one sink was not given yet, and when the first of them happened."""

    sink: str
    events: int
    since: float


class WorkState(NamedTuple):
    """Everything."""

    services: list[ServiceState]
    capacitors: list[CapacitorState]
    jobs: list[JobState]
    audit: list[AuditBacklog]
    """Sinks for which nothing waits are missing."""


class ProjectScrape(NamedTuple):
    """The last scrape of one service of one project."""

    domain: str
    domain_id: str
    project: str
    project_id: str
    service: str
    ok: bool


_CLAIMED = "ps.scrape_claimed_until IS NOT NULL AND ps.scrape_claimed_until > %s"
_SERVICES = f"""
SELECT s.type, COUNT(ps.id), MIN(ps.scraped_at), MAX(ps.scraped_at),
       COUNT(CASE WHEN ps.id IS NOT NULL AND ps.scraped_at IS NULL THEN 1 END),
       COUNT(CASE WHEN ps.scraped_at < %s THEN 1 END),
       COUNT(CASE WHEN ps.scrape_error <> '' THEN 1 END),
       COUNT(CASE WHEN ps.next_scrape_at <= %s OR (ps.is_stale AND NOT ({_CLAIMED})) THEN 1 END),
       MIN(CASE WHEN ps.next_scrape_at <= %s THEN ps.next_scrape_at END),
       COUNT(CASE WHEN {_CLAIMED} THEN 1 END),
       COUNT(ps.quota_desynced_at), MIN(ps.quota_desynced_at),
       COUNT(CASE WHEN ps.push_error <> '' THEN 1 END),
       COUNT(CASE WHEN ps.next_push_at <= %s THEN 1 END),
       MIN(CASE WHEN ps.next_push_at <= %s THEN ps.next_push_at END),
       COUNT(ps.drifted_at)
  FROM services s LEFT JOIN project_services ps ON ps.service_id = s.id
 WHERE s.vanished_at IS NULL GROUP BY s.type ORDER BY s.type
"""
_AUDIT = "SELECT sink, COUNT(*), MIN(at) FROM audit_outbox WHERE delivered_at IS NULL GROUP BY sink ORDER BY sink"


def read(engine: Engine, now: float, stale_before: float) -> WorkState:
    """Four queries, whatever the number of projects. To be called in a snapshot."""
    services = engine.rows(_SERVICES, [stale_before, now, now, now, now, now, now])
    capacitors = engine.rows("SELECT name, scraped_at, next_scrape_at, scrape_error FROM capacitors ORDER BY name")
    jobs = engine.rows("SELECT name, ran_at, next_run_at, error FROM jobs ORDER BY name")
    return WorkState(
        [ServiceState._make(row) for row in services],
        [CapacitorState._make(row) for row in capacitors],
        [JobState._make(row) for row in jobs],
        [AuditBacklog._make(row) for row in engine.rows(_AUDIT)],
    )


def project_scrapes(engine: Engine) -> Iterator[ProjectScrape]:
    """How the last scrape of every project's every service went, where there was one."""
    rows = engine.rows(
        """
        SELECT d.name, d.uuid, p.name, p.uuid, s.type,
               CASE WHEN ps.scraped_at IS NOT NULL AND ps.scrape_error = '' THEN 1 ELSE 0 END
          FROM project_services ps
          JOIN services s ON s.id = ps.service_id
          JOIN projects p ON p.id = ps.project_id
          JOIN domains d ON d.id = p.domain_id
         WHERE ps.checked_at IS NOT NULL AND s.vanished_at IS NULL ORDER BY d.uuid, p.uuid, s.type
        """
    )
    return (ProjectScrape._make([*row[:5], bool(row[5])]) for row in rows)


class Lease(NamedTuple):
    """Projects that collectors work on, by task and service, and when the first of the claims ends."""

    task: str
    service: str
    projects: int
    until: float


class ErrorGroup(NamedTuple):
    """An error of scraping or of writing quota, and in how many projects of a service it is the last one."""

    task: str
    service: str
    message: str
    projects: int


def leases(engine: Engine, now: float) -> list[Lease]:
    """Claims that have not ended, by service."""
    found = []
    for task, column in (("scrape-usage", "scrape_claimed_until"), ("push-quota", "push_claimed_until")):
        rows = engine.rows(
            f"""
            SELECT s.type, COUNT(*), MIN(ps.{column}) FROM project_services ps JOIN services s ON s.id = ps.service_id
             WHERE ps.{column} > %s AND s.vanished_at IS NULL GROUP BY s.type ORDER BY s.type
            """,
            [now],
        )
        found += [Lease(task, *row) for row in rows]
    return found


def errors(engine: Engine) -> list[ErrorGroup]:
    """The last error of each project's services, grouped; the most frequent ones first."""
    found = []
    for task, column in (("scrape-usage", "scrape_error"), ("push-quota", "push_error")):
        rows = engine.rows(
            f"""
            SELECT type, message, COUNT(*)
              FROM (SELECT s.type, REPLACE(ps.{column}, p.uuid, %s) AS message
                      FROM project_services ps
                      JOIN services s ON s.id = ps.service_id
                      JOIN projects p ON p.id = ps.project_id
                     WHERE ps.{column} <> '' AND s.vanished_at IS NULL) AS told
             GROUP BY type, message
            """,
            [PLACEHOLDER],
        )
        found += [ErrorGroup(task, service, " ".join(text.split()), count) for service, text, count in rows]
    return sorted(found, key=lambda group: (-group.projects, group))
