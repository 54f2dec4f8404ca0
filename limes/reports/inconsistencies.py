"""Which quotas contradict themselves, usage, or the backends; which scrapes fail; which overrides have no effect."""

import enum
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct, field

from limes.app.context import Limes
from limes.autogrow import compute, figures, rules
from limes.backends.calls import without_project
from limes.catalog.catalog import Ref, Selection
from limes.catalog.queries import resource_ids
from limes.db.transactions import snapshot
from limes.quota.constraints import QuotaOverride, QuotaOverrides
from limes.quota.rules import usable_quota
from limes.reports import inconsistency_queries as queries


class ProjectInconsistency(NamedTuple):
    """A project's resource. `usable_quota` is the quota with bursting."""

    ref: Ref
    row: queries.SuspiciousRow
    usable_quota: int


class InconsistencyReport(Struct, frozen=True):
    """The three lists of the API document, each in the order of domain, project, service and resource names."""

    overcommitted: list[tuple[Ref, queries.OvercommittedRow]] = field(default_factory=list)
    overspent: list[ProjectInconsistency] = field(default_factory=list)
    mismatched: list[ProjectInconsistency] = field(default_factory=list)


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
        usable = project.quota
        if project.has_bursting:
            behavior = limes.catalog.behavior(ref, f"{project.project.domain_name}/{project.project.name}")
            usable = usable_quota(project.quota, behavior.burst_multiplier)
        inconsistency = ProjectInconsistency(ref, project, usable)
        if project.usage > usable:
            report.overspent.append(inconsistency)
        if project.backend_quota is not None and project.backend_quota != usable:
            report.mismatched.append(inconsistency)
    report.overcommitted.sort(key=lambda item: (item[1].domain_name, item[0]))
    for projects in (report.overspent, report.mismatched):
        projects.sort(key=lambda item: (item.row.project.domain_name, item.row.project.name, item.ref))
    return report


def find_scrape_errors(limes: Limes, selection: Selection) -> list[tuple[queries.ScrapeErrorRow, int]]:
    """Returns the first of the projects (by domain and name) in which scraping a service fails with the same message,
    but for their own ids in it, and how many there are; in the order of service type and project id. A service is
    scraped as a whole, so its errors are those of each of its resources."""
    services = {service_type for service_type, _ in selection.refs}
    groups: dict[tuple[str, str], list[queries.ScrapeErrorRow]] = {}
    for row in limes.engine.snapshot(lambda: queries.scrape_errors(limes.engine)):
        if row.service_type in services:
            key = (row.service_type, without_project(row.message, row.project.uuid))
            groups.setdefault(key, []).append(row)
    ordered = sorted(groups.values(), key=lambda rows: (rows[0].service_type, rows[0].project.uuid))
    return [(rows[0], len(rows)) for rows in ordered]


class Reason(enum.StrEnum):
    """Why an override has no effect, or not the whole one."""

    NO_PROJECT = "no-project"
    """There is no project of that name, or no domain."""
    NOT_AUTOGROW = "not-autogrow"
    """People set the resource's quota."""
    BELOW_NEED = "below-need"
    """The project uses more, or has committed to more: quota stays above the override until it needs less."""


class IneffectiveOverride(NamedTuple):
    override: QuotaOverride
    reason: Reason
    needed: int = 0
    """What the project needs, for `BELOW_NEED`."""


def find_ineffective(limes: Limes, overrides: QuotaOverrides) -> list[IneffectiveOverride]:
    """Returns those of these overrides that are ineffective, in their order. Sends no request if there are none. The
    number of statements does not depend on the number of overrides."""
    entries = list(overrides.items())
    return limes.engine.snapshot(lambda: list(_find(limes, entries))) if entries else []


def _find(limes: Limes, entries: list[QuotaOverride]) -> Iterator[IneffectiveOverride]:
    projects = figures.projects_by_names(limes.engine, {(entry.domain, entry.project) for entry in entries})
    growing = {entry.ref for entry in entries if compute.autogrow_rule(limes.catalog, entry.ref)}
    ids = {ref: id_ for ref, id_ in resource_ids(limes.engine).items() if ref in growing}
    usage = figures.read_usage(limes.engine, projects.values(), ids.values())
    committed = figures.read_committed(limes.engine, projects.values(), ids.values(), limes.now())
    for entry in entries:
        project = projects.get((entry.domain, entry.project))
        if entry.ref not in growing:
            yield IneffectiveOverride(entry, Reason.NOT_AUTOGROW)
        elif project is None:
            yield IneffectiveOverride(entry, Reason.NO_PROJECT)
        elif entry.ref in ids:
            place = (project, ids[entry.ref])
            is_pooled = not limes.catalog.behavior(entry.ref).commitment_is_az_aware
            demand = rules.demand_by_az(usage.get(place, {}), {}, committed.get(place, {}), is_pooled=is_pooled)
            needed = sum(each.needed for each in demand.values())
            if needed > entry.quota:
                yield IneffectiveOverride(entry, Reason.BELOW_NEED, needed)
