"""What the reports read: a fixed number of set-based queries, whatever the number of domains and projects.

A `where` of these functions is a list of resource ids. Sums over projects are made by the database.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from limes.db.engine import Engine, placeholders
from limes.db.queries.project_rows import of_projects
from limes.db.queries.scrape_failures import SINCE as FAILING_SINCE
from limes.db.rows import named


class SumRow(NamedTuple):
    """Sums over the projects of a domain, or of the cluster (then `domain_id` is 0)."""

    domain_id: int
    resource_id: int
    quota: int | None
    usage: int
    physical_usage: int
    """Projects without a physical usage count with their usage."""
    has_physical_usage: bool
    burst_usage: int
    backend_quota: int
    has_infinite_backend_quota: bool | None


class ScrapeRangeRow(NamedTuple):
    """When the projects of a domain, or of the cluster (`domain_id` 0), were scraped."""

    domain_id: int
    service_id: int
    min_scraped_at: float | None
    max_scraped_at: float | None


class CapacityRow(NamedTuple):
    """Capacity of a resource in one AZ."""

    resource_id: int
    az: str
    raw_capacity: int
    usage: int | None
    subcapacities: str


class DomainRow(NamedTuple):
    """A domain."""

    id: int
    uuid: str
    name: str


class ProjectRow(NamedTuple):
    """A project."""

    id: int
    uuid: str
    name: str
    parent_uuid: str
    has_bursting: bool
    domain_id: int
    domain_name: str


class ProjectResourceRow(NamedTuple):
    """Quota and usage of one project and resource."""

    project_id: int
    resource_id: int
    quota: int | None
    backend_quota: int | None
    usage: int
    physical_usage: int | None
    max_backend_quota: int | None
    """The largest quota that the backend accepts of the project, where it says so."""


def sums(
    engine: Engine, resources: Sequence[int], domain_ids: Sequence[int] | None, *, by_domain: bool
) -> list[SumRow]:
    """Sums over projects for each resource: one row for the cluster, or one for each domain."""
    if not resources:
        return []
    group = "p.domain_id" if by_domain else "0"
    in_domain = "" if domain_ids is None else f" AND p.domain_id IN ({placeholders(len(domain_ids))})"
    rows = engine.rows(
        f"""
        SELECT {group} AS domain_key, pr.resource_id, SUM(pr.quota), SUM(pr.usage),
               SUM(COALESCE(pr.physical_usage, pr.usage)), MAX(pr.physical_usage) IS NOT NULL,
               SUM(CASE WHEN pr.usage > pr.quota THEN pr.usage - pr.quota ELSE 0 END),
               SUM(CASE WHEN pr.backend_quota > 0 THEN pr.backend_quota ELSE 0 END),
               MIN(pr.backend_quota) < 0
          FROM project_resources pr
          JOIN projects p ON p.id = pr.project_id
         WHERE pr.resource_id IN ({placeholders(len(resources))}){in_domain}
         GROUP BY domain_key, pr.resource_id
        """,
        [*resources, *(domain_ids or ())],
    )
    return list(named(SumRow, rows))


def scrape_ranges(engine: Engine, domain_ids: Sequence[int] | None, *, by_domain: bool) -> list[ScrapeRangeRow]:
    """Oldest and newest scrape of each service: one row for the cluster, or one for each domain."""
    group = "p.domain_id" if by_domain else "0"
    in_domain = "" if domain_ids is None else f" WHERE p.domain_id IN ({placeholders(len(domain_ids))})"
    rows = engine.rows(
        f"""
        SELECT {group} AS domain_key, ps.service_id, MIN(ps.scraped_at), MAX(ps.scraped_at)
          FROM project_services ps JOIN projects p ON p.id = ps.project_id{in_domain}
         GROUP BY domain_key, ps.service_id
        """,
        domain_ids or (),
    )
    return list(named(ScrapeRangeRow, rows))


def capacities(engine: Engine, resources: Sequence[int]) -> list[CapacityRow]:
    """Capacity of each resource and AZ."""
    if not resources:
        return []
    rows = engine.rows(
        "SELECT resource_id, az, raw_capacity, usage, subcapacities FROM az_resources"
        f" WHERE resource_id IN ({placeholders(len(resources))})",
        resources,
    )
    return list(named(CapacityRow, rows))


def capacity_scrape_range(engine: Engine, resources: Sequence[int] | None) -> tuple[float | None, float | None]:
    """Oldest and newest capacity scrape over all capacitors, or over those that these resources belong to."""
    if resources is not None and not resources:
        return None, None
    where = ""
    if resources is not None:
        where = f" WHERE id IN (SELECT capacitor_id FROM resources WHERE id IN ({placeholders(len(resources))}))"
    row = engine.row(f"SELECT MIN(scraped_at), MAX(scraped_at) FROM capacitors{where}", resources or ())
    return (row[0], row[1]) if row else (None, None)


class Page(NamedTuple):
    """A part of a list: at most `limit` items whose UUIDs come after `marker`."""

    limit: int
    marker: str = ""


def domains(engine: Engine, uuid: str | None = None, page: Page | None = None) -> list[DomainRow]:
    """All domains in the order of their UUIDs, or one page of them, or the one of that UUID."""
    params: list[Any]
    if page is not None:
        where, params = " WHERE uuid > %s ORDER BY uuid LIMIT %s", [page.marker, page.limit]
    else:
        where, params = (" ORDER BY uuid", []) if uuid is None else (" WHERE uuid = %s", [uuid])
    rows = engine.rows(f"SELECT id, uuid, name FROM domains{where}", params)
    return list(named(DomainRow, rows))


def domain_quotas(
    engine: Engine, resources: Sequence[int], domain_ids: Sequence[int] | None
) -> dict[tuple[int, int], int]:
    """Domain quota by domain id and resource id."""
    if not resources:
        return {}
    where = "" if domain_ids is None else f" AND domain_id IN ({placeholders(len(domain_ids))})"
    rows = engine.rows(
        "SELECT domain_id, resource_id, quota FROM domain_resources"
        f" WHERE resource_id IN ({placeholders(len(resources))}){where}",
        [*resources, *(domain_ids or ())],
    )
    return {(domain, resource): quota for domain, resource, quota in rows}


_PROJECT = (
    "SELECT p.id, p.uuid, p.name, p.parent_uuid, p.has_bursting, d.id, d.name"
    " FROM projects p JOIN domains d ON d.id = p.domain_id"
)


def projects(engine: Engine, domain_uuid: str, page: Page | None = None) -> list[ProjectRow]:
    """All projects of a domain in the order of their UUIDs, or one page of them."""
    where, params = " ORDER BY p.uuid", list[Any]([domain_uuid])
    if page is not None:
        where, params = " AND p.uuid > %s ORDER BY p.uuid LIMIT %s", [domain_uuid, page.marker, page.limit]
    rows = engine.rows(f"{_PROJECT} WHERE d.uuid = %s{where}", params)
    return list(named(ProjectRow, rows))


def projects_everywhere(engine: Engine, page: Page) -> list[tuple[ProjectRow, str]]:
    """One page of the projects of all domains, in the order of their UUIDs, each with its domain's UUID."""
    rows = engine.rows(
        "SELECT p.id, p.uuid, p.name, p.parent_uuid, p.has_bursting, d.id, d.name, d.uuid"
        " FROM projects p JOIN domains d ON d.id = p.domain_id WHERE p.uuid > %s ORDER BY p.uuid LIMIT %s",
        [page.marker, page.limit],
    )
    return [(ProjectRow._make(row[:7]), row[7]) for row in rows]


