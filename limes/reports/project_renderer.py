"""What renders projects: thousands of them in a list."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from limes.api.answers import render_temporary
from limes.backends import base, calls
from limes.catalog.catalog import Behavior, Ref, ResourceDef, Selection, ServiceDef
from limes.kernel.validation.shape import seconds, stored
from limes.projects.queries import Scrapes
from limes.quota.queries import ProjectResourceRow
from limes.quota.rules import burst_usage, usable_quota
from limes.reports.per_az import committed, project_azs
from limes.reports.project_answers import Bursting, Project, ProjectResource, ProjectService, ScrapeProblem
from limes.reports.projects import ProjectsReport
from limes.reports.resources import RenderContext, json_lists
from limes.web.encoding import MAX_SHOWN, dump_part


class _Column(NamedTuple):
    """A resource to show. Behaviour and head are None if they depend on the project's name."""

    ref: Ref
    start: str
    """The head as JSON, up to the number of what is used; empty if more is shown than quota and usage."""
    resource: ResourceDef
    behavior: Behavior | None
    head: ProjectResource | None
    grows: bool
    """Whether its quota grows by itself."""


class _Service(NamedTuple):
    blank: ProjectService
    start: str
    """As JSON, up to its resources: behind them comes when it was scraped. Empty if fields are left out."""
    columns: list[_Column]


class _Layout(NamedTuple):
    """Where figures of projects that have the same resources are shown."""

    ids: list[int]
    """In the order of the figures."""
    columns: list[_Column]
    """In the order of the answer."""
    starts: list[tuple[str, int]]
    """Of these columns, with their places among the figures."""
    services: list[slice]
    """Which of the columns are those of each service."""
    careful: frozenset[int]
    """Ids of resources of which more is shown than quota and usage."""


class _Known(NamedTuple):
    """A report, and what is looked up in it once."""

    report: ProjectsReport
    special: set[int]
    """Projects of which all is rendered with care."""
    unusual: set[int]
    """And those with resources of which there is more to say than quota and usage."""
    fine: list[dict[int, int]]
    """Of each service: when it was scraped, by project, where all is well with it."""


_CELLS = 600
"""How many resources are rendered at a time: glibc would give the memory of more back to the system each time."""
_NOTHING = ("", "", "")
_NEVER = Scrapes({}, {})


