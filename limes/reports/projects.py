"""Quota and usage of projects: of one, of a domain's, and of all."""

import math
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import Struct

from limes.app.context import Limes
from limes.autogrow.queries import autogrow_bounds
from limes.catalog.catalog import Page, Ref, Selection
from limes.catalog.queries import all_ids
from limes.db.engine import Engine
from limes.db.transactions import snapshot
from limes.labels import labels, rules
from limes.projects import queries as projects
from limes.projects import scope
from limes.projects.queries import ProjectRow, these
from limes.quota import changes
from limes.quota import temporary_queries as temporary_quotas
from limes.quota.queries import Bounds
from limes.quota.temporary import TemporaryQuota
from limes.reports.cluster import AZBreakdown, read_commitments
from limes.usage import project_sums
from limes.usage import project_sums as queries

CHUNK = 200
"""Projects that `stream` reads, and holds in memory, at a time."""


class ProjectDetails(NamedTuple):
    selection: Selection
    with_azs: bool = False
    commitments_at: float | None = None
    """Seconds since the epoch: the commitments of this time are reported. None reports none."""
    stale_before: float = -math.inf
    """Figures that are older than this time are too old."""


@dataclass(slots=True)
class GrowingQuota:
    """The fields of a quota that grows by itself besides its amount."""

    bounds: Bounds
    """What people have set."""
    by_az: dict[str, int] = field(default_factory=dict)


class ProjectReport(Struct):
    """The figures of one project. A service that was never scraped has no time and no resources."""

    project: ProjectRow
    resources: dict[Ref, queries.ResourceFigures] = {}
    scraped_at: dict[str, float | None] = {}
    failing_since: dict[str, float] = {}
    """Services whose scrapes fail."""
    azs: dict[Ref, list[queries.ProjectAZRow]] = {}
    """Only filled if asked for; in the order `any`, AZs by name, `unknown`."""
    committed: AZBreakdown = {}
    """Only filled if asked for."""
    growing: dict[Ref, GrowingQuota] = {}
    """Of what grows by itself. There, `azs` are filled even if not asked for."""
    temporary: dict[Ref, TemporaryQuota] = {}
    """Quotas that end by themselves, or that are planned."""
    tag: str = ""
    """Of all its quotas, selected or not (`limes.quota.rules`). Only in the report of a single project."""


@snapshot
def report_projects_of_domain(
    limes: Limes,
    domain_uuid: str,
    details: ProjectDetails,
    page: Page | None = None,
    wanted: Collection[rules.Wanted] = (),
) -> list[ProjectReport]:
    """Returns all projects of a domain that have these labels, or a page of them, in the order of their UUIDs. Raises
    `NotFound`."""
    if wanted:
        rows = labels.projects_with(limes.engine, domain_uuid, wanted, *(page or ()))
    else:
        rows = projects.projects_of_domain(limes.engine, domain_uuid, *(page or ()))
    if not rows:
        scope.find_domain(limes.engine, domain_uuid)
        return []
    return _read(limes, rows, details, rows[0].domain_id, [row.id for row in rows] if wanted or page else None)


def report_page_of_projects(limes: Limes, details: ProjectDetails, page: Page) -> list[ProjectReport]:
    """Returns one page of the projects of all domains, in the order of their UUIDs."""
    return limes.engine.snapshot(lambda: _page(limes, details, page))


def stream_projects(limes: Limes, details: ProjectDetails) -> Generator[ProjectReport, None, None]:
    """Yields the projects of all domains, in the order of their UUIDs. See `Engine.snapshot_stream`."""

    def read() -> Iterator[ProjectReport]:
        page = Page(CHUNK)
        while reports := _page(limes, details, page):
            yield from reports
            if len(reports) < CHUNK:
                return
            page = Page(CHUNK, reports[-1].project.uuid)

    return limes.engine.snapshot_stream(read)


def report_project(limes: Limes, domain_uuid: str, uuid: str, details: ProjectDetails) -> ProjectReport:
    """Returns one project. Raises `NotFound` for an unknown domain or project, and for one of another domain."""
    if not details.with_azs and not any(map(limes.catalog.autogrow, limes.catalog.refs())):
        report = _read_one(limes, domain_uuid, uuid, details.selection)
        if report is not None:
            _add_outages(limes, [report], details.stale_before)
            return report

    def read() -> ProjectReport:
        project = scope.find_project(limes.engine, domain_uuid, uuid)
        report = _read(limes, [project], details, project.domain_id, [project.id])[0]
        if details.selection.is_whole(limes.catalog):
            quotas = {ref: quota for ref, (_, _, quota, *_) in report.resources.items()}
            bounds = {ref: each.bounds for ref, each in report.growing.items()}
            report.tag = changes.tag_of_project(limes.catalog, quotas, bounds, project.has_bursting)
        else:
            report.tag = changes.project_tag(limes.engine, limes.catalog, project.id)
        return report

    return limes.engine.snapshot(read)


