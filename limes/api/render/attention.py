"""The answers about what needs attention."""

from limes.actions.reports.attention import Ending, Fullest, NamedResource, ScrapeStatus
from limes.api.render.common import RenderContext, add_scrape_range, unix
from limes.api.shapes import attention as shapes
from limes.api.shapes.cluster import NamedResource as NamedResourceShape
from limes.api.shapes.common import PlacedNamed
from limes.db.queries.attention import CapacitorScrape, PlacedRow, ServiceScrapes


def render_scrape_status(
    context: RenderContext, status: ScrapeStatus, *, with_capacitors: bool
) -> shapes.ScrapeStatusAnswer:
    """Returns the document. Services that are not configured are left out, and errors of their backends, too."""
    services = [_service(context, row) for row in status.services if row.service_type in context.catalog.services]
    document: shapes.ScrapeStatus = {"services": services}
    times = [row.checked_at for row in status.services] + [row.checked_at for row in status.capacitors]
    if latest := max((time for time in times if time is not None), default=None):
        document["checked_at"] = unix(latest)
    if with_capacitors:
        document["capacitors"] = [_capacitor(context, row) for row in status.capacitors]
    return {"scrape_status": document}


def _service(context: RenderContext, row: ServiceScrapes) -> shapes.ServiceScrapes:
    document: shapes.ServiceScrapes = {
        "type": row.service_type,
        "area": context.catalog.services[row.service_type].area,
        "projects": row.projects,
    }
    add_scrape_range(context, document, (row.oldest, row.newest))
    if row.failing:
        document["failing_projects"] = row.failing
    if row.failing_since is not None:
        document["failing_since"] = unix(row.failing_since)
    if row.unwritten:
        document["unwritten_projects"] = row.unwritten
    if row.checked_at is not None:
        document["checked_at"] = unix(row.checked_at)
    return document


def _capacitor(context: RenderContext, row: CapacitorScrape) -> shapes.CapacitorScrape:
    document: shapes.CapacitorScrape = {"id": row.name}
    if row.scraped_at is not None:
        document["scraped_at"] = unix(row.scraped_at)
        context.add_staleness(document, row.scraped_at)
    if row.checked_at is not None:
        document["checked_at"] = unix(row.checked_at)
    if row.error:
        document["message"] = row.error
    return document


def render_fullest(fullest: Fullest) -> shapes.FullestAnswer:
    """Returns the document."""
    above, above_95, above_quota = fullest.counts
    return {
        "fullest": [
            {"project": place(row.project), **named_resource(named), "quota": row.quota, "usage": row.usage}
            for named, row in fullest.rows
        ],
        "counts": {"above": above, "above_95": above_95, "above_quota": above_quota},
    }


def render_ending(ending: Ending) -> shapes.ExpiringCommitmentsAnswer:
    """Returns the document."""
    return {
        "expiring_commitments": [
            {
                "project": place(row.project),
                **named_resource(named),
                "id": row.id,
                "uuid": row.uuid,
                "availability_zone": row.az,
                "amount": row.amount,
                "duration": row.duration,
                "expires_at": unix(row.expires_at),
            }
            for named, row in ending.rows
        ],
        "total": ending.total,
    }


def place(row: PlacedRow) -> PlacedNamed:
    """Returns a project with its domain."""
    return {"id": row.uuid, "name": row.name, "domain": {"id": row.domain_uuid, "name": row.domain_name}}


def named_resource(named: NamedResource) -> NamedResourceShape:
    """Returns which resource something is about."""
    service, resource = named.ref
    document: NamedResourceShape = {"service": service, "resource": resource}
    if named.unit.is_measured:
        document["unit"] = named.unit.value
    return document
