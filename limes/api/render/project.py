"""Domains and projects."""

from typing import NamedTuple, cast

from limes.actions.reports.domains import DomainReport
from limes.actions.reports.projects import GrowingQuota, ProjectReport
from limes.api.render.common import (
    RenderContext,
    json_lists,
    scrape_range,
    service_head,
    unix,
)
from limes.api.render.per_az import domain_azs, project_azs
from limes.api.render.temporary_quota import render_temporary
from limes.api.shapes import project as shapes
from limes.api.shapes.common import Named
from limes.api.shapes.project import Domain, DomainResource, DomainService, Project, ProjectResource, ProjectService
from limes.core.catalog import Behavior, Ref, ResourceDef
from limes.core.quota import burst_usage, is_forbidden, usable_quota
from limes.core.scrape_problem import find_problem
from limes.core.selection import Selection
from limes.db.queries.project_quotas import ProjectResourceRow


def render_domain(context: RenderContext, report: DomainReport) -> Domain:
    """Returns the object of one domain."""
    services: list[DomainService] = []
    for service, resources in report.selection.services.values():
        shown = [_domain_resource(context, report, (service.type, resource.name), resource) for resource in resources]
        scraped = scrape_range(context, report.service_scraped_at.get(service.type, (None, None)))
        services.append({**service_head(service), "resources": shown, **scraped})
    return {"id": report.domain.uuid, "name": report.domain.name, "services": services}


def _domain_resource(context: RenderContext, report: DomainReport, ref: Ref, resource: ResourceDef) -> DomainResource:
    behavior = context.catalog.behavior(ref, report.domain.name)
    sums = report.sums.get(ref)
    document = cast("DomainResource", context.head(ref, resource, behavior).copy())
    document["usage"] = sums.usage if sums else 0
    quota = report.quotas.get(ref, 0)
    if resource.tracks_quota:
        document["quota"] = quota
        if sums and sums.quota is not None:
            document["projects_quota"] = sums.quota
        if temporary := report.temporary.get(ref):
            document["temporary_quota"] = render_temporary(temporary, quota)
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


class ProjectRenderer:
    """Renders the projects of one request. What thousands of them share is looked up once."""

    def __init__(self, context: RenderContext, selection: Selection) -> None:
        self._context = context
        self._services = [
            (service, [self._column((service.type, resource.name), resource) for resource in resources])
            for service, resources in selection.services.values()
        ]

    def _column(self, ref: Ref, resource: ResourceDef) -> "_Column":
        behavior = self._context.catalog.behavior_everywhere(ref)
        head = self._head(ref, resource, behavior) if behavior else None
        return _Column(ref, resource, behavior, head, self._context.catalog.autogrow(ref) is not None)

    def _head(self, ref: Ref, resource: ResourceDef, behavior: Behavior) -> ProjectResource:
        """Returns the resource without figures. Shared: copy it."""
        return cast("ProjectResource", self._context.head(ref, resource, behavior))

    def render(self, report: ProjectReport) -> Project:
        """Returns the object of one project."""
        context, project, rows = self._context, report.project, report.resources
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
        for service, columns in self._services:
            shown: list[ProjectResource] = []
            for column in columns:
                row = rows.get(column.ref)
                if row is not None:
                    shown.append(self._resource(report, column, row))
            item: ProjectService = {"type": service.type, "area": service.area, "resources": shown}
            scraped_at = report.scraped_at.get(service.type)
            if scraped_at is not None:
                item["scraped_at"] = unix(scraped_at)
                context.add_staleness(item, scraped_at)
            problem = find_problem(
                service.type, scraped_at, report.failing_since.get(service.type), is_stale="is_stale" in item
            )
            if problem is not None:
                item["scrape_problem"] = {"since": unix(problem.since), "message": problem.message}
            services.append(item)
        return document

    def render_with_domain(self, report: ProjectReport) -> shapes.PlacedProject:
        """Returns the object of one project in a list over all domains."""
        domain: Named = {"id": report.project.domain_uuid, "name": report.project.domain_name}
        return {"domain": domain, **self.render(report)}

    def _resource(self, report: ProjectReport, column: "_Column", row: ProjectResourceRow) -> ProjectResource:
        """Renders the backend quota only where it is not the usable one; burst usage only above zero."""
        ref, resource, behavior, head, grows = column
        context, project, quota = self._context, report.project, row.quota
        if behavior is None or head is None:
            behavior = context.catalog.behavior(ref, project.scope)
            head = self._head(ref, resource, behavior)
        document = head.copy()
        document["usage"] = row.usage
        if quota is not None:
            multiplier = behavior.burst_multiplier if project.has_bursting else 0
            document["quota"] = quota
            usable = document["usable_quota"] = usable_quota(quota, multiplier)
            if row.backend_quota is not None and row.backend_quota != usable:
                document["backend_quota"] = row.backend_quota
            if multiplier and row.usage > quota:
                document["burst_usage"] = burst_usage(row.usage, quota)
            if report.temporary and (temporary := report.temporary.get(ref)):
                document["temporary_quota"] = render_temporary(temporary, quota)
        if is_forbidden(row.max_backend_quota):
            document.pop("commitment_config", None)
        if row.physical_usage is not None:
            document["physical_usage"] = row.physical_usage
        if grows and (growing := report.growing.get(ref)):
            _add_bounds(document, growing)
        if context.with_azs or grows:
            self._add_azs(document, report, column)
        return document

    def _add_azs(self, document: ProjectResource, report: ProjectReport, column: "_Column") -> None:
        context, ref = self._context, column.ref
        azs = report.azs.get(ref, ())
        if context.per_az or column.grows:
            committed = report.committed.get(ref, {})
            growing = report.growing.get(ref)
            quotas = growing.by_az if growing else None
            document["per_az"] = project_azs(context.catalog, azs, committed, quotas, detail=context.detail)
        if context.detail:
            subresources = [az.subresources for az in azs]
            if any(subresources):
                document["subresources"] = json_lists(subresources)


def _add_bounds(document: ProjectResource, growing: GrowingQuota) -> None:
    if growing.max_quota is not None:
        document["max_quota"] = growing.max_quota
    if growing.min_quota is not None:
        document["min_quota"] = growing.min_quota
    if growing.forbids_growth:
        document["forbid_autogrowth"] = True


class _Column(NamedTuple):
    """A resource to show. Behaviour and head are None if they depend on the project's name."""

    ref: Ref
    resource: ResourceDef
    behavior: Behavior | None
    head: ProjectResource | None
    grows: bool
    """Whether its quota grows by itself."""
