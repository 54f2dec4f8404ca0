"""The cluster's capacity, quota and usage."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limes.actions.reports import az_breakdown
from limes.actions.reports.az_breakdown import AZBreakdown
from limes.core.catalog import ANY_AZ, Catalog, Ref
from limes.core.commitments.claims import Claims
from limes.core.selection import Selection
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import project_sums as queries
from limes.db.queries.capacity import AZCapacityRow, capacities
from limes.db.queries.domain_quotas import domain_quotas_by_resource
from limes.db.queries.project_scrapes import capacity_scrape_range, cluster_scrape_ranges
from limes.db.queries.project_sums import Among, ResourceSum

ScrapeRange = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """The figures of the selected resources. A resource that nobody reported on is missing from the mappings."""

    selection: Selection
    sums: dict[Ref, ResourceSum]
    domains_quota: dict[Ref, int]
    capacities: dict[Ref, list[AZCapacityRow]]
    """In the order `any`, AZs by name, `unknown`."""
    usage_by_az: dict[tuple[Ref, str], int]
    """Of all projects together, for resources with capacity in AZs. AZs that no project has reported on are missing."""
    capacity_scraped_at: ScrapeRange
    service_scraped_at: dict[str, ScrapeRange]
    azs: AZBreakdown
    """Only filled if asked for."""
    claims: dict[Ref, Claims]
    """Of the resources that commitments are possible for. Only filled with `azs`."""


def run(engine: Engine, catalog: Catalog, selection: Selection, *, per_az_at: float | None = None) -> ClusterReport:
    """Reads the report in six queries, and at most four more with the breakdown by AZ."""
    return engine.snapshot(lambda: _read(engine, catalog, selection, per_az_at))


def _read(engine: Engine, catalog: Catalog, selection: Selection, per_az_at: float | None) -> ClusterReport:
    types, ids = catalog_queries.all_ids(engine)
    refs = {ids[ref]: ref for ref in selection.refs if ref in ids}
    selected = list(refs)
    by_resource: dict[Ref, list[AZCapacityRow]] = defaultdict(list)
    for row in capacities(engine, selected):
        by_resource[refs[row.resource_id]].append(row)
    for rows in by_resource.values():
        rows.sort(key=lambda row: catalog.az_order(row.az))
    zoned = {row.resource_id for rows in by_resource.values() for row in rows if row.az != ANY_AZ}
    usage_by_az = {
        (refs[resource_id], az): usage
        for (resource_id, az), usage in queries.usage_by_az(engine, sorted(zoned)).items()
    }
    domains_quota: dict[Ref, int] = defaultdict(int)
    for (_, resource_id), quota in domain_quotas_by_resource(engine, selected).items():
        domains_quota[refs[resource_id]] += quota
    ranges = cluster_scrape_ranges(engine)
    azs: AZBreakdown = {}
    claims: dict[Ref, Claims] = {}
    if per_az_at is not None:
        azs = az_breakdown.totals(engine, refs, per_az_at, "cluster", Among("domain", None)).get(0, {})
        claims = _claims(engine, catalog, refs, by_resource, azs, per_az_at)
    return ClusterReport(
        selection=selection,
        sums={
            refs[row.resource_id]: row
            for row in queries.resource_sums(engine, selected, "cluster", Among("domain", None))
        },
        domains_quota=domains_quota,
        capacities=dict(by_resource),
        usage_by_az=usage_by_az,
        capacity_scraped_at=capacity_scrape_range(engine, None if selection.is_whole(catalog) else selected),
        service_scraped_at={
            types[row.service_id]: (row.min_scraped_at, row.max_scraped_at) for row in ranges if row.service_id in types
        },
        azs=azs,
        claims=claims,
    )


def _claims(
    engine: Engine,
    catalog: Catalog,
    refs: Mapping[int, Ref],
    capacities: Mapping[Ref, Sequence[AZCapacityRow]],
    azs: AZBreakdown,
    now: float,
) -> dict[Ref, Claims]:
    """What decides on new commitments, for all resources at once (`limes.db.queries.commitment_balance` reads one)."""
    behaviors = {id_: catalog.behavior(ref) for id_, ref in refs.items()}
    committable = {id_: behavior for id_, behavior in behaviors.items() if behavior.commitment_durations}
    pooled = [id_ for id_, behavior in committable.items() if not behavior.commitment_is_az_aware]
    unused_overall = queries.unused_commitments_overall(engine, pooled, now)
    claims = {}
    for id_, behavior in committable.items():
        figures = azs.get(refs[id_], {})
        if behavior.commitment_is_az_aware:
            claimed = {az: (one.usage or 0) + one.unused for az, one in figures.items()}
        else:
            claimed = {ANY_AZ: sum(one.usage or 0 for one in figures.values()) + int(unused_overall.get(id_, 0))}
        raw_capacity = {row.az: row.raw_capacity for row in capacities.get(refs[id_], ())}
        claims[refs[id_]] = Claims.of(raw_capacity, claimed, behavior)
    return claims
