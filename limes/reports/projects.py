"""Quota and usage of projects: of one, of a domain's, and of all."""

import math
from collections.abc import Collection, Generator, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from limes.app.context import Limes
from limes.autogrow.queries import autogrow_bounds
from limes.catalog.catalog import Page, Ref, Selection
from limes.catalog.queries import all_ids
from limes.db.engine import Engine
from limes.db.transactions import snapshot
from limes.labels import labels, rules
from limes.projects import queries as projects
from limes.projects import scope
from limes.projects.queries import ProjectRow, Scrapes, these
from limes.quota import changes
from limes.quota import temporary_queries as temporary_quotas
from limes.quota.queries import Bounds, ProjectResourceRow
from limes.quota.temporary import TemporaryQuota
from limes.reports.cluster import AZBreakdown, read_commitments
from limes.reports.project_list import ProjectList, find_list, make_list
from limes.usage import project_figures as queries
from limes.usage.project_figures import ProjectFigures
from limes.usage.project_sums import Among

CHUNK = 200
"""Projects that `stream` reads, and holds in memory, at a time."""


class ProjectDetails(NamedTuple):
    selection: Selection
    with_azs: bool = False
    commitments_at: float | None = None
    """Seconds since the epoch: the commitments of this time are reported. None reports none."""
    stale_before: float = -math.inf
    """Figures that are older than this time are too old."""


class GrowingQuota(Struct):
    """The fields of a quota that grows by itself besides its amount."""

    bounds: Bounds
    """What people have set."""
    by_az: dict[str, int] = field(default_factory=dict)


class ProjectsReport(Struct):
    """The figures of some projects, by their ids. What only some have is by project and resource."""

    projects: dict[int, ProjectRow]
    """In the order of their UUIDs."""
    heads: list[str]
    """Each of them as JSON, up to its services."""
    refs: dict[int, Ref] = {}
    """The resources that are shown, by their ids."""
    figures: ProjectFigures = ProjectFigures({}, {})
    scrapes: dict[str, Scrapes] = {}
    """By type of service. One that was never scraped has no time and no resources."""
    azs: dict[tuple[int, Ref], list[queries.ProjectAZRow]] = {}
    """Only filled if asked for; in the order `any`, AZs by name, `unknown`."""
    committed: dict[int, AZBreakdown] = {}
    """Only filled if asked for."""
    growing: dict[tuple[int, Ref], GrowingQuota] = {}
    """Of what grows by itself. There, `azs` are filled even if not asked for."""
    temporary: dict[tuple[int, Ref], TemporaryQuota] = {}
    """Quotas that end by themselves, or that are planned."""
    tag: str = ""
    """Of all its quotas, selected or not (`limes.quota.rules`). Only in the report of a single project."""

    @property
    def special(self) -> set[int]:
        """Projects with quotas that others have not: some end by themselves, or may be exceeded."""
        temporary = {project_id for project_id, _ in self.temporary}
        return temporary.union(project.id for project in self.projects.values() if project.has_bursting)

    @property
    def uuids(self) -> list[str]:
        return [project.uuid for project in self.projects.values()]


@snapshot
def report_projects_of_domain(
    limes: Limes,
    domain_uuid: str,
    details: ProjectDetails,
    page: Page | None = None,
    wanted: Collection[rules.Wanted] = (),
) -> ProjectsReport:
    """Returns all projects of a domain that have these labels, or a page of them. Raises `NotFound`."""
    if not wanted and page is None and (found := find_list(limes.engine, domain_uuid)):
        domain_id, listed = found
        return _read(limes, listed, details, domain_id, None)
    domain = scope.find_domain(limes.engine, domain_uuid)
    if wanted:
        rows = labels.projects_with(limes.engine, domain_uuid, wanted, *(page or ()))
    else:
        rows = projects.projects_of_domain(limes.engine, domain, *(page or ()))
    return _read(limes, make_list(rows), details, domain.id, [row.id for row in rows])


def report_page_of_projects(limes: Limes, details: ProjectDetails, page: Page) -> ProjectsReport:
    """Returns one page of the projects of all domains."""
    return limes.engine.snapshot(lambda: _page(limes, details, page))


def stream_projects(limes: Limes, details: ProjectDetails) -> Generator[ProjectsReport, None, None]:
    """Yields the projects of all domains, in the order of their UUIDs. See `Engine.snapshot_stream`."""

    def read() -> Iterator[ProjectsReport]:
        page = Page(CHUNK)
        while uuids := (report := _page(limes, details, page)).uuids:
            yield report
            if len(uuids) < CHUNK:
                return
            page = Page(CHUNK, uuids[-1])

    return limes.engine.snapshot_stream(read)


def report_project(limes: Limes, domain_uuid: str, uuid: str, details: ProjectDetails) -> ProjectsReport:
    """Returns one project. Raises `NotFound` for an unknown domain or project, and for one of another domain."""
    if not details.with_azs and not any(map(limes.catalog.autogrow, limes.catalog.refs())):
        report = _read_one(limes, domain_uuid, uuid, details.selection)
        if report is not None:
            _add_outages(limes, report, details.stale_before)
            return report

    def read() -> ProjectsReport:
        project = scope.find_project(limes.engine, domain_uuid, uuid)
        report = _read(limes, make_list([project]), details, project.domain_id, [project.id])
        if details.selection.is_whole(limes.catalog):
            quotas = {report.refs[row.resource_id]: row.quota for row in report.figures.rows(project.id)}
            bounds = {ref: each.bounds for (_, ref), each in report.growing.items()}
            report.tag = changes.tag_of_project(limes.catalog, quotas, bounds, project.has_bursting)
        else:
            report.tag = changes.project_tag(limes.engine, limes.catalog, project.id)
        return report

    return limes.engine.snapshot(read)


