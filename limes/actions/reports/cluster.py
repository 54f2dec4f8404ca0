"""The cluster's capacity, quota and usage."""

from collections import defaultdict
from dataclasses import dataclass

from limes.actions.reports import az_breakdown
from limes.actions.reports.az_breakdown import AZBreakdown
from limes.core.catalog import Catalog, Ref
from limes.core.selection import Selection
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import reports as queries
from limes.db.queries.az_breakdown import Among

ScrapeRange = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """The figures of the selected resources. A resource that nobody reported on is missing from the mappings."""

    selection: Selection
    sums: dict[Ref, queries.SumRow]
    domains_quota: dict[Ref, int]
    capacities: dict[Ref, list[queries.CapacityRow]]
    """In the order `any`, AZs by name, `unknown`."""
    capacity_scraped_at: ScrapeRange
    service_scraped_at: dict[str, ScrapeRange]
    azs: AZBreakdown
    """Only filled if asked for."""


def run(engine: Engine, catalog: Catalog, selection: Selection, *, per_az_at: float | None = None) -> ClusterReport:
    """Reads the report in five queries, and three more with the breakdown by AZ."""
    return engine.snapshot(lambda: _read(engine, catalog, selection, per_az_at))


def _read(engine: Engine, catalog: Catalog, selection: Selection, per_az_at: float | None) -> ClusterReport:
    types, ids = catalog_queries.all_ids(engine)
    refs = {ids[ref]: ref for ref in selection.refs if ref in ids}
    selected = list(refs)
    capacities: dict[Ref, list[queries.CapacityRow]] = defaultdict(list)
    for row in queries.capacities(engine, selected):
        capacities[refs[row.resource_id]].append(row)
    for rows in capacities.values():
        rows.sort(key=lambda row: catalog.az_order(row.az))
    domains_quota: dict[Ref, int] = defaultdict(int)
    for (_, resource_id), quota in queries.domain_quotas(engine, selected, None).items():
        domains_quota[refs[resource_id]] += quota
    ranges = queries.scrape_ranges(engine, None, by_domain=False)
    azs: AZBreakdown = {}
    if per_az_at is not None:
        azs = az_breakdown.totals(engine, refs, per_az_at, "cluster", Among("domain", None)).get(0, {})
    return ClusterReport(
        selection=selection,
        sums={refs[row.resource_id]: row for row in queries.sums(engine, selected, None, by_domain=False)},
        domains_quota=domains_quota,
        capacities=dict(capacities),
        capacity_scraped_at=queries.capacity_scrape_range(engine),
        service_scraped_at={
            types[row.service_id]: (row.min_scraped_at, row.max_scraped_at) for row in ranges if row.service_id in types
        },
        azs=azs,
    )
