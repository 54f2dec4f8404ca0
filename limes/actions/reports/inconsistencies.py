"""Which quotas contradict themselves, usage, or the backends; and which scrapes fail."""

from dataclasses import dataclass, field

from limes.core.catalog import Catalog, Ref
from limes.core.quota import usable_quota
from limes.core.scrape_problem import without_project
from limes.core.selection import Selection
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import inconsistencies as queries
from limes.db.queries.inconsistencies import OvercommittedRow, ScrapeErrorRow, SuspiciousRow


@dataclass(frozen=True, slots=True)
class ProjectInconsistency:
    """A project's resource. `usable_quota` is the quota with bursting."""

    ref: Ref
    row: SuspiciousRow
    usable_quota: int


@dataclass(frozen=True, slots=True)
class InconsistencyReport:
    """The three lists of the API document, each in the order of domain, project, service and resource names."""

    overcommitted: list[tuple[Ref, OvercommittedRow]] = field(default_factory=list)
    overspent: list[ProjectInconsistency] = field(default_factory=list)
    mismatched: list[ProjectInconsistency] = field(default_factory=list)


def run(engine: Engine, catalog: Catalog, selection: Selection) -> InconsistencyReport:
    """Reads the report in three queries."""
    return engine.snapshot(lambda: _read(engine, catalog, selection))


def _read(engine: Engine, catalog: Catalog, selection: Selection) -> InconsistencyReport:
    ids = catalog_queries.resource_ids(engine)
    refs = {ids[ref]: ref for ref in selection.refs if ref in ids}
    report = InconsistencyReport()
    for row in queries.overcommitted_domains(engine, list(refs)):
        report.overcommitted.append((refs[row.resource_id], row))
    for project in queries.suspicious_projects(engine, list(refs)):
        ref = refs[project.resource_id]
        behavior = catalog.behavior(ref, f"{project.domain_name}/{project.project_name}")
        usable = usable_quota(project.quota, behavior.burst_multiplier if project.has_bursting else 0)
        found = ProjectInconsistency(ref, project, usable)
        if project.usage > usable:
            report.overspent.append(found)
        if project.backend_quota is not None and project.backend_quota != usable:
            report.mismatched.append(found)
    report.overcommitted.sort(key=lambda item: (item[1].domain_name, item[0]))
    for projects in (report.overspent, report.mismatched):
        projects.sort(key=lambda item: (item.row.domain_name, item.row.project_name, item.ref))
    return report


@dataclass(frozen=True, slots=True)
class ScrapeErrorGroup:
    """Projects in which scraping a service fails with the same message, but for their own ids in it.

    `first` is the first by domain and name.
    """

    first: ScrapeErrorRow
    affected_projects: int


def scrape_errors(engine: Engine, selection: Selection) -> list[ScrapeErrorGroup]:
    """One group for each service type and message, in the order of service type and project id.

    A service is asked for as a whole, so its errors are those of each of its resources.
    """
    services = {service_type for service_type, _ in selection.refs}
    groups: dict[tuple[str, str], list[ScrapeErrorRow]] = {}
    for row in engine.snapshot(lambda: queries.scrape_errors(engine)):
        if row.service_type in services:
            key = (row.service_type, without_project(row.message, row.project_uuid))
            groups.setdefault(key, []).append(row)
    found = [ScrapeErrorGroup(rows[0], len(rows)) for rows in groups.values()]
    return sorted(found, key=lambda group: (group.first.service_type, group.first.project_uuid))