def _read_one(limes: Limes, domain_uuid: str, uuid: str, selection: Selection) -> ProjectsReport | None:
    """Returns one project without AZs in one round trip: this is what each page of a dashboard asks first. None if
    there is no such project. Not for clouds in which quota grows by itself."""
    rows = queries.project_services(limes.engine, domain_uuid, uuid)
    if not rows:
        return None
    project = rows[0].project
    report = ProjectsReport(*make_list([project]))
    refs = set(selection.refs)
    quotas: dict[Ref, int | None] = {}
    shown: list[ProjectResourceRow] = []
    for row in rows:
        if row.has_service and row.service_type in selection.services and row.service_type not in report.scrapes:
            failing = {} if row.failing_since is None else {project.id: row.failing_since}
            report.scrapes[row.service_type] = Scrapes({project.id: row.scraped_at}, failing)
        if row.resource is not None and row.resource_name is not None:
            ref = (row.service_type, row.resource_name)
            quotas[ref] = row.resource.quota
            if ref in refs:
                shown.append(row.resource)
                report.refs[row.resource.resource_id] = ref
                if row.temporary is not None:
                    report.temporary[project.id, ref] = row.temporary
    report.figures = queries.figures_of(project.id, shown)
    report.tag = changes.tag_of_project(limes.catalog, quotas, {}, project.has_bursting)
    return report


def _page(limes: Limes, details: ProjectDetails, page: Page) -> ProjectsReport:
    rows = projects.projects_everywhere(limes.engine, page)
    return _read(limes, make_list(rows, with_domain=True), details, 0, [row.id for row in rows])


def _read(
    limes: Limes, listed: ProjectList, details: ProjectDetails, domain_id: int, project_ids: Sequence[int] | None
) -> ProjectsReport:
    """Returns the report of these projects, which are all of the domain or, with `project_ids`, of any."""
    report = ProjectsReport(*listed)
    if not listed.rows:
        return report
    engine, whose = limes.engine, (domain_id, project_ids)
    types, ids = all_ids(engine)
    types = {id_: type_ for id_, type_ in types.items() if type_ in details.selection.services}
    refs = {ids[ref]: ref for ref in details.selection.refs if ref in ids}
    growing = {id_: ref for id_, ref in refs.items() if limes.catalog.autogrow(ref)}
    scrapes = projects.project_scrapes(engine, list(types), *whose)
    report.scrapes = {types[id_]: each for id_, each in scrapes.items()}
    report.refs, report.figures = refs, queries.project_figures(engine, these(refs), *whose)
    # one query in a table of few rows
    for (project_id, resource_id), temporary in temporary_quotas.of_projects(engine, *whose).items():
        if resource_id in refs and resource_id not in growing and project_id in report.projects:
            report.temporary[project_id, refs[resource_id]] = temporary
    # of what grows by itself, figures by AZ are always shown
    in_azs = queries.project_azs(engine, these(refs if details.with_azs else growing), *whose)
    for in_az in sorted(in_azs, key=lambda in_az: limes.catalog.az_order(in_az.az)):
        report.azs.setdefault((in_az.project_id, refs[in_az.resource_id]), []).append(in_az)
    if growing:
        _add_growing(engine, report, growing, whose)
    if details.commitments_at is not None:
        among = Among("domain", [domain_id]) if project_ids is None else Among("project", project_ids)
        report.committed = read_commitments(engine, refs, details.commitments_at, "project", among)
    _add_outages(limes, report, details.stale_before)
    return report


def _add_growing(
    engine: Engine, report: ProjectsReport, refs: dict[int, Ref], whose: tuple[int, Sequence[int] | None]
) -> None:
    """Adds quota by AZ, and what bounds it: two more queries."""
    for (project, resource), each in autogrow_bounds(engine, list(refs), *whose, lock=False).items():
        quota = GrowingQuota((each.max_quota, each.min_quota, bool(each.forbids_autogrowth)))
        report.growing[project, refs[resource]] = quota
    for (project, resource, az), amount in queries.project_az_quotas(engine, these(refs), *whose).items():
        report.growing[project, refs[resource]].by_az[az] = amount


def _add_outages(limes: Limes, report: ProjectsReport, stale_before: float) -> None:
    """Adds since when a service fails everywhere, where figures are missing or too old although no scrape of the
    project has failed. One more query, and none while all is well."""
    doubtful = [
        (type_, project_id)
        for type_, (times, failing_since) in report.scrapes.items()
        for project_id, time in times.items()
        if (time is None or time < stale_before) and project_id not in failing_since
    ]
    if doubtful:
        types = sorted({type_ for type_, _ in doubtful})
        outages = limes.engine.snapshot(lambda: projects.outages(limes.engine, types))
        for type_, project_id in doubtful:
            if type_ in outages:
                report.scrapes[type_].failing_since[project_id] = outages[type_]
