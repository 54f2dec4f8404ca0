"""Domains and projects."""

from typing import Annotated, Any, Literal

from pydantic import Field

from limes.api.answers import Link, Named, TemporaryQuota, render_temporary
from limes.catalog.catalog import Ref, ResourceDef
from limes.kernel.validation.shape import Amount, Shape, Time
from limes.reports.cluster import DomainReport
from limes.reports.per_az import DomainPerAZ, ProjectPerAZ, committed, domain_azs
from limes.reports.resources import Age, Committed, RenderContext, ResourceHints, ServiceFigures, optional_fields


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
