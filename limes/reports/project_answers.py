"""Domains and projects."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import structs
from pydantic import Field

from limes.api.answers import Link, Named, TemporaryQuota, render_temporary
from limes.backends import base, calls
from limes.catalog.catalog import Behavior, Ref, ResourceDef, Selection
from limes.kernel.validation.shape import Amount, Shape, Time, stored
from limes.quota.queries import ProjectResourceRow
from limes.quota.rules import burst_usage, usable_quota
from limes.reports.cluster import DomainReport
from limes.reports.per_az import DomainPerAZ, ProjectPerAZ, committed, domain_azs, project_azs
from limes.reports.projects import ProjectReport
from limes.reports.resources import (
    Age,
    Committed,
    RenderContext,
    ResourceHints,
    ServiceFigures,
    json_lists,
    optional_fields,
)
from limes.web.encoding import MAX_SHOWN, dump_part


class DomainResource(ResourceHints):
    """A resource of a domain."""

    usage: Amount
    quota: Amount | None = None
    projects_quota: Amount | None = None
    committed: Committed | None = None
    temporary_quota: TemporaryQuota | None = None
    burst_usage: Amount | None = None
    physical_usage: Amount | None = None
    backend_quota: Amount | None = None
    infinite_backend_quota: Literal[True] | None = None
    per_az: dict[str, DomainPerAZ] | None = None


class DomainService(ServiceFigures):
    """A service of a domain."""

    resources: list[DomainResource]


class Domain(Named):
    """Quota and usage of a domain."""

    services: list[DomainService]


class DomainAnswer(Shape):
    """One domain."""

    domain: Domain


class DomainsAnswer(Shape):
    """All domains, or a page of them with the link to the next."""

    domains: list[Domain]
    domains_links: list[Link] | None = None


def render_domain(context: RenderContext, report: DomainReport) -> Domain:
    services = []
    for service, resources in report.selection.services.values():
        shown = [_domain_resource(context, report, (service.type, resource.name), resource) for resource in resources]
        scraped_at = report.service_scraped_at.get(service.type, (None, None))
        services.append(context.trim(DomainService.of(context, service, shown, scraped_at)))
    return Domain(report.domain.uuid, report.domain.name, services=services)


def _domain_resource(context: RenderContext, report: DomainReport, ref: Ref, resource: ResourceDef) -> DomainResource:
    behavior = context.catalog.behavior(ref, report.domain.name)
    sums, quota = report.sums.get(ref), report.quotas.get(ref, 0)
    shown = context.head(DomainResource, ref, resource, behavior).__copy__()
    if resource.tracks_quota:
        shown.quota = quota
        if temporary := report.temporary.get(ref):
            shown.temporary_quota = render_temporary(temporary, quota)
    if sums:
        shown.usage = sums.usage
        shown.burst_usage = (behavior.burst_multiplier and sums.burst_usage) or None
        shown.physical_usage = sums.physical_usage if sums.has_physical_usage else None
    if sums and resource.tracks_quota:
        shown.projects_quota = sums.quota
        shown.backend_quota = sums.backend_quota if sums.backend_quota != quota else None
        shown.infinite_backend_quota = True if sums.has_infinite_backend_quota else None
    if context.per_az:
        shown.per_az = domain_azs(context.catalog, report.azs.get(ref, {}))
    if context.with_committed:
        shown.committed = committed(report.azs.get(ref, {}))
    return context.trim(shown)


Granted = Annotated[
    int, Field(ge=0, description="What was granted of quota that grows by itself, even if less is used")
]
OnlyNeeded = Annotated[Literal[True], Field(description="Quota is what usage and commitments need")]


class Bursting(Shape):
    """Whether the project may exceed its quota for a while."""

    enabled: bool
    multiplier: float


class ProjectResource(ResourceHints):
    """A resource of a project."""

    usage: Amount
    quota: Amount | None = None
    usable_quota: Amount | None = None
    committed: Committed | None = None
    backend_quota: Annotated[int, Field(ge=-1, description="-1 means unlimited")] | None = None
    burst_usage: Amount | None = None
    temporary_quota: TemporaryQuota | None = None
    physical_usage: Amount | None = None
    max_quota: Annotated[int, Field(ge=0, description="How far quota may grow by itself")] | None = None
    min_quota: Granted | None = None
    forbid_autogrowth: OnlyNeeded | None = None
    per_az: dict[str, ProjectPerAZ] | None = None
    subresources: list[Any] | None = None


class ScrapeProblem(Shape):
    """Why the figures of a service are old or missing."""

    since: Time
    message: Annotated[str, Field(description="for people")]


class ProjectService(Shape):
    """A service of a project."""

    type: str
    area: str
    resources: list[ProjectResource]
    scraped_at: Time | None = None
    is_stale: Literal[True] | None = None
    age_seconds: Age | None = None
    scrape_problem: ScrapeProblem | None = None


class Project(Named):
    """Quota and usage of a project."""

    parent_id: str
    services: list[ProjectService]
    bursting: Bursting | None = None


class PlacedProject(Shape):
    """Quota and usage of a project, and its domain."""

    domain: Named
    id: str
    name: str
    parent_id: str
    services: list[ProjectService]
    bursting: Bursting | None = None


class ProjectAnswer(Shape):
    """One project."""

    project: Project


class ProjectsAnswer(Shape):
    """The projects of a domain, or a page of them with the link to the next."""

    projects: list[Project]
    projects_links: list[Link] | None = None


class AllProjectsAnswer(Shape):
    """The projects of all domains, or a page of them with the link to the next."""

    projects: list[PlacedProject]
    projects_links: list[Link] | None = None


OPTIONAL_FIELDS = frozenset[str]().union(
    *map(optional_fields, (Project, ProjectService, ProjectResource, DomainService, DomainResource))
)
"""By which lists can be narrowed."""


class _Column(NamedTuple):
    """A resource to show. Behaviour and head are None if they depend on the project's name."""

    ref: Ref
    start: bytes
    """The head as JSON, up to the number of what is used; empty if more is shown than quota and usage."""
    resource: ResourceDef
    behavior: Behavior | None
    head: ProjectResource | None
    grows: bool
    """Whether its quota grows by itself."""


