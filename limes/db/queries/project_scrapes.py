"""When projects were scraped, and since when their scrapes fail."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import peewee
from peewee import JOIN, Case, Value, fn

from limes.db.compiled import Compiled, Parameters, Select, any_of, compiled
from limes.db.engine import Engine
from limes.db.models import Capacitor, Domain, ProjectService, Resource, Service
from limes.db.queries.projects import in_projects


def failing_since(row: Any) -> Case:
    """Since when the scrapes of a row fail (`ProjectService`, or an alias of it); null if the last scrape succeeded."""
    return Case(None, [(row.scrape_error != "", fn.COALESCE(row.failing_since, row.checked_at))])


FAILING_SINCE = failing_since(ProjectService)


class ScrapeState(NamedTuple):
    """The state of the scrapes of a project's service. Times are in seconds since the epoch."""

    service_type: str
    scraped_at: float | None
    failing_since: float | None


class ProjectScrapeRow(NamedTuple):
    """When a project's service was scraped, and since when that fails, if it does."""

    project_id: int
    service_id: int
    scraped_at: float | None
    failing_since: float | None


class ScrapeRangeRow(NamedTuple):
    """When the projects of a domain, or of the cluster (`domain_id` 0), were scraped."""

    domain_id: int
    service_id: int
    min_scraped_at: float | None
    max_scraped_at: float | None


@cache
def _project_scrapes(by_id: bool) -> Compiled:
    row = ProjectService
    return compiled(
        lambda p: row.select(row.project, row.service, row.scraped_at, FAILING_SINCE).where(
            any_of(row.service, p.services), in_projects(row.project, p, by_id=by_id)
        )
    )


def project_scrapes(
    engine: Engine, services: Sequence[int], domain_id: int, project_ids: Sequence[int] | None
) -> list[ProjectScrapeRow]:
    """Returns the scrapes of these services in these projects or, without `project_ids`, in the whole domain."""
    if not services:
        return []
    query = _project_scrapes(project_ids is not None)
    return engine.all(query, ProjectScrapeRow, services=services, domain=domain_id, projects=project_ids)


_OF_PROJECT = compiled(
    lambda p: (
        ProjectService.select(Service.type, ProjectService.scraped_at, FAILING_SINCE)
        .join(Service)
        .where(ProjectService.project == p.project, any_of(Service.type, p.types))
        .order_by(Service.type)
    )
)


def scrape_states(engine: Engine, project_id: int, service_types: Sequence[str]) -> list[ScrapeState]:
    """Returns the state of these services in a project."""
    return engine.all(_OF_PROJECT, ScrapeState, project=project_id, types=service_types)


def _outages(p: Parameters) -> peewee.Query:
    every = ProjectService.alias("every")
    latest = (
        Service.select(Service.id, Service.type, fn.MAX(every.scraped_at).alias("scraped_at"))
        .join(every, on=every.service == Service.id)
        .where(any_of(Service.type, p.types))
        .group_by(Service.id, Service.type)
        .alias("latest")
    )
    since = fn.COALESCE(ProjectService.failing_since, ProjectService.checked_at)
    return (
        ProjectService.select(latest.c.type, fn.MIN(since))
        .join(latest, on=ProjectService.service == latest.c.id)
        .where(ProjectService.scrape_error != "", since > fn.COALESCE(latest.c.scraped_at, 0))
        .group_by(latest.c.type)
        .having(fn.SUM(ProjectService.scrape_failures) >= p.failures)
    )


_OUTAGES = compiled(_outages)


def outages(engine: Engine, service_types: Sequence[str], failures: int = 0) -> dict[str, float]:
    """Returns since when services fail as a whole, by type: at least so many scrapes have failed, and none has
    succeeded anywhere since.

    While its circuit is open a backend is not asked about projects at all, and yet it fails for them, too. This looks
    at all projects of these services, so call it only where something is wrong.
    """
    if not service_types:
        return {}
    rows = engine.tuples(_OUTAGES, types=service_types, failures=failures)
    return {service_type: since for service_type, since in rows if since is not None}


# -- over many projects ------------------------------------------------------------------------------------------------


def _of_domain(find: Callable[[peewee.Field], peewee.Function]) -> Any:
    """Finds the first or last entry of an index."""
    row = ProjectService
    return row.select(find(row.scraped_at)).where(row.domain_id == Domain.id, row.service == Service.id)


def _select_ranges() -> Select:
    ends = [_of_domain(find).alias(name) for find, name in ((fn.MIN, "oldest"), (fn.MAX, "newest"))]
    return Domain.select(Domain.id.alias("domain_id"), Service.id.alias("service_id"), *ends).join(Service, JOIN.CROSS)


def _cluster_range(_: Parameters) -> peewee.Query:
    ranges = _select_ranges().alias("ranges")
    columns = (Value(0), ranges.c.service_id, fn.MIN(ranges.c.oldest), fn.MAX(ranges.c.newest))
    return peewee.Select([ranges], columns).group_by(ranges.c.service_id)


_CLUSTER_RANGE = compiled(_cluster_range)
_DOMAIN_RANGES = compiled(lambda p: _select_ranges())
_SOME_DOMAIN_RANGES = compiled(lambda p: _select_ranges().where(any_of(Domain.id, p.domains)))


def cluster_scrape_ranges(engine: Engine) -> list[ScrapeRangeRow]:
    """Returns the oldest and newest scrape of each service over all projects."""
    return engine.all(_CLUSTER_RANGE, ScrapeRangeRow)


def domain_scrape_ranges(engine: Engine, domain_ids: Sequence[int] | None) -> list[ScrapeRangeRow]:
    """Returns the oldest and newest scrape of each service in each of these domains, or in each of all."""
    if domain_ids is None:
        return engine.all(_DOMAIN_RANGES, ScrapeRangeRow)
    return engine.all(_SOME_DOMAIN_RANGES, ScrapeRangeRow, domains=domain_ids)


_CAPACITOR_TIMES = (fn.MIN(Capacitor.scraped_at), fn.MAX(Capacitor.scraped_at))
_CAPACITOR_RANGE = compiled(lambda p: Capacitor.select(*_CAPACITOR_TIMES))
_SOME_CAPACITORS_RANGE = compiled(
    lambda p: Capacitor.select(*_CAPACITOR_TIMES).where(
        Capacitor.id.in_(Resource.select(Resource.capacitor).where(any_of(Resource.id, p.resources)))
    )
)


def capacity_scrape_range(engine: Engine, resources: Sequence[int] | None) -> tuple[float | None, float | None]:
    """Returns the oldest and newest capacity scrape over all capacitors, or over those of these resources."""
    if resources is not None and not resources:
        return None, None
    if resources is None:
        ((oldest, newest),) = engine.tuples(_CAPACITOR_RANGE)
    else:
        ((oldest, newest),) = engine.tuples(_SOME_CAPACITORS_RANGE, resources=resources)
    return oldest, newest
