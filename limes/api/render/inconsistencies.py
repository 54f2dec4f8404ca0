"""GET /v1/inconsistencies and GET /v1/admin/scrape-errors."""

from limes.actions.reports.inconsistencies import InconsistencyReport, ProjectInconsistency, ScrapeErrorGroup
from limes.api.render.common import unix
from limes.api.shapes import others as shapes
from limes.api.shapes.common import PlacedNamed
from limes.core.catalog import Catalog, Ref


def render_inconsistencies(catalog: Catalog, report: InconsistencyReport) -> shapes.InconsistenciesAnswer:
    """The three lists. `quota` is the usable quota, which is what usage and backends are compared with."""
    return {
        "inconsistencies": {
            "domain_quota_overcommitted": [
                {
                    "domain": {"id": row.domain_uuid, "name": row.domain_name},
                    **_resource(catalog, ref),
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


def _head(catalog: Catalog, item: ProjectInconsistency) -> shapes.ProjectInconsistency:
    row = item.row
    return {
        "project": _project(row.project_uuid, row.project_name, row.domain_uuid, row.domain_name),
        **_resource(catalog, item.ref),
        "quota": item.usable_quota,
    }


def _project(uuid: str, name: str, domain_uuid: str, domain_name: str) -> PlacedNamed:
    return {"id": uuid, "name": name, "domain": {"id": domain_uuid, "name": domain_name}}


def _resource(catalog: Catalog, ref: Ref) -> shapes.NamedResource:
    resource = catalog.find(ref)
    document: shapes.NamedResource = {"service": ref[0], "resource": ref[1]}
    if resource is not None and resource.unit.is_measured:
        document["unit"] = resource.unit.value
    return document


def render_scrape_errors(groups: list[ScrapeErrorGroup]) -> shapes.ScrapeErrorsAnswer:
    """One item for each group; `affected_projects` only where it is above 1."""
    items: list[shapes.ScrapeError] = []
    for group in groups:
        row = group.first
        item: shapes.ScrapeError = {
            "project": _project(row.project_uuid, row.project_name, row.domain_uuid, row.domain_name),
            "service_type": row.service_type,
            "checked_at": unix(row.checked_at),
            "message": row.message,
        }
        if group.affected_projects > 1:
            item["affected_projects"] = group.affected_projects
        items.append(item)
    return {"scrape_errors": items}