class ProjectRenderer:
    """Renders the projects of one request. What thousands of them share is looked up once."""

    def __init__(self, context: RenderContext, selection: Selection) -> None:
        self._context = context
        self._services: list[tuple[ProjectService, list[_Column]]] = []
        for service, resources in selection.services.values():
            columns = []
            for resource in resources:
                ref = (service.type, resource.name)
                behavior = context.catalog.behavior_everywhere(ref)
                head = context.head(ProjectResource, ref, resource, behavior) if behavior else None
                grows = context.catalog.autogrow(ref) is not None
                is_usual = head is not None and not grows and not context.with_azs and context.fields is None
                start = dump_part(head).removesuffix(b"0}") if is_usual else b""
                columns.append(_Column(ref, start, resource, behavior, head, grows))
            self._services.append((ProjectService(type=service.type, area=service.area, resources=[]), columns))

    def render(self, report: ProjectReport) -> Project:
        context, project = self._context, report.project
        services = []
        for blank, columns in self._services:
            shown = blank.__copy__()
            shown.resources = stored(b"[" + b",".join(self._resources(report, columns)) + b"]")
            scraped_at, failing_since = report.scraped_at.get(shown.type), report.failing_since.get(shown.type)
            if scraped_at is not None:
                shown.scraped_at = int(scraped_at)
            age = context.stale_age(scraped_at)
            if age is not None:
                shown.is_stale, shown.age_seconds = True, age
            problem = calls.find_problem(shown.type, scraped_at, failing_since, is_stale=age is not None)
            if problem is not None:
                shown.scrape_problem = ScrapeProblem(since=int(problem[0]), message=problem[1])
            services.append(context.trim(shown))
        multiplier = context.catalog.burst_multiplier
        bursting = Bursting(enabled=bool(project.has_bursting), multiplier=multiplier) if multiplier else None
        return context.trim(
            Project(project.uuid, project.name, parent_id=project.parent_uuid, services=services, bursting=bursting)
        )

    def render_with_domain(self, report: ProjectReport) -> PlacedProject:
        domain = Named(report.project.domain_uuid, report.project.domain_name)
        return PlacedProject(domain=domain, **structs.asdict(self.render(report)))

    def _resources(self, report: ProjectReport, columns: Iterable[_Column]) -> Iterator[bytes]:
        """Yields them as JSON. Most have nothing but quota and usage: to write these takes a quarter of the time of
        what `_resource` does."""
        find, is_plain = report.resources.get, not report.project.has_bursting and not report.temporary
        for column in columns:
            row = find(column.ref)
            if row is None:
                continue
            _, _, quota, backend_quota, usage, physical_usage, maximum = row
            is_usual = quota == backend_quota and physical_usage is None and maximum != 0
            if is_usual and is_plain and column.start and quota is not None:
                yield b'%b%d,"quota":%d,"usable_quota":%d}' % (column.start, usage, quota, quota)
            else:
                yield dump_part(self._resource(report, column, ProjectResourceRow._make(row)))

    def _resource(self, report: ProjectReport, column: _Column, row: ProjectResourceRow) -> ProjectResource:
        """Renders the backend quota only where it is not the usable one; burst usage only above zero."""
        ref, _, resource, behavior, head, grows = column
        context, project, quota = self._context, report.project, row.quota
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
            if report.temporary and (temporary := report.temporary.get(ref)):
                shown.temporary_quota = render_temporary(temporary, quota)
        if base.is_forbidden(row.max_backend_quota):
            shown.commitment_config = None
        if row.physical_usage is not None:
            shown.physical_usage = row.physical_usage
        if context.with_azs or grows:
            self._add_azs(shown, report, column)
        if context.fields is None:  # mostly, and there are thousands
            return shown
        if context.with_committed:
            shown.committed = committed(report.committed.get(ref, {}))
        return context.trim(shown)

    def _add_azs(self, shown: ProjectResource, report: ProjectReport, column: _Column) -> None:
        """Adds figures by AZ and, where quota grows by itself, its bounds."""
        context, ref = self._context, column.ref
        azs, growing = report.azs.get(ref, ()), report.growing.get(ref)
        if growing and column.grows:
            shown.max_quota, shown.min_quota, forbids_growth = growing.bounds
            shown.forbid_autogrowth = True if forbids_growth else None
        if context.per_az or column.grows:
            figures, quotas = report.committed.get(ref, {}), growing.by_az if growing else None
            shown.per_az = project_azs(context.catalog, azs, figures, quotas, detail=context.detail)
        if context.detail and any(az.subresources for az in azs):
            shown.subresources = json_lists(az.subresources for az in azs)
