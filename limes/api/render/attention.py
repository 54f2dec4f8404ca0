"""The answers about what needs attention."""

from limes.actions.reports.attention import Ending, Fullest, ScrapeStatus
from limes.api.render.common import RenderContext, seconds, unit_name, unix
from limes.api.shapes import attention as shapes
from limes.api.shapes.common import PlacedNamed
from limes.db.queries.attention import CapacitorScrape, PlacedRow, ServiceScrapes


def render_scrape_status(
    context: RenderContext, status: ScrapeStatus, *, with_capacitors: bool
) -> shapes.ScrapeStatusAnswer:
    """Leaves out services that are not configured, and errors of their backends."""
    times = [row.checked_at for row in status.services] + [row.checked_at for row in status.capacitors]
    document = shapes.ScrapeStatus(
        services=[_service(context, row) for row in status.services if row.service_type in context.catalog.services],
        checked_at=seconds(max((time for time in times if time is not None), default=None)),
        capacitors=[_capacitor(context, row) for row in status.capacitors] if with_capacitors else None,
    )
    return shapes.ScrapeStatusAnswer(scrape_status=document)


def _service(context: RenderContext, row: ServiceScrapes) -> shapes.ServiceScrapes:
    was_scraped = row.oldest is not None and row.newest is not None
    age = context.stale_age(row.oldest) if was_scraped else None
    return shapes.ServiceScrapes(
        type=row.service_type,
        area=context.catalog.services[row.service_type].area,
        projects=row.projects,
        max_scraped_at=seconds(row.newest) if was_scraped else None,
        min_scraped_at=seconds(row.oldest) if was_scraped else None,
        is_stale=None if age is None else True,
        age_seconds=age,
        failing_projects=row.failing or None,
        failing_since=seconds(row.failing_since),
        unwritten_projects=row.unwritten or None,
        checked_at=seconds(row.checked_at),
    )


def _capacitor(context: RenderContext, row: CapacitorScrape) -> shapes.CapacitorScrape:
    age = context.stale_age(row.scraped_at)
    return shapes.CapacitorScrape(
        id=row.name,
        scraped_at=seconds(row.scraped_at),
        is_stale=None if age is None else True,
        age_seconds=age,
        checked_at=seconds(row.checked_at),
        message=row.error or None,
    )


def render_fullest(fullest: Fullest) -> shapes.FullestAnswer:
    """The fullest first, with the counts of all."""
    above, above_95, above_quota = fullest.counts
    rows = [
        shapes.FullResource(
            project=place(row.project),
            service=named.ref[0],
            resource=named.ref[1],
            unit=unit_name(named.unit),
            quota=row.quota,
            usage=row.usage,
        )
        for named, row in fullest.rows
    ]
    counts = shapes.FullCounts(above=above, above_95=above_95, above_quota=above_quota)
    return shapes.FullestAnswer(fullest=rows, counts=counts)


def render_ending(ending: Ending) -> shapes.ExpiringCommitmentsAnswer:
    """The first to end first, with the number of all."""
    rows = [
        shapes.EndingCommitment(
            project=place(row.project),
            service=named.ref[0],
            resource=named.ref[1],
            unit=unit_name(named.unit),
            id=row.id,
            uuid=row.uuid,
            availability_zone=row.az,
            amount=row.amount,
            duration=row.duration,
            expires_at=unix(row.expires_at),
        )
        for named, row in ending.rows
    ]
    return shapes.ExpiringCommitmentsAnswer(expiring_commitments=rows, total=ending.total)


def place(row: PlacedRow) -> PlacedNamed:
    """A project with its domain."""
    return {"id": row.uuid, "name": row.name, "domain": {"id": row.domain_uuid, "name": row.domain_name}}
