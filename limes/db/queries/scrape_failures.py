"""Which backends cannot be read, and since when: for those who are told so, not for those who mend it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from peewee import Case, fn

from limes.db.compiled import any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Project, ProjectService, Service

SINCE = "CASE WHEN ps.scrape_error <> '' THEN COALESCE(ps.failing_since, ps.checked_at) END"
"""As `failing_since`, in SQL, where `project_services` is called `ps`."""


def failing_since(row: Any = ProjectService) -> Any:
    """Since when the scrapes of a row of `ProjectService`, or of an alias of it, fail; null if the last one did not."""
    return Case(None, [(row.scrape_error != "", fn.COALESCE(row.failing_since, row.checked_at))])


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


_COLUMNS = (ProjectService.project, ProjectService.service, ProjectService.scraped_at, failing_since())
_IN_PROJECTS = compiled(
    lambda p: ProjectService.select(*_COLUMNS).where(
        any_of(ProjectService.service, p.services), any_of(ProjectService.project, p.projects)
    )
)
_IN_DOMAIN = compiled(
    lambda p: ProjectService.select(*_COLUMNS).where(
        any_of(ProjectService.service, p.services),
        any_of(ProjectService.project, Project.select(Project.id).where(Project.domain == p.domain)),
    )
)


def project_scrapes(
    engine: Engine, services: Sequence[int], domain_id: int, project_ids: Sequence[int] | None
) -> list[ProjectScrapeRow]:
    """How the scrapes of each project's services go: of these projects, or of all in the domain."""
    query = _IN_DOMAIN if project_ids is None else _IN_PROJECTS
    return engine.all(query, ProjectScrapeRow, services=services, domain=domain_id, projects=project_ids)


_OF_PROJECT = compiled(
    lambda p: (
        ProjectService.select(Service.type, ProjectService.scraped_at, failing_since())
        .join(Service)
        .where(ProjectService.project == p.project, any_of(Service.type, p.services))
        .order_by(Service.type)
    )
)


def of_project(engine: Engine, project_id: int, service_types: Sequence[str]) -> list[ScrapeState]:
    """The state of these services in a project."""
    return engine.all(_OF_PROJECT, ScrapeState, project=project_id, services=service_types)


def everywhere(engine: Engine, service_types: Sequence[str]) -> dict[str, float]:
    """Since when a service fails as a whole, by its type: scrapes fail, and since then none has succeeded anywhere.

    A backend that is left alone while it does not answer fails for projects that it was not asked about, too. Looks at
    all projects of these services, so ask only where something is wrong.
    """
    if not service_types:
        return {}
    scraped = ProjectService.alias()
    latest = (
        Service.select(Service.id, Service.type, fn.MAX(scraped.scraped_at).alias("scraped_at"))
        .join(scraped, on=scraped.service == Service.id)
        .where(any_of(Service.type, service_types))
        .group_by(Service.id, Service.type)
    )
    began = fn.COALESCE(ProjectService.failing_since, ProjectService.checked_at)
    outages = (
        ProjectService.select(latest.c.type, fn.MIN(began))
        .join(latest, on=ProjectService.service == latest.c.id)
        .where(ProjectService.scrape_error != "", began > fn.COALESCE(latest.c.scraped_at, 0))
        .group_by(latest.c.type)
    )
    return dict(engine.tuples(outages))
