"""GET /v1/domains/:id/projects and GET /v1/domains/:id/projects/:id."""

from limes.actions.reports.all_projects import PlacedProject
from limes.actions.reports.projects import ProjectReport
from limes.api.render.common import (
    Json,
    RenderContext,
    json_lists,
    service_head,
    unix,
)
from limes.api.render.per_az import project_azs
from limes.core.bursting import usable_quota
from limes.core.catalog import Behavior, Ref, ResourceDef
from limes.db.queries.reports import ProjectResourceRow


def render_project(context: RenderContext, report: ProjectReport) -> Json:
    """The object of one project."""
    project = report.project
    document: Json = {"id": project.uuid, "name": project.name, "parent_id": project.parent_uuid}
    if context.catalog.burst_multiplier:
        document["bursting"] = {
            "enabled": bool(project.has_bursting),
            "multiplier": context.catalog.burst_multiplier,
        }
    scope = f"{project.domain_name}/{project.name}"
    services = []
    for service, resources in report.selection.services.values():
        shown = []
        for resource in resources:
            ref = (service.type, resource.name)
            row = report.resources.get(ref)
            if row is not None:
                shown.append(_resource(context, report, ref, resource, row, context.catalog.behavior(ref, scope)))
        item = {**service_head(service), "resources": shown}
        scraped_at = report.scraped_at.get(service.type)
        if scraped_at is not None:
            item["scraped_at"] = unix(scraped_at)
            item |= context.staleness(scraped_at)
        services.append(item)
    document["services"] = services
    return document


def render_placed_project(context: RenderContext, placed: PlacedProject) -> Json:
    """The object of one project in a list over all domains."""
    domain = {"id": placed.domain_uuid, "name": placed.report.project.domain_name}
    return {"domain": domain, **render_project(context, placed.report)}


def _resource(
    context: RenderContext,
    report: ProjectReport,
    ref: Ref,
    resource: ResourceDef,
    row: ProjectResourceRow,
    behavior: Behavior,
) -> Json:
    document = context.head(ref, resource, behavior).copy()
    if row.quota is not None:
        document |= _quota(row, behavior.burst_multiplier if report.project.has_bursting else 0)
    document["usage"] = row.usage
    if row.physical_usage is not None:
        document["physical_usage"] = row.physical_usage
    if context.per_az:
        azs, committed = report.azs.get(ref, ()), report.committed.get(ref, {})
        document["per_az"] = project_azs(context.catalog, azs, committed, detail=context.detail)
    if context.detail:
        subresources = [az.subresources for az in report.azs.get(ref, ())]
        if any(subresources):
            document["subresources"] = json_lists(subresources)
    return document


def _quota(row: ProjectResourceRow, multiplier: float) -> Json:
    """Usable and backend quota only where they differ; burst usage only above zero."""
    quota = row.quota
    assert quota is not None
    document: Json = {"quota": quota}
    usable = usable_quota(quota, multiplier)
    if usable != quota:
        document["usable_quota"] = usable
    if row.backend_quota is not None and row.backend_quota != usable:
        document["backend_quota"] = row.backend_quota
    if multiplier and row.usage > quota:
        document["burst_usage"] = row.usage - quota
    return document
