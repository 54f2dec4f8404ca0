"""When projects were scraped, and since when their scrapes fail."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import peewee
from peewee import JOIN, Case, Value, fn

from limes.db.compiled import any_of
from limes.db.engine import Engine
from limes.db.models import Capacitor, Domain, ProjectService, Resource, Service
from limes.db.queries.projects import in_projects
from limes.db.query import Node, mapping, rows, tuples


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


@rows(ProjectScrapeRow, skip_empty="services")
def project_scrapes(services: Sequence[int], domain_id: int, project_ids: Sequence[int] | None) -> Node:
    """The scrapes of these services in these projects or, without `project_ids`, in the whole domain."""
    row = ProjectService
    query = row.select(row.project, row.service, row.scraped_at, FAILING_SINCE)
    return query.where(any_of(row.service, services), in_projects(row.project, project_ids, domain_id))


@rows(ScrapeState)
def scrape_states(project_id: int, service_types: Sequence[str]) -> Node:
    row = ProjectService
    query = row.select(Service.type, row.scraped_at, FAILING_SINCE).join(Service)
    return query.where(row.project == project_id, any_of(Service.type, service_types)).order_by(Service.type)


@mapping(str, float, skip_empty="service_types")
def outages(service_types: Sequence[str], failures: int = 0) -> Node:
    """Since when services fail as a whole, by type: at least so many scrapes have failed, and none has succeeded
    anywhere since.

    While its circuit is open a backend is not asked about projects at all, and yet it fails for them, too. This looks
    at all projects of these services, so call it only where something is wrong.
    """
    row, every = ProjectService, ProjectService.alias("every")
    latest = (
        Service.select(Service.id, Service.type, fn.MAX(every.scraped_at).alias("scraped_at"))
        .join(every, on=every.service == Service.id)
        .where(any_of(Service.type, service_types))
        .group_by(Service.id, Service.type)
        .alias("latest")
    )
    since = fn.COALESCE(row.failing_since, row.checked_at)
    return (
        row.select(latest.c.type, fn.MIN(since))
        .join(latest, on=row.service == latest.c.id)
        .where(row.scrape_error != "", since > fn.COALESCE(latest.c.scraped_at, 0))
        .group_by(latest.c.type)
        .having(fn.SUM(row.scrape_failures) >= failures)
    )


# -- over many projects ------------------------------------------------------------------------------------------------


def _of_domain(find: Callable[[peewee.Field], peewee.Function]) -> Any:
    """Finds the first or last entry of an index."""
    row = ProjectService
    return row.select(find(row.scraped_at)).where(row.domain_id == Domain.id, row.service == Service.id)


_RANGES = Domain.select(
    Domain.id.alias("domain_id"),
    Service.id.alias("service_id"),
    _of_domain(fn.MIN).alias("oldest"),
    _of_domain(fn.MAX).alias("newest"),
).join(Service, JOIN.CROSS)


@rows(ScrapeRangeRow)
def cluster_scrape_ranges() -> Node:
    """The oldest and newest scrape of each service over all projects."""
    ranges = _RANGES.alias("ranges")
    columns = (Value(0), ranges.c.service_id, fn.MIN(ranges.c.oldest), fn.MAX(ranges.c.newest))
    return peewee.Select([ranges], columns).group_by(ranges.c.service_id)


@rows(ScrapeRangeRow)
def domain_scrape_ranges(domain_ids: Sequence[int] | None) -> Node:
    """The oldest and newest scrape of each service in each of these domains, or in each of all."""
    return _RANGES if domain_ids is None else _RANGES.where(any_of(Domain.id, domain_ids))


@tuples(tuple[float | None, float | None])
def _capacity_scrape_range(resources: Sequence[int] | None) -> Node:
    query = Capacitor.select(fn.MIN(Capacitor.scraped_at), fn.MAX(Capacitor.scraped_at))
    if resources is None:
        return query
    return query.where(Capacitor.id.in_(Resource.select(Resource.capacitor).where(any_of(Resource.id, resources))))


def capacity_scrape_range(engine: Engine, resources: Sequence[int] | None) -> tuple[float | None, float | None]:
    """The oldest and newest capacity scrape over all capacitors, or over those of these resources."""
    if resources is not None and not resources:
        return None, None
    return _capacity_scrape_range(engine, resources)[0]