class ProjectRenderer:
    """Renders the projects of one request. What thousands of them share is looked up once, and some are rendered
    together, column by column. Most resources have nothing but quota and usage: to write these takes a tenth of the
    time of what `_resource` does."""

    def __init__(self, context: RenderContext, selection: Selection) -> None:
        self._context = context
        self._services = [self._of_service(*each) for each in selection.services.values()]
        self._block = max(1, _CELLS // max(3, sum(len(service.columns) for service in self._services)))
        self._layouts: dict[str, _Layout] = {}
        self._tails = {has_bursting: self._tail(has_bursting) for has_bursting in (False, True)}

    def _tail(self, has_bursting: bool) -> str:
        """Returns what comes behind the services of a project, as JSON."""
        multiplier = self._context.catalog.burst_multiplier
        bursting = Bursting(enabled=has_bursting, multiplier=multiplier) if multiplier else None
        shown = self._context.trim(Project("", "", parent_id="", services=[], bursting=bursting))
        return dump_part(shown).decode().partition('"services":[')[2]

    def _of_service(self, service: ServiceDef, resources: Iterable[ResourceDef]) -> _Service:
        blank = ProjectService(type=service.type, area=service.area, resources=[], scraped_at=0)
        start = dump_part(blank).decode().removesuffix('],"scraped_at":0}') if self._context.fields is None else ""
        return _Service(blank, start, [self._column((service.type, resource.name), resource) for resource in resources])

    def _column(self, ref: Ref, resource: ResourceDef) -> _Column:
        context = self._context
        behavior = context.catalog.behavior_everywhere(ref)
        head = context.head(ProjectResource, ref, resource, behavior) if behavior else None
        grows = context.catalog.autogrow(ref) is not None
        is_usual = head is not None and not grows and not context.with_azs and context.fields is None
        start = dump_part(head).decode().removesuffix("0}") if is_usual else ""
        return _Column(ref, start, resource, behavior, head, grows)

    def _layout(self, resources: str, refs: Mapping[int, Ref]) -> _Layout:
        ids = [int(id_) for id_ in resources.split(",") if id_]
        places = {refs[id_]: place for place, id_ in enumerate(ids)}
        columns: list[_Column] = []
        services = []
        for service in self._services:
            present = [column for column in service.columns if column.ref in places]
            services.append(slice(len(columns), len(columns) + len(present)))
            columns += present
        starts = [(column.start, places[column.ref]) for column in columns]
        return _Layout(ids, columns, starts, services, frozenset(ids[place] for start, place in starts if not start))

    def render(self, report: ProjectsReport) -> Iterator[bytes]:
        """Yields the projects as JSON, in the order of the report: some at a time, each on a line of its own, with
        commas between them."""
        special = report.special
        fine = [self._fine(report, service) for service in self._services]
        known = _Known(report, special, special | report.figures.unusual.keys(), fine)
        ids, bursting = [*report.projects], [project.has_bursting for project in report.projects.values()]
        separator = ""
        for start in range(0, len(ids), self._block):
            block = slice(start, start + self._block)
            services, tails = self._services_of(known, ids[block]), map(self._tails.__getitem__, bursting[block])
            lines = map("".join, zip(report.heads[block], services, tails, strict=False))
            yield (separator + ",\n".join(lines)).encode()
            separator = ",\n"

    def _services_of(self, known: _Known, project_ids: Sequence[int]) -> Iterable[str]:
        """Returns the services of each project, with commas between them."""
        usual = known.report.figures.usual
        resources, *figures = zip(*[usual.get(id_, _NOTHING) for id_ in project_ids], strict=True)
        if len(set(resources)) == 1:
            return self._services_of_alike(known, resources[0], project_ids, *figures)
        alike = defaultdict(list)
        for key, *of_project in zip(resources, project_ids, *figures, strict=True):
            alike[key].append(of_project)
        services: dict[int, str] = {}
        for key, of_projects in alike.items():
            ids, *figures = zip(*of_projects, strict=True)
            services.update(zip(ids, self._services_of_alike(known, key, ids, *figures), strict=True))
        return map(services.__getitem__, project_ids)

    def _services_of_alike(
        self, known: _Known, resources: str, ids: Sequence[int], quotas: Sequence[str], usages: Sequence[str]
    ) -> Iterable[str]:
        """As `_services_of`, of projects that have these resources."""
        layout = self._layouts.get(resources)
        if layout is None:
            layout = self._layouts[resources] = self._layout(resources, known.report.refs)
        columns = self._columns(known, layout, ids, ",".join(quotas).split(","), ",".join(usages).split(","))
        services = []
        for service, fine, place in zip(self._services, known.fine, layout.services, strict=True):
            shown = map(",".join, zip(*columns[place], strict=True)) if columns[place] else repeat("")
            services.append(
                [
                    f'{service.start}{text}],"scraped_at":{fine[id_]}}}'
                    if id_ in fine
                    else self._service(known.report, id_, service, text)
                    for id_, text in zip(ids, shown, strict=False)
                ]
            )
        return map(",".join, zip(*services, strict=True)) if services else repeat("", len(ids))

    def _columns(
        self, known: _Known, layout: _Layout, ids: Sequence[int], quotas: list[str], usages: list[str]
    ) -> list[list[str]]:
        """Renders the resources, of which these are the figures, project by project: for each, a text for each
        project."""
        each = len(layout.ids)
        columns = [
            [
                f'{start}{usage},"quota":{quota},"usable_quota":{quota}}}' if quota else f"{start}{usage}}}"
                for usage, quota in zip(usages[place::each], quotas[place::each], strict=True)
            ]
            for start, place in layout.starts
        ]
        if layout.careful or not known.unusual.isdisjoint(ids):
            for number, id_ in enumerate(ids):
                if layout.careful or id_ in known.unusual:
                    for column, text in self._unusual(known, layout, id_):
                        columns[column][number] = text
        return columns

    def _fine(self, report: ProjectsReport, service: _Service) -> dict[int, int]:
        """Returns when a service was scraped, by project: where all is well with it."""
        scraped_at, failing_since = report.scrapes.get(service.blank.type, _NEVER)
        now, stale_after = self._context.now, self._context.stale_after
        return {
            id_: int(time)
            for id_, time in scraped_at.items()
            if service.start and time is not None and now - time <= stale_after and id_ not in failing_since
        }

    def _unusual(self, known: _Known, layout: _Layout, project_id: int) -> Iterator[tuple[int, str]]:
        """Yields the columns of which there is more to say, rendered."""
        report, is_special = known.report, project_id in known.special
        rows = report.figures.unusual.get(project_id, {})
        if is_special or layout.careful:
            careful = layout.ids if is_special else layout.careful | rows.keys()
            rows = {row.resource_id: row for row in report.figures.rows(project_id) if row.resource_id in careful}
        for number, (column, (_, place)) in enumerate(zip(layout.columns, layout.starts, strict=True)):
            if row := rows.get(layout.ids[place]):
                yield number, dump_part(self._resource(report, column, row)).decode()

    def _service(self, report: ProjectsReport, project_id: int, service: _Service, resources: str) -> str:
        """Renders a service with what is wrong with it."""
        times = report.scrapes.get(service.blank.type, _NEVER)
        scraped_at, failing_since = times.scraped_at.get(project_id), times.failing_since.get(project_id)
        shown = service.blank.__copy__()
        shown.resources = stored(f"[{resources}]")
        shown.scraped_at = seconds(scraped_at)
        age = self._context.stale_age(scraped_at)
        if age is not None:
            shown.is_stale, shown.age_seconds = True, age
        problem = calls.find_problem(shown.type, scraped_at, failing_since, is_stale=age is not None)
        if problem is not None:
            shown.scrape_problem = ScrapeProblem(since=int(problem[0]), message=problem[1])
        return dump_part(self._context.trim(shown)).decode()

    def _resource(self, report: ProjectsReport, column: _Column, row: ProjectResourceRow) -> ProjectResource:
        """Renders the backend quota only where it is not the usable one; burst usage only above zero."""
        ref, _, resource, behavior, head, grows = column
        context, project, quota = self._context, report.projects[row.project_id], row.quota
        if behavior is None or head is None:
            behavior = context.catalog.behavior(ref, project.scope)
            head = context.head(ProjectResource, ref, resource, behavior)
        shown = head.__copy__()
        shown.usage = row.usage
        if quota is not None:
            multiplier = behavior.burst_multiplier if project.has_bursting else 0
            shown.quota = quota
            usable = usable_quota(quota, multiplier)
            shown.usable_quota = min(usable, MAX_SHOWN) if multiplier else usable
            if row.backend_quota != usable:
                shown.backend_quota = row.backend_quota
            if multiplier and row.usage > quota:
                shown.burst_usage = burst_usage(row.usage, quota)
            if temporary := report.temporary.get((project.id, ref)):
                shown.temporary_quota = render_temporary(temporary, quota)
        if base.is_forbidden(row.max_backend_quota):
            shown.commitment_config = None
        if row.physical_usage is not None:
            shown.physical_usage = row.physical_usage
        if context.with_azs or grows:
            self._add_azs(shown, report, column, project.id)
        if context.fields is None:  # mostly, and there are thousands
            return shown
        if context.with_committed:
            shown.committed = committed(report.committed.get(project.id, {}).get(ref, {}))
        return context.trim(shown)

    def _add_azs(self, shown: ProjectResource, report: ProjectsReport, column: _Column, project_id: int) -> None:
        """Adds figures by AZ and, where quota grows by itself, its bounds."""
        context, ref = self._context, column.ref
        azs, growing = report.azs.get((project_id, ref), ()), report.growing.get((project_id, ref))
        if growing and column.grows:
            shown.max_quota, shown.min_quota, forbids_growth = growing.bounds
            shown.forbid_autogrowth = True if forbids_growth else None
        if context.per_az or column.grows:
            figures = report.committed.get(project_id, {}).get(ref, {})
            quotas = growing.by_az if growing else None
            shown.per_az = project_azs(context.catalog, azs, figures, quotas, detail=context.detail)
        if context.detail and any(az.subresources for az in azs):
            shown.subresources = json_lists(az.subresources for az in azs)
