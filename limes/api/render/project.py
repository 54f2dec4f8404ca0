"""GET /v1/domains/:id/projects and GET /v1/domains/:id/projects/:id."""

from typing import cast

from limes.actions.reports.all_projects import PlacedProject
from limes.actions.reports.projects import ProjectReport
from limes.api.render.common import (
    RenderContext,
    json_lists,
    unix,
)
from limes.api.render.per_az import project_azs
from limes.api.shapes import reports as shapes
from limes.api.shapes.common import Named
from limes.api.shapes.reports import Project, ProjectResource, ProjectService
from limes.core.bursting import usable_quota
from limes.core.catalog import Behavior, Ref, ResourceDef
from limes.db.queries.reports import ProjectResourceRow


def render_project(context: RenderContext, report: ProjectReport) -> Project:
    """The object of one project."""
    project = report.project
    services: list[ProjectService] = []
    document: Project = {
        "id": project.uuid,
        "name": project.name,
        "parent_id": project.parent_uuid,
        "services": services,
    }
    if context.catalog.burst_multiplier:
        document["bursting"] = {
            "enabled": bool(project.has_bursting),
            "multiplier": context.catalog.burst_multiplier,
        }
    scope = f"{project.domain_name}/{project.name}"
    for service, resources in report.selection.services.values():
        shown = []
        for resource in resources:
            ref = (service.type, resource.name)
            row = report.resources.get(ref)
            if row is not None:
                shown.append(_resource(context, report, ref, resource, row, context.catalog.behavior(ref, scope)))
        item: ProjectService = {"type": service.type, "area": service.area, "resources": shown}
        scraped_at = report.scraped_at.get(service.type)
        if scraped_at is not None:
            item["scraped_at"] = unix(scraped_at)
            item.update(cast("ProjectService", context.staleness(scraped_at)))
        services.append(item)
    return document


def render_placed_project(context: RenderContext, placed: PlacedProject) -> shapes.PlacedProject:
    """The object of one project in a list over all domains."""
    domain: Named = {"id": placed.domain_uuid, "name": placed.report.project.domain_name}
    return {"domain": domain, **render_project(context, placed.report)}


def _resource(
    context: RenderContext,
    report: ProjectReport,
    ref: Ref,
    resource: ResourceDef,
    row: ProjectResourceRow,
    behavior: Behavior,
) -> ProjectResource:
    document = cast("ProjectResource", context.head(ref, resource, behavior).copy())
    document["usage"] = row.usage
    if row.quota is not None:
        _add_quota(document, row, row.quota, behavior.burst_multiplier if report.project.has_bursting else 0)
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


def _add_quota(document: ProjectResource, row: ProjectResourceRow, quota: int, multiplier: float) -> None:
    """Usable and backend quota only where they differ; burst usage only above zero."""
    document["quota"] = quota
    usable = usable_quota(quota, multiplier)
    if usable != quota:
        document["usable_quota"] = usable
    if row.backend_quota is not None and row.backend_quota != usable:
        document["backend_quota"] = row.backend_quota
    if multiplier and row.usage > quota:
        document["burst_usage"] = row.usage - quota
