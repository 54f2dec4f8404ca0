"""The cluster, and what its admins have to look after."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from limes.api.answers import Named, OfProject, PlacedNamed, place, unit_of
from limes.catalog.catalog import ANY_AZ, Catalog, Ref, ResourceDef
from limes.commitments.rules import committable_azs
from limes.kernel.units import effective_total
from limes.kernel.validation.shape import Amount, Shape, Time, Unit
from limes.reports.cluster import ClusterReport
from limes.reports.inconsistencies import InconsistencyReport, ProjectInconsistency
from limes.reports.inconsistency_queries import ScrapeErrorRow
from limes.reports.per_az import ClusterPerAZ, capacity_fields, cluster_azs
from limes.reports.resources import Age, CommitmentConfig, RenderContext, ResourceHead, ServiceFigures, json_lists

Committable = Annotated[dict[str, Amount], Field(description="What is not claimed yet, by AZ; shown with `per_az`")]


class ClusterAZ(Shape):
    """Capacity of a resource in one availability zone."""

    name: str
    capacity: Amount
    raw_capacity: Amount | None = None
    usage: Amount | None = None


class ClusterResource(ResourceHead):
    """A resource of the whole cloud."""

    commitment_config: CommitmentConfig | None = None
    usage: Amount
    capacity: Amount | None = None
    raw_capacity: Amount | None = None
    per_availability_zone: list[ClusterAZ] | None = None
    subcapacities: list[Any] | None = None
    committable: Committable | None = None
    per_az: dict[str, ClusterPerAZ] | None = None
    domains_quota: Amount | None = None
    burst_usage: Amount | None = None
    physical_usage: Amount | None = None


class ClusterService(ServiceFigures):
    """A service of the whole cloud."""

    resources: list[ClusterResource]


class Cluster(Shape):
    """The whole cloud."""

    id: Literal["current"]
    services: list[ClusterService]
    max_scraped_at: Time | None = None
    min_scraped_at: Time | None = None
    is_stale: Literal[True] | None = None
    age_seconds: Age | None = None


class ClusterAnswer(Shape):
    """Capacity, quota and usage of the whole cloud."""

    cluster: Cluster


def render_cluster(
    context: RenderContext, report: ClusterReport, may_see_subcapacities: Callable[[Ref], bool]
) -> ClusterAnswer:
    """`may_see_subcapacities` is asked only for resources that would show some."""
    services = []
    for service, resources in report.selection.services.values():
        shown = [
            _resource(context, report, (service.type, resource.name), resource, may_see_subcapacities)
            for resource in resources
        ]
        scraped_at = report.service_scraped_at.get(service.type, (None, None))
        services.append(ClusterService.of(context, service, shown, scraped_at))
    cluster = Cluster(id="current", services=services, **context.scrape_range(report.capacity_scraped_at))
    return ClusterAnswer(cluster=cluster)


def _resource(
    context: RenderContext,
    report: ClusterReport,
    ref: Ref,
    resource: ResourceDef,
    may_see_subcapacities: Callable[[Ref], bool],
) -> ClusterResource:
    catalog, behavior = context.catalog, context.catalog.behavior(ref)
    sums, claims, rows = report.sums.get(ref), report.claims.get(ref), report.capacities.get(ref, [])
    shown = ClusterResource.of(
        catalog, ref, resource, commitment_config=context.commitment_config(behavior), usage=sums.usage if sums else 0
    )
    overcommit = behavior.overcommit_factor
    if rows:
        raw_capacities = [row.raw_capacity for row in rows]
        shown.capacity = effective_total(raw_capacities, overcommit)
        shown.raw_capacity = sum(raw_capacities) if overcommit else None
    if any(row.az != ANY_AZ for row in rows):
        # usage of all projects or, where none has reported on an AZ, the capacitor's own figure
        usage = {row.az: report.usage_by_az.get((ref, row.az), row.usage) for row in rows}
        shown.per_availability_zone = [
            ClusterAZ(name=row.az, usage=usage[row.az], **capacity_fields(row.raw_capacity, overcommit))
            for row in rows
            if row.az != ANY_AZ
        ]
    subcapacities = json_lists(row.subcapacities for row in rows) if context.detail else []
    if subcapacities and may_see_subcapacities(ref):
        shown.subcapacities = subcapacities
    if claims is not None and rows:
        shown.committable = {az: max(0, claims.room(az)) for az in committable_azs(behavior, catalog)}
    if context.per_az:
        with_subcapacities = shown.subcapacities is not None
        shown.per_az = cluster_azs(catalog, rows, report.azs.get(ref, {}), overcommit, subcapacities=with_subcapacities)
    if resource.tracks_quota:
        shown.domains_quota = report.domains_quota.get(ref, 0)
    if sums:
        shown.burst_usage = (behavior.burst_multiplier and sums.burst_usage) or None
        shown.physical_usage = sums.physical_usage if sums.has_physical_usage else None
    return shown


# -- inconsistencies ---------------------------------------------------------------------------------------------------


class OvercommittedQuota(Shape):
    """A domain whose projects have more quota than itself."""

    domain: Named
    service: str
    resource: str
    unit: Unit | None = None
    domain_quota: Amount
    projects_quota: Amount


class _ProjectQuota(OfProject):
    quota: Amount

    @classmethod
    def of(cls, item: ProjectInconsistency, unit: str | None, **compared: int) -> Self:
        """`quota` is the usable quota, which is what usage and backends are compared with."""
        service, resource = item.ref
        project, quota = place(item.row.project), item.usable_quota
        return cls(project=project, service=service, resource=resource, unit=unit, quota=quota, **compared)


class OverspentQuota(_ProjectQuota):
    """A project that uses more than its quota."""

    usage: Amount


class MismatchedQuota(_ProjectQuota):
    """A project whose backend enforces another quota."""

    backend_quota: Annotated[int, Field(ge=-1)]


class Inconsistencies(Shape):
    """Quotas that contradict themselves, usage, or the backends."""

    domain_quota_overcommitted: list[OvercommittedQuota]
    project_quota_overspent: list[OverspentQuota]
    project_quota_mismatch: list[MismatchedQuota]


class InconsistenciesAnswer(Shape):
    """The three lists."""

    inconsistencies: Inconsistencies


def render_inconsistencies(catalog: Catalog, report: InconsistencyReport) -> InconsistenciesAnswer:
    units = {ref: unit_of(catalog, ref) for ref in catalog.refs()}
    overcommitted = [
        OvercommittedQuota(
            domain=Named(row.domain_uuid, row.domain_name),
            service=ref[0],
            resource=ref[1],
            unit=units[ref],
            domain_quota=row.domain_quota,
            projects_quota=row.projects_quota,
        )
        for ref, row in report.overcommitted
    ]
    overspent = [OverspentQuota.of(item, units[item.ref], usage=item.row.usage) for item in report.overspent]
    # only those with a backend quota are in this list
    mismatched = [
        MismatchedQuota.of(item, units[item.ref], backend_quota=item.row.backend_quota or 0)
        for item in report.mismatched
    ]
    lists = Inconsistencies(
        domain_quota_overcommitted=overcommitted, project_quota_overspent=overspent, project_quota_mismatch=mismatched
    )
    return InconsistenciesAnswer(inconsistencies=lists)


class ScrapeError(Shape):
    """A scrape that fails, in this project and perhaps in others."""

    project: PlacedNamed
    service_type: str
    checked_at: Time
    message: str
    affected_projects: Annotated[int, Field(ge=2)] | None = None


class ScrapeErrorsAnswer(Shape):
    """One for each service and message."""

    scrape_errors: list[ScrapeError]


def render_scrape_errors(groups: list[tuple[ScrapeErrorRow, int]]) -> ScrapeErrorsAnswer:
    """`affected_projects` is shown only where it is above 1."""
    errors = [
        ScrapeError(
            project=place(row.project),
            service_type=row.service_type,
            checked_at=int(row.checked_at),
            message=row.message,
            affected_projects=count if count > 1 else None,
        )
        for row, count in groups
    ]
    return ScrapeErrorsAnswer(scrape_errors=errors)
