"""Quota and usage of projects."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from limes.actions.lookup import find_domain, find_project
from limes.actions.quota_changes import project_tag, tag_of_project
from limes.actions.reports import az_breakdown
from limes.core.catalog import Catalog, Ref
from limes.core.selection import Page, Selection
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import project_figures as queries
from limes.db.queries import project_scrapes
from limes.db.queries.project_figures import ProjectAZRow, ProjectResourceRow
from limes.db.queries.project_sums import Among
from limes.db.queries.projects import ProjectRow, projects_of_domain


@dataclass(slots=True)
class ProjectReport:
    """The figures of one project. A service that was never scraped has no time and no resources."""

    project: ProjectRow
    resources: dict[Ref, ProjectResourceRow] = field(default_factory=dict)
    scraped_at: dict[str, float | None] = field(default_factory=dict)
    failing_since: dict[str, float] = field(default_factory=dict)
    """Services whose scrapes fail."""
    azs: dict[Ref, list[ProjectAZRow]] = field(default_factory=dict)
    """Only filled if asked for; in the order `any`, AZs by name, `unknown`."""
    committed: az_breakdown.AZBreakdown = field(default_factory=dict)
    """Only filled if asked for."""
    tag: str = ""
    """Of all its quotas, selected or not (`limes.core.quota`). Only of a project that was asked for alone."""


def run_all(
    engine: Engine,
    catalog: Catalog,
    selection: Selection,
    domain_uuid: str,
    *,
    with_azs: bool,
    commitments_at: float | None = None,
    page: Page | None = None,
    stale_before: float = -math.inf,
) -> Sequence[ProjectReport]:
    """All projects of a domain in the order of their UUIDs, or a page of them. Raises `NotFound`."""

    def read() -> Sequence[ProjectReport]:
        projects = projects_of_domain(engine, domain_uuid, page)
        if not projects:
            find_domain(engine, domain_uuid)
            return []
        domain_id = projects[0].domain_id
        ids = None if page is None else [project.id for project in projects]
        reports = read_figures(engine, catalog, selection, projects, domain_id, ids, with_azs)
        if commitments_at is not None:
            among = Among("domain", [domain_id]) if ids is None else Among("project", ids)
            add_commitments(engine, selection, reports, commitments_at, among)
        add_outages(engine, reports, stale_before)
        return reports

    return engine.snapshot(read)


def run_one(
    engine: Engine,
    catalog: Catalog,
    selection: Selection,
    domain_uuid: str,
    uuid: str,
    *,
    with_azs: bool,
    commitments_at: float | None = None,
    stale_before: float = -math.inf,
) -> ProjectReport:
    """One project. Raises `NotFound` for an unknown domain or project, and for one of another domain."""
    if not with_azs:
        report = _without_azs(engine, catalog, selection, domain_uuid, uuid)
        if report is not None:
            add_outages(engine, [report], stale_before)
            return report

    def read() -> ProjectReport:
        project = find_project(engine, domain_uuid, uuid)
        report = read_figures(engine, catalog, selection, [project], project.domain_id, [project.id], with_azs)[0]
        report.tag = _tag(engine, catalog, selection, report)
        if commitments_at is not None:
            add_commitments(engine, selection, [report], commitments_at, Among("project", [project.id]))
        add_outages(engine, [report], stale_before)
        return report

    return engine.snapshot(read)


def _tag(engine: Engine, catalog: Catalog, selection: Selection, report: ProjectReport) -> str:
    """From what was read already, if that is all."""
    if selection.is_whole(catalog):
        quotas = {ref: row.quota for ref, row in report.resources.items()}
        return tag_of_project(catalog, quotas, report.project.has_bursting)
    return project_tag(engine, catalog, report.project.id)


def _without_azs(
    engine: Engine, catalog: Catalog, selection: Selection, domain_uuid: str, uuid: str
) -> ProjectReport | None:
    """One project in one round trip: this is what each page of a dashboard asks first. None if there is no such."""
    report: ProjectReport | None = None
    refs = set(selection.refs)
    quotas: dict[Ref, int | None] = {}
    for row in queries.project_services(engine, domain_uuid, uuid):
        report = report or ProjectReport(row.project)
        if row.has_service and row.service_type in selection.services:
            report.scraped_at[row.service_type] = row.scraped_at
            if row.failing_since is not None:
                report.failing_since[row.service_type] = row.failing_since
        if row.resource is not None and row.resource_name is not None:
            ref = (row.service_type, row.resource_name)
            quotas[ref] = row.resource.quota
            if ref in refs:
                report.resources[ref] = row.resource
    if report is not None:
        report.tag = tag_of_project(catalog, quotas, report.project.has_bursting)
    return report


def read_figures(
    engine: Engine,
    catalog: Catalog,
    selection: Selection,
    projects: Sequence[ProjectRow],
    domain_id: int,
    project_ids: Sequence[int] | None,
    with_azs: bool,
) -> Sequence[ProjectReport]:
    """The reports of these projects, which are all of the domain or, with `project_ids`, of any."""
    if not projects:
        return []
    types, ids = catalog_queries.all_ids(engine)
    types = {id_: type_ for id_, type_ in types.items() if type_ in selection.services}
    refs = {ids[ref]: ref for ref in selection.refs if ref in ids}
    reports = {project.id: ProjectReport(project) for project in projects}
    for scrape in project_scrapes.project_scrapes(engine, list(types), domain_id, project_ids):
        report, type_ = reports[scrape.project_id], types[scrape.service_id]
        report.scraped_at[type_] = scrape.scraped_at
        if scrape.failing_since is not None:
            report.failing_since[type_] = scrape.failing_since
    for row in queries.project_resources(engine, list(refs), domain_id, project_ids):
        reports[row.project_id].resources[refs[row.resource_id]] = row
    if with_azs:
        for az_row in queries.project_azs(engine, list(refs), domain_id, project_ids):
            reports[az_row.project_id].azs.setdefault(refs[az_row.resource_id], []).append(az_row)
        for report in reports.values():
            for rows in report.azs.values():
                rows.sort(key=lambda row: catalog.az_order(row.az))
    return list(reports.values())


def add_outages(engine: Engine, reports: Iterable[ProjectReport], stale_before: float) -> None:
    """Where figures are missing or older than that time though no scrape of the project has failed: fills in since when
    the service fails everywhere. One more query, and none while all is well."""
    doubtful = [
        (report, type_)
        for report in reports
        for type_, scraped_at in report.scraped_at.items()
        if type_ not in report.failing_since and (scraped_at is None or scraped_at < stale_before)
    ]
    if doubtful:
        types = sorted({type_ for _, type_ in doubtful})
        outages = engine.snapshot(lambda: project_scrapes.outages(engine, types))
        for report, type_ in doubtful:
            if type_ in outages:
                report.failing_since[type_] = outages[type_]


def add_commitments(
    engine: Engine, selection: Selection, reports: Sequence[ProjectReport], now: float, among: Among
) -> None:
    """Fills in what these projects, which are those of `among`, have committed to by the time `now`."""
    if not reports:
        return
    ids = catalog_queries.resource_ids(engine)
    refs = {ids[ref]: ref for ref in selection.refs if ref in ids}
    found = az_breakdown.commitments(engine, refs, now, "project", among)
    for report in reports:
        report.committed = found.get(report.project.id, {})
