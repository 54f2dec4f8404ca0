"""GET /v1/clusters/current, /v1/inconsistencies and /v1/admin/scrape-errors."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from limes.actions.reports.cluster import ClusterReport
from limes.actions.reports.inconsistencies import InconsistencyReport, ProjectInconsistency, ScrapeErrorGroup
from limes.api.render.common import (
    RenderContext,
    commitment_config,
    json_lists,
    resource_head,
    scrape_range,
    service_head,
    unix,
)
from limes.api.render.per_az import cluster_azs
from limes.api.shapes.cluster import (
    ClusterAnswer,
    ClusterAZ,
    ClusterResource,
    ClusterService,
    InconsistenciesAnswer,
    NamedResource,
    ScrapeError,
    ScrapeErrorsAnswer,
)
from limes.api.shapes.cluster import ProjectInconsistency as ProjectInconsistencyShape
from limes.api.shapes.common import PlacedNamed
from limes.core.capacity import effective, effective_total
from limes.core.catalog import ANY_AZ, Catalog, Ref, ResourceDef
from limes.core.commitments.request import committable_azs
from limes.db.queries.capacity import AZCapacityRow


def render_cluster(
    context: RenderContext, report: ClusterReport, may_see_subcapacities: Callable[[Ref], bool]
) -> ClusterAnswer:
    """Returns the document. `may_see_subcapacities` is asked only for resources that would show some."""
    services: list[ClusterService] = []
    for service, resources in report.selection.services.values():
        shown = [
            _resource(context, report, (service.type, resource.name), resource, may_see_subcapacities)
            for resource in resources
        ]
        scraped = scrape_range(context, report.service_scraped_at.get(service.type, (None, None)))
        services.append({**service_head(service), "resources": shown, **scraped})
    return {"cluster": {"id": "current", "services": services, **scrape_range(context, report.capacity_scraped_at)}}


def _resource(
    context: RenderContext,
    report: ClusterReport,
    ref: Ref,
    resource: ResourceDef,
    may_see_subcapacities: Callable[[Ref], bool],
) -> ClusterResource:
    behavior = context.catalog.behavior(ref)
    sums = report.sums.get(ref)
    document = cast(
        "ClusterResource", {**resource_head(context, ref, resource), **commitment_config(context, behavior)}
    )
    document["usage"] = sums.usage if sums else 0
    capacities = report.capacities.get(ref, [])
    usage = {row.az: report.usage_by_az.get((ref, row.az), row.usage) for row in capacities}
    _add_capacity(document, capacities, usage, behavior.overcommit_factor)
    subcapacities = json_lists([row.subcapacities for row in capacities]) if context.detail else []
    shows_subcapacities = bool(subcapacities) and may_see_subcapacities(ref)
    if shows_subcapacities:
        document["subcapacities"] = subcapacities
    if ref in report.claims and capacities:
        claims = report.claims[ref]
        document["committable"] = {az: max(0, claims.room(az)) for az in committable_azs(behavior, context.catalog)}
    if context.per_az:
        azs = report.azs.get(ref, {})
        document["per_az"] = cluster_azs(
            context.catalog, capacities, azs, behavior.overcommit_factor, subcapacities=shows_subcapacities
        )
    if resource.tracks_quota:
        document["domains_quota"] = report.domains_quota.get(ref, 0)
    if sums and sums.burst_usage and behavior.burst_multiplier:
        document["burst_usage"] = sums.burst_usage
    if sums and sums.has_physical_usage:
        document["physical_usage"] = sums.physical_usage
    return document


def _add_capacity(
    document: ClusterResource, rows: Sequence[AZCapacityRow], usage: Mapping[str, int | None], overcommit: float
) -> None:
    """Capacity in all and by AZ. The breakdown is shown as soon as any capacity is bound to an AZ.

    `usage` by AZ is that of all projects or, where none has reported on an AZ, the capacitor's own figure.
    """
    if not rows:
        return
    raw = [row.raw_capacity for row in rows]
    document["capacity"] = effective_total(raw, overcommit)
    if overcommit:
        document["raw_capacity"] = sum(raw)
    if any(row.az != ANY_AZ for row in rows):
        document["per_availability_zone"] = [_az(row, usage[row.az], overcommit) for row in rows if row.az != ANY_AZ]


def _az(row: AZCapacityRow, usage: int | None, overcommit: float) -> ClusterAZ:
    capacity = effective(row.raw_capacity, overcommit)
    document: ClusterAZ = {"name": row.az, "capacity": capacity}
    if capacity != row.raw_capacity:
        document["raw_capacity"] = row.raw_capacity
    if usage is not None:
        document["usage"] = usage
    return document


def render_inconsistencies(catalog: Catalog, report: InconsistencyReport) -> InconsistenciesAnswer:
    """Returns the three lists. `quota` is the usable quota, which is what usage and backends are compared with."""
    return {
        "inconsistencies": {
            "domain_quota_overcommitted": [
                {
                    "domain": {"id": row.domain_uuid, "name": row.domain_name},
                    **_named_resource(catalog, ref),
                    "domain_quota": row.domain_quota,
                    "projects_quota": row.projects_quota,
                }
                for ref, row in report.overcommitted
            ],
            "project_quota_overspent": [{**_head(catalog, item), "usage": item.row.usage} for item in report.overspent],
            "project_quota_mismatch": [
                # only those with a backend quota are in this list
                {**_head(catalog, item), "backend_quota": item.row.backend_quota or 0}
                for item in report.mismatched
            ],
        }
    }


def _head(catalog: Catalog, item: ProjectInconsistency) -> ProjectInconsistencyShape:
    row = item.row
    return {
        "project": _named_project(row.project_uuid, row.project_name, row.domain_uuid, row.domain_name),
        **_named_resource(catalog, item.ref),
        "quota": item.usable_quota,
    }


def _named_project(uuid: str, name: str, domain_uuid: str, domain_name: str) -> PlacedNamed:
    return {"id": uuid, "name": name, "domain": {"id": domain_uuid, "name": domain_name}}


def _named_resource(catalog: Catalog, ref: Ref) -> NamedResource:
    resource = catalog.find(ref)
    document: NamedResource = {"service": ref[0], "resource": ref[1]}
    if resource is not None and resource.unit.is_measured:
        document["unit"] = resource.unit.value
    return document


def render_scrape_errors(groups: list[ScrapeErrorGroup]) -> ScrapeErrorsAnswer:
    """Returns one item for each group; `affected_projects` only where it is above 1."""
    items: list[ScrapeError] = []
    for group in groups:
        row = group.first
        item: ScrapeError = {
            "project": _named_project(row.project_uuid, row.project_name, row.domain_uuid, row.domain_name),
            "service_type": row.service_type,
            "checked_at": unix(row.checked_at),
            "message": row.message,
        }
        if group.affected_projects > 1:
            item["affected_projects"] = group.affected_projects
        items.append(item)
    return {"scrape_errors": items}
