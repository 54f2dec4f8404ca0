"""Which quotas contradict themselves, usage, or the backends; and which scrapes fail."""

from dataclasses import dataclass, field

from limes.actions.context import Limes
from limes.core.catalog import Ref
from limes.core.quota import usable_quota
from limes.core.scrape_problem import without_project
from limes.core.selection import Selection
from limes.db.queries import inconsistencies as queries
from limes.db.queries.catalog import resource_ids
from limes.db.queries.inconsistencies import OvercommittedRow, ScrapeErrorRow, SuspiciousRow
from limes.db.transactions import snapshot


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


@dataclass(frozen=True, slots=True)
class ScrapeErrorGroup:
    """Projects in which scraping a service fails with the same message, but for their own ids in it.

    `first` is the first by domain and name.
    """

    first: ScrapeErrorRow
    affected_projects: int


@snapshot
def find_inconsistencies(limes: Limes, selection: Selection) -> InconsistencyReport:
    """Returns quotas that contradict themselves, usage, or the backends. Three queries."""
    ids = resource_ids(limes.engine)
    refs = {ids[ref]: ref for ref in selection.refs if ref in ids}
    report = InconsistencyReport()
    # where quota follows usage, domains have none of their own
    with_domain_quota = [id_ for id_, ref in refs.items() if not limes.catalog.autogrow(ref)]
    for domain in queries.overcommitted_domains(limes.engine, with_domain_quota):
        report.overcommitted.append((refs[domain.resource_id], domain))
    for project in queries.suspicious_projects(limes.engine, list(refs)):
        ref = refs[project.resource_id]
        behavior = limes.catalog.behavior(ref, f"{project.domain_name}/{project.project_name}")
        usable = usable_quota(project.quota, behavior.burst_multiplier if project.has_bursting else 0)
        inconsistency = ProjectInconsistency(ref, project, usable)
        if project.usage > usable:
            report.overspent.append(inconsistency)
        if project.backend_quota is not None and project.backend_quota != usable:
            report.mismatched.append(inconsistency)
    report.overcommitted.sort(key=lambda item: (item[1].domain_name, item[0]))
    for projects in (report.overspent, report.mismatched):
        projects.sort(key=lambda item: (item.row.domain_name, item.row.project_name, item.ref))
    return report


def find_scrape_errors(limes: Limes, selection: Selection) -> list[ScrapeErrorGroup]:
    """Returns one group for each service type and message, in the order of service type and project id.

    A service is scraped as a whole, so its errors are those of each of its resources.
    """
    services = {service_type for service_type, _ in selection.refs}
    groups: dict[tuple[str, str], list[ScrapeErrorRow]] = {}
    for row in limes.engine.snapshot(lambda: queries.scrape_errors(limes.engine)):
        if row.service_type in services:
            key = (row.service_type, without_project(row.message, row.project_uuid))
            groups.setdefault(key, []).append(row)
    ordered = sorted(groups.values(), key=lambda rows: (rows[0].service_type, rows[0].project_uuid))
    return [ScrapeErrorGroup(rows[0], len(rows)) for rows in ordered]
