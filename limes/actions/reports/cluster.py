"""Capacity, quota and usage of the cluster, and of its domains."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from limes.actions.context import Limes
from limes.actions.lookup import find_domain
from limes.actions.quota_changes import domain_tag, tag_of_domain
from limes.core.catalog import ANY_AZ, Page, Ref, Selection
from limes.core.commitments.claims import Claims
from limes.core.commitments.commitment import Status
from limes.core.temporary_quota import TemporaryQuota
from limes.db.engine import Engine
from limes.db.queries import kept_sums as queries
from limes.db.queries.catalog import AZCapacityRow, all_ids, capacities
from limes.db.queries.domain_quotas import domain_quota_sums, domain_quotas_by_resource
from limes.db.queries.kept_sums import resource_sums
from limes.db.queries.project_sums import Among, Level, ResourceSum, az_quota_sums
from limes.db.queries.projects import (
    DomainRow,
    capacity_scrape_range,
    cluster_scrape_ranges,
    domain_scrape_ranges,
    domains,
)
from limes.db.queries.temporary_quotas import of_domains
from limes.db.transactions import snapshot


@dataclass(slots=True)
class AZFigures:
    """One resource in one AZ. Commitments are by duration."""

    usage: int | None = None
    """Of all projects together; None where no project has reported on this AZ, and on the project level."""
    physical_usage: int | None = None
    quota: int | None = None
    """Of all projects together, where it grows by itself; None elsewhere, and on the project level."""
    unused: int = 0
    confirmed: dict[str, int] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    planned: dict[str, int] = field(default_factory=dict)

    def by_status(self, status: str) -> dict[str, int]:
        """Returns the amounts by duration of one status."""
        return {Status.CONFIRMED: self.confirmed, Status.PENDING: self.pending, Status.PLANNED: self.planned}[
            Status(status)
        ]


AZBreakdown = dict[Ref, dict[str, AZFigures]]
"""By resource and AZ. What nobody uses or has committed to is missing."""


def read_commitments(
    engine: Engine, refs: Mapping[int, Ref], now: float, by: Level, among: Among
) -> defaultdict[int, AZBreakdown]:
    """Returns commitments only, by the id of the project or domain. `refs` are the resources, by id. One statement."""
    breakdowns: defaultdict[int, AZBreakdown] = defaultdict(lambda: defaultdict(lambda: defaultdict(AZFigures)))
    if refs:
        for row in queries.committed_sums(engine, list(refs), now, by, among):
            breakdowns[row.key][refs[row.resource_id]][row.az].by_status(row.status)[row.duration] = row.amount
    return breakdowns


def read_totals(
    engine: Engine, refs: Mapping[int, Ref], now: float, by: Level, among: Among, growing: Collection[Ref]
) -> defaultdict[int, AZBreakdown]:
    """Returns sums over projects, with commitments, by the id of the domain. Three statements, and one more for quota
    that grows by itself (`growing`)."""
    breakdowns = read_commitments(engine, refs, now, by, among)
    if refs:
        for row in queries.az_usage_sums(engine, list(refs), by, among):
            figures = breakdowns[row.key][refs[row.resource_id]][row.az]
            figures.usage = row.usage
            figures.physical_usage = row.physical_usage if row.has_physical_usage else None
        for (key, resource, az), amount in queries.unused_commitments(engine, list(refs), now, by, among).items():
            breakdowns[key][refs[resource]][az].unused = amount
    if with_quota := [id_ for id_, ref in refs.items() if ref in growing]:
        for (key, resource, az), amount in az_quota_sums(engine, with_quota, by, among).items():
            breakdowns[key][refs[resource]][az].quota = amount
    return breakdowns


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


@dataclass(frozen=True, slots=True)
class DomainReport:
    """The figures of one domain. `sums` lacks the resources that no project of the domain has yet."""

    domain: DomainRow
    selection: Selection
    quotas: dict[Ref, int]
    sums: dict[Ref, ResourceSum]
    service_scraped_at: dict[str, tuple[float | None, float | None]]
    azs: AZBreakdown
    """Only filled if asked for."""
    temporary: dict[Ref, TemporaryQuota] = field(default_factory=dict)
    """Quotas that end by themselves, or that are planned."""
    tag: str = ""
    """Of all its quotas, selected or not (`limes.core.quota`). Only in the report of a single domain."""


@snapshot
def report_domains(
    limes: Limes, selection: Selection, page: Page | None = None, *, per_az_at: float | None = None
) -> list[DomainReport]:
    """Returns all domains, or one page of them, in the order of their UUIDs. Six queries."""
    rows = domains(limes.engine, *(page or ()))
    return _read(limes, rows, None if page is None else [row.id for row in rows], selection, per_az_at)


@snapshot
def report_domain(limes: Limes, uuid: str, selection: Selection, *, per_az_at: float | None = None) -> DomainReport:
    """Returns one domain. Raises `NotFound`."""
    domain = find_domain(limes.engine, uuid)
    report = _read(limes, [domain], [domain.id], selection, per_az_at)[0]
    if selection.is_whole(limes.catalog):
        return replace(report, tag=tag_of_domain(limes.catalog, report.quotas))
    return replace(report, tag=domain_tag(limes.engine, limes.catalog, domain.id))


def _read(
    limes: Limes, rows: list[DomainRow], domain_ids: list[int] | None, selection: Selection, per_az_at: float | None
) -> list[DomainReport]:
    """Returns the reports of these domains, which are all or, with `domain_ids`, some."""
    if not rows:
        return []
    types, ids = all_ids(limes.engine)
    refs = {ids[ref]: ref for ref in selection.refs if ref in ids}
    growing = {ref for ref in selection.refs if limes.catalog.autogrow(ref)}
    resources, among = list(refs), Among("domain", domain_ids)
    reports = {domain.id: DomainReport(domain, selection, {}, {}, {}, {}) for domain in rows}
    for (domain_id, resource_id), quota in domain_quotas_by_resource(limes.engine, resources, domain_ids).items():
        reports[domain_id].quotas[refs[resource_id]] = quota
    for (domain_id, resource_id), temporary in of_domains(limes.engine, domain_ids).items():
        if refs.get(resource_id) not in (None, *growing) and domain_id in reports:
            reports[domain_id].temporary[refs[resource_id]] = temporary
    for sums in resource_sums(limes.engine, resources, "domain", among):
        reports[sums.key].sums[refs[sums.resource_id]] = sums
    for report in reports.values() if growing else ():
        # nobody gives such quota to domains
        report.quotas.update({ref: report.sums[ref].quota or 0 if ref in report.sums else 0 for ref in growing})
    for scrapes in domain_scrape_ranges(limes.engine, domain_ids):
        if scrapes.service_id in types:
            scraped_at = (scrapes.min_scraped_at, scrapes.max_scraped_at)
            reports[scrapes.domain_id].service_scraped_at[types[scrapes.service_id]] = scraped_at
    if per_az_at is not None:
        breakdowns = read_totals(limes.engine, refs, per_az_at, "domain", among, growing)
        for id_, report in reports.items():
            report.azs.update(breakdowns.get(id_, {}))
    return list(reports.values())
