"""GET /v1/domains and GET /v1/domains/:id."""

from typing import cast

from limes.actions.reports.domains import DomainReport
from limes.api.render.common import (
    RenderContext,
    scrape_range,
    service_head,
)
from limes.api.render.per_az import domain_azs
from limes.api.shapes.project import Domain, DomainResource, DomainService
from limes.core.catalog import Ref, ResourceDef


def render_domain(context: RenderContext, report: DomainReport) -> Domain:
    """The object of one domain."""
    services: list[DomainService] = []
    for service, resources in report.selection.services.values():
        shown = [_resource(context, report, (service.type, resource.name), resource) for resource in resources]
        scraped = scrape_range(context, report.service_scraped_at.get(service.type, (None, None)))
        services.append({**service_head(service), "resources": shown, **scraped})
    return {"id": report.domain.uuid, "name": report.domain.name, "services": services}


def _resource(context: RenderContext, report: DomainReport, ref: Ref, resource: ResourceDef) -> DomainResource:
    behavior = context.catalog.behavior(ref, report.domain.name)
    sums = report.sums.get(ref)
    document = cast("DomainResource", context.head(ref, resource, behavior).copy())
    document["usage"] = sums.usage if sums else 0
    quota = report.quotas.get(ref, 0)
    if resource.tracks_quota:
        document["quota"] = quota
        if sums and sums.quota is not None:
            document["projects_quota"] = sums.quota
    if sums and sums.burst_usage and behavior.burst_multiplier:
        document["burst_usage"] = sums.burst_usage
    if sums and sums.has_physical_usage:
        document["physical_usage"] = sums.physical_usage
    if sums and resource.tracks_quota:
        if sums.backend_quota != quota:
            document["backend_quota"] = sums.backend_quota
        if sums.has_infinite_backend_quota:
            document["infinite_backend_quota"] = True
    if context.per_az:
        document["per_az"] = domain_azs(context.catalog, report.azs.get(ref, {}))
    return document
