"""The cluster's capacity, quota and usage."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limes.actions.context import Limes
from limes.actions.reports.az_breakdown import AZBreakdown, read_totals
from limes.core.catalog import ANY_AZ, Ref
from limes.core.commitments.claims import Claims
from limes.core.selection import Selection
from limes.db.queries import kept_sums as queries
from limes.db.queries.capacity import AZCapacityRow, capacities
from limes.db.queries.catalog import all_ids
from limes.db.queries.project_scrapes import capacity_scrape_range, cluster_scrape_ranges
from limes.db.queries.project_sums import Among, ResourceSum
from limes.db.queries.quotas import domain_quota_sums
from limes.db.transactions import snapshot

_EVERYWHERE = Among("domain", None)

ScrapeRange = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """The figures of the selected resources. Resources without figures are missing from the mappings."""

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


@snapshot
def report_cluster(limes: Limes, selection: Selection, *, per_az_at: float | None = None) -> ClusterReport:
    """Reads one state of the database, in six queries.

    With `per_az_at`, the breakdown by AZ is reported, with the commitments of that time (in seconds since the
    epoch). That takes at most three more.
    """
    types, ids = all_ids(limes.engine)
    refs = {ids[ref]: ref for ref in selection.refs if ref in ids}
    resources = list(refs)
    growing = {ref for ref in selection.refs if limes.catalog.autogrow(ref)}
    capacities = _capacities(limes, refs)
    quotas = domain_quota_sums(limes.engine, resources)
    ranges = cluster_scrape_ranges(limes.engine)
    azs: AZBreakdown = {}
    claims: dict[Ref, Claims] = {}
    if per_az_at is None:
        usage_by_az = _usage_by_az(limes, refs, capacities)
    else:
        azs = read_totals(limes.engine, refs, per_az_at, "cluster", _EVERYWHERE, growing).get(0, {})
        claims = _claims(limes, refs, capacities, azs, per_az_at)
        usage_by_az = {
            (ref, az): figures.usage
            for ref, by_az in azs.items()
            for az, figures in by_az.items()
            if figures.usage is not None
        }
    sums = {
        refs[row.resource_id]: row for row in queries.resource_sums(limes.engine, resources, "cluster", _EVERYWHERE)
    }
    domains_quota = {refs[resource_id]: quota for resource_id, quota in quotas.items()}
    # nobody gives such quota to domains
    domains_quota |= {ref: sums[ref].quota or 0 if ref in sums else 0 for ref in growing}
    is_whole = selection.is_whole(limes.catalog)
    return ClusterReport(
        selection=selection,
        sums=sums,
        domains_quota=domains_quota,
        capacities=capacities,
        usage_by_az=usage_by_az,
        capacity_scraped_at=capacity_scrape_range(limes.engine, None if is_whole else resources),
        service_scraped_at={
            types[row.service_id]: (row.min_scraped_at, row.max_scraped_at) for row in ranges if row.service_id in types
        },
        azs=azs,
        claims=claims,
    )


def _capacities(limes: Limes, refs: Mapping[int, Ref]) -> dict[Ref, list[AZCapacityRow]]:
    by_resource: dict[Ref, list[AZCapacityRow]] = defaultdict(list)
    for row in capacities(limes.engine, list(refs)):
        by_resource[refs[row.resource_id]].append(row)
    for rows in by_resource.values():
        rows.sort(key=lambda row: limes.catalog.az_order(row.az))
    return dict(by_resource)


def _usage_by_az(
    limes: Limes, refs: Mapping[int, Ref], capacities: Mapping[Ref, Sequence[AZCapacityRow]]
) -> dict[tuple[Ref, str], int]:
    """Returns usage of the resources with capacity in AZs; the breakdown by AZ has it already."""
    zoned = {row.resource_id for rows in capacities.values() for row in rows if row.az != ANY_AZ}
    found = queries.usage_by_az(limes.engine, sorted(zoned))
    return {(refs[resource_id], az): usage for (resource_id, az), usage in found.items()}


def _claims(
    limes: Limes,
    refs: Mapping[int, Ref],
    capacities: Mapping[Ref, Sequence[AZCapacityRow]],
    azs: AZBreakdown,
    now: float,
) -> dict[Ref, Claims]:
    """Returns what decides on new commitments, for all resources at once (`limes.db.queries.commitment_balance`
    reads it for one)."""
    behaviors = {id_: limes.catalog.behavior(ref) for id_, ref in refs.items()}
    committable = {id_: behavior for id_, behavior in behaviors.items() if behavior.commitment_durations}
    pooled = [id_ for id_, behavior in committable.items() if not behavior.commitment_is_az_aware]
    unused_overall = queries.unused_commitments_overall(limes.engine, pooled, now)
    claims = {}
    for id_, behavior in committable.items():
        figures = azs.get(refs[id_], {})
        if behavior.commitment_is_az_aware:
            claimed = {az: (in_az.usage or 0) + in_az.unused for az, in_az in figures.items()}
        else:
            usage = sum(in_az.usage or 0 for in_az in figures.values())
            claimed = {ANY_AZ: usage + int(unused_overall.get(id_, 0))}
        raw_capacity = {row.az: row.raw_capacity for row in capacities.get(refs[id_], ())}
        claims[refs[id_]] = Claims.of(raw_capacity, claimed, behavior)
    return claims