def project(engine: Engine, domain_uuid: str, uuid: str) -> ProjectRow | None:
    """The project of that UUID, if it is in the domain of that UUID."""
    row = engine.row(f"{_PROJECT} WHERE p.uuid = %s AND d.uuid = %s", [uuid, domain_uuid])
    return None if row is None else ProjectRow._make(row)


def project_resources(
    engine: Engine, resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None
) -> Iterator[ProjectResourceRow]:
    """Quota and usage of all projects of a domain, or of one, in no particular order."""
    if not resources:
        return iter(())
    where, params = of_projects(engine, resources, domain_id, project_ids)
    rows = engine.rows(
        "SELECT project_id, resource_id, quota, backend_quota, usage, physical_usage, max_backend_quota"
        f" FROM project_resources WHERE {where}",
        params,
    )
    return named(ProjectResourceRow, rows)


class ProjectFigureRow(NamedTuple):
    """One service of a project, with one of its resources if it has any."""

    project: ProjectRow
    service_type: str
    has_service: bool
    """Whether the project has a row for the service yet."""
    scraped_at: float | None
    failing_since: float | None
    resource_name: str | None
    resource: ProjectResourceRow | None


# A join along all services, so that one statement, which is its own snapshot, finds everything
_PROJECT_FIGURES = f"""
    SELECT p.id, p.uuid, p.name, p.parent_uuid, p.has_bursting, d.id, d.name,
           s.type, ps.project_id IS NOT NULL, ps.scraped_at, {FAILING_SINCE}, r.name,
           pr.project_id, pr.resource_id, pr.quota, pr.backend_quota, pr.usage, pr.physical_usage, pr.max_backend_quota
      FROM projects p
      JOIN domains d ON d.id = p.domain_id
      JOIN services s ON 1 = 1
      LEFT JOIN project_services ps ON ps.project_id = p.id AND ps.service_id = s.id
      LEFT JOIN resources r ON r.service_id = s.id
      LEFT JOIN project_resources pr ON pr.project_id = p.id AND pr.resource_id = r.id
     WHERE p.uuid = %s AND d.uuid = %s
"""


def project_figures(engine: Engine, domain_uuid: str, uuid: str) -> Iterator[ProjectFigureRow]:
    """All services and resources of one project; nothing if that domain has no such project. One statement."""
    for row in engine.read(_PROJECT_FIGURES, [uuid, domain_uuid]):
        resource = None if row[12] is None else ProjectResourceRow._make(row[12:])
        project = ProjectRow._make(row[:7])
        yield ProjectFigureRow(project, row[7], bool(row[8]), row[9], row[10], row[11], resource)


class ProjectAZRow(NamedTuple):
    """Usage of one project and resource in one AZ."""

    project_id: int
    resource_id: int
    az: str
    usage: int
    physical_usage: int | None
    subresources: str


def project_azs(
    engine: Engine, resources: Sequence[int], domain_id: int, project_ids: Sequence[int] | None
) -> Iterator[ProjectAZRow]:
    """Usage by AZ of all projects of a domain, or of one, in no particular order. For `?detail` and AZ breakdowns."""
    if not resources:
        return iter(())
    where, params = of_projects(engine, resources, domain_id, project_ids)
    rows = engine.rows(
        "SELECT project_id, resource_id, az, usage, physical_usage, subresources"
        f" FROM project_az_resources WHERE {where}",
        params,
    )
    return named(ProjectAZRow, rows)