def _read_one(limes: Limes, domain_uuid: str, uuid: str, selection: Selection) -> ProjectReport | None:
    """Returns one project without AZs in one round trip: this is what each page of a dashboard asks first. None if
    there is no such project. Not for clouds in which quota grows by itself."""
    report: ProjectReport | None = None
    refs = set(selection.refs)
    quotas: dict[Ref, int | None] = {}
    for row in queries.project_services(limes.engine, domain_uuid, uuid):
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
                if row.temporary is not None:
                    report.temporary[ref] = row.temporary
    if report is not None:
        report.tag = changes.tag_of_project(limes.catalog, quotas, {}, report.project.has_bursting)
    return report


def _page(limes: Limes, details: ProjectDetails, page: Page) -> list[ProjectReport]:
    rows = projects.projects_everywhere(limes.engine, page)
    return _read(limes, rows, details, 0, [row.id for row in rows])


def _read(
    limes: Limes, rows: Sequence[ProjectRow], details: ProjectDetails, domain_id: int, project_ids: Sequence[int] | None
) -> list[ProjectReport]:
    """Returns the reports of these projects, which are all of the domain or, with `project_ids`, of any."""
    if not rows:
        return []
    engine, whose = limes.engine, (domain_id, project_ids)
    types, ids = all_ids(engine)
    types = {id_: type_ for id_, type_ in types.items() if type_ in details.selection.services}
    refs = {ids[ref]: ref for ref in details.selection.refs if ref in ids}
    growing = {id_: ref for id_, ref in refs.items() if limes.catalog.autogrow(ref)}
    reports = {project.id: ProjectReport(project) for project in rows}
    for project_id, service_id, scraped_at, failing_since in projects.project_scrapes(engine, list(types), *whose):
        reports[project_id].scraped_at[types[service_id]] = scraped_at
        if failing_since is not None:
            reports[project_id].failing_since[types[service_id]] = failing_since
    for row in queries.project_resources(engine, these(refs), *whose):
        reports[row[0]].resources[refs[row[1]]] = row
    # one query in a table of few rows
    for (project_id, resource_id), temporary in temporary_quotas.of_projects(engine, *whose).items():
        if resource_id in refs and resource_id not in growing and project_id in reports:
            reports[project_id].temporary[refs[resource_id]] = temporary
    # of what grows by itself, figures by AZ are always shown
    in_azs = queries.project_azs(engine, these(refs if details.with_azs else growing), *whose)
    for in_az in sorted(in_azs, key=lambda in_az: limes.catalog.az_order(in_az.az)):
        reports[in_az.project_id].azs.setdefault(refs[in_az.resource_id], []).append(in_az)
    if growing:
        _add_growing(engine, reports, growing, whose)
    if details.commitments_at is not None:
        among = (
            project_sums.Among("domain", [domain_id])
            if project_ids is None
            else project_sums.Among("project", project_ids)
        )
        breakdowns = read_commitments(engine, refs, details.commitments_at, "project", among)
        for report in reports.values():
            report.committed = breakdowns.get(report.project.id, {})
    _add_outages(limes, reports.values(), details.stale_before)
    return list(reports.values())


def _add_growing(
    engine: Engine, reports: dict[int, ProjectReport], refs: dict[int, Ref], whose: tuple[int, Sequence[int] | None]
) -> None:
    """Adds quota by AZ, and what bounds it: two more queries."""
    bounds = autogrow_bounds(engine, list(refs), *whose, lock=False)
    for (project, resource), each in bounds.items():
        quota = GrowingQuota((each.max_quota, each.min_quota, bool(each.forbids_autogrowth)))
        reports[project].growing[refs[resource]] = quota
    for (project, resource, az), amount in queries.project_az_quotas(engine, these(refs), *whose).items():
        reports[project].growing[refs[resource]].by_az[az] = amount


def _add_outages(limes: Limes, reports: Iterable[ProjectReport], stale_before: float) -> None:
    """Adds since when a service fails everywhere, where figures are missing or too old although no scrape of the
    project has failed. One more query, and none while all is well."""
    doubtful = [
        (report, type_)
        for report in reports
        for type_, scraped_at in report.scraped_at.items()
        if type_ not in report.failing_since and (scraped_at is None or scraped_at < stale_before)
    ]
    if doubtful:
        types = sorted({type_ for _, type_ in doubtful})
        outages = limes.engine.snapshot(lambda: projects.outages(limes.engine, types))
        for report, type_ in doubtful:
            if type_ in outages:
                report.failing_since[type_] = outages[type_]
