"""Capacity, quota and usage of the cluster, and of its domains."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from msgspec import Struct, field, structs

from limes.app.context import Limes
from limes.catalog import queries as catalog
from limes.catalog.catalog import ANY_AZ, Page, Ref, Selection
from limes.commitments.claims import Claims
from limes.db.engine import Engine
from limes.db.transactions import snapshot
from limes.projects import queries as projects
from limes.projects import scope
from limes.projects.queries import DomainRow, ScrapeRange
from limes.quota import changes, queries, temporary_queries
from limes.quota.temporary import TemporaryQuota
from limes.usage import sums as stored_sums
from limes.usage.project_sums import ALL_PROJECTS, Among, Level, ResourceSum, az_quota_sums

# -- the breakdown by AZ -----------------------------------------------------------------------------------------------


class AZFigures(Struct):
    usage: int | None = None
    """Of all projects together; None where no project has reported on this AZ, and on the project level."""
    physical_usage: int | None = None
    quota: int | None = None
    """Of all projects together, where it grows by itself; None elsewhere, and on the project level."""
    unused: int = 0
    commitments: dict[str, dict[str, int]] = field(default_factory=dict)
    """By status and duration."""


AZBreakdown = dict[Ref, dict[str, AZFigures]]
"""By resource and AZ. What is neither used nor committed is missing."""


def read_commitments(
    engine: Engine, refs: Mapping[int, Ref], now: float, by: Level, among: Among
) -> defaultdict[int, AZBreakdown]:
    """Returns commitments only, by the id of the project or domain. `refs` are the resources, by id. One statement."""
    breakdowns: defaultdict[int, AZBreakdown] = defaultdict(lambda: defaultdict(lambda: defaultdict(AZFigures)))
    if refs:
        sums = stored_sums.committed_sums(engine, list(refs), now, by, among)
        for (key, resource, az, status, duration), amount in sums.items():
            breakdowns[key][refs[resource]][az].commitments.setdefault(status, {})[duration] = amount
    return breakdowns


def _read_totals(
    engine: Engine, refs: Mapping[int, Ref], now: float, by: Level, among: Among, growing: Collection[Ref]
) -> defaultdict[int, AZBreakdown]:
    """Returns sums over projects, with commitments, by the id of the domain. Three statements, and one more for quota
    that grows by itself (`growing`)."""
    breakdowns = read_commitments(engine, refs, now, by, among)
    if refs:
        for (key, resource, az), total in stored_sums.az_usage_sums(engine, list(refs), by, among).items():
            figures = breakdowns[key][refs[resource]][az]
            figures.usage = total.usage
            figures.physical_usage = total.physical_usage if total.has_physical_usage else None
        for (key, resource, az), amount in stored_sums.unused_commitments(engine, list(refs), now, by, among).items():
            breakdowns[key][refs[resource]][az].unused = amount
    if with_quota := [id_ for id_, ref in refs.items() if ref in growing]:
        for (key, resource, az), amount in az_quota_sums(engine, with_quota, by, among).items():
            breakdowns[key][refs[resource]][az].quota = amount
    return breakdowns


# -- the cluster -------------------------------------------------------------------------------------------------------


class ClusterReport(Struct, frozen=True):
    """The figures of the selected resources. Resources without figures are missing from the mappings."""

    selection: Selection
    sums: dict[Ref, ResourceSum]
    domains_quota: dict[Ref, int]
    capacities: dict[Ref, list[catalog.AZCapacityRow]]
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
    """Reads one state of the database, in six queries. With `per_az_at`, the breakdown by AZ is reported, with the
    commitments of that time (in seconds since the epoch). That takes at most three more."""
    engine = limes.engine
    types, refs, growing = _selected(limes, selection)
    resources = list(refs)
    capacities: defaultdict[Ref, list[catalog.AZCapacityRow]] = defaultdict(list)
    for row in sorted(catalog.capacities(engine, resources), key=lambda row: limes.catalog.az_order(row.az)):
        capacities[refs[row.resource_id]].append(row)
    quotas = queries.domain_quota_sums(engine, resources)
    ranges = projects.cluster_scrape_ranges(engine)
    azs: AZBreakdown = {}
    claims: dict[Ref, Claims] = {}
    if per_az_at is None:
        zoned = {row.resource_id for rows in capacities.values() for row in rows if row.az != ANY_AZ}
        usages = stored_sums.usage_by_az(engine, sorted(zoned))
        usage_by_az = {(refs[resource], az): usage for (resource, az), usage in usages.items()}
    else:
        azs = _read_totals(engine, refs, per_az_at, "cluster", ALL_PROJECTS, growing).get(0, {})
        claims = _claims(limes, refs, capacities, azs, per_az_at)
        in_azs = [(ref, az, figures.usage) for ref, by_az in azs.items() for az, figures in by_az.items()]
        usage_by_az = {(ref, az): usage for ref, az, usage in in_azs if usage is not None}
    sums = {refs[row.resource_id]: row for row in stored_sums.resource_sums(engine, resources, "cluster", ALL_PROJECTS)}
    return ClusterReport(
        selection=selection,
        sums=sums,
        domains_quota={refs[id_]: quota for id_, quota in quotas.items()} | _growing_quota(growing, sums),
        capacities=capacities,
        usage_by_az=usage_by_az,
        capacity_scraped_at=projects.capacity_scrape_range(
            engine, None if selection.is_whole(limes.catalog) else resources
        ),
        service_scraped_at={types[id_]: scraped_at for id_, scraped_at in ranges.items() if id_ in types},
        azs=azs,
        claims=claims,
    )


def _selected(limes: Limes, selection: Selection) -> tuple[dict[int, str], dict[int, Ref], set[Ref]]:
    """Returns the types of services and the selected resources, by id, and those whose quota grows by itself."""
    types, ids = catalog.all_ids(limes.engine)
    growing = {ref for ref in selection.refs if limes.catalog.autogrow(ref)}
    return types, {ids[ref]: ref for ref in selection.refs if ref in ids}, growing


def _growing_quota(growing: Collection[Ref], sums: Mapping[Ref, ResourceSum]) -> dict[Ref, int]:
    """Returns what projects have of it: domains are not given such quota."""
    return {ref: sums[ref].quota or 0 if ref in sums else 0 for ref in growing}


def _claims(
    limes: Limes,
    refs: Mapping[int, Ref],
    capacities: Mapping[Ref, list[catalog.AZCapacityRow]],
    azs: AZBreakdown,
    now: float,
) -> dict[Ref, Claims]:
    """Returns what decides on new commitments, for all resources at once (`limes.commitments.figures`
    reads it for one)."""
    behaviors = {id_: limes.catalog.behavior(ref) for id_, ref in refs.items()}
    committable = {id_: behavior for id_, behavior in behaviors.items() if behavior.commitment_durations}
    pooled = [id_ for id_, behavior in committable.items() if not behavior.commitment_is_az_aware]
    unused_overall = stored_sums.unused_commitments_overall(limes.engine, pooled, now)
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


# -- domains -----------------------------------------------------------------------------------------------------------


class DomainReport(Struct, frozen=True):
    """The figures of one domain. `sums` lacks the resources that no project of the domain has yet."""

    domain: DomainRow
    selection: Selection
    quotas: dict[Ref, int] = field(default_factory=dict)
    sums: dict[Ref, ResourceSum] = field(default_factory=dict)
    service_scraped_at: dict[str, ScrapeRange] = field(default_factory=dict)
    azs: AZBreakdown = field(default_factory=dict)
    """Only filled if asked for."""
    temporary: dict[Ref, TemporaryQuota] = field(default_factory=dict)
    """Quotas that end by themselves, or that are planned."""
    tag: str = ""
    """Of all its quotas, selected or not (`limes.quota.rules`). Only in the report of a single domain."""


@snapshot
def report_domains(
    limes: Limes, selection: Selection, page: Page | None = None, *, per_az_at: float | None = None
) -> list[DomainReport]:
    """Returns all domains, or one page of them, in the order of their UUIDs. Six queries."""
    rows = projects.domains(limes.engine, *(page or ()))
    return _read_domains(limes, rows, None if page is None else [row.id for row in rows], selection, per_az_at)


@snapshot
def report_domain(limes: Limes, uuid: str, selection: Selection, *, per_az_at: float | None = None) -> DomainReport:
    """Returns one domain. Raises `NotFound`."""
    domain = scope.find_domain(limes.engine, uuid)
    report = _read_domains(limes, [domain], [domain.id], selection, per_az_at)[0]
    if selection.is_whole(limes.catalog):
        return structs.replace(report, tag=changes.tag_of_domain(limes.catalog, report.quotas))
    return structs.replace(report, tag=changes.domain_tag(limes.engine, limes.catalog, domain.id))


def _read_domains(
    limes: Limes, rows: list[DomainRow], domain_ids: list[int] | None, selection: Selection, per_az_at: float | None
) -> list[DomainReport]:
    """`domain_ids` are None if these are all domains."""
    if not rows:
        return []
    engine = limes.engine
    types, refs, growing = _selected(limes, selection)
    resources, among = list(refs), Among("domain", domain_ids)
    reports = {domain.id: DomainReport(domain, selection) for domain in rows}
    for (domain_id, resource_id), quota in queries.domain_quotas_by_resource(engine, resources, domain_ids).items():
        reports[domain_id].quotas[refs[resource_id]] = quota
    for (domain_id, resource_id), temporary in temporary_queries.of_domains(engine, domain_ids).items():
        if refs.get(resource_id) not in (None, *growing) and domain_id in reports:
            reports[domain_id].temporary[refs[resource_id]] = temporary
    for sums in stored_sums.resource_sums(engine, resources, "domain", among):
        reports[sums.key].sums[refs[sums.resource_id]] = sums
    for (domain_id, service_id), scraped_at in projects.domain_scrape_ranges(engine, domain_ids).items():
        if service_id in types:
            reports[domain_id].service_scraped_at[types[service_id]] = scraped_at
    breakdowns: Mapping[int, AZBreakdown] = {}
    if per_az_at is not None:
        breakdowns = _read_totals(engine, refs, per_az_at, "domain", among, growing)
    for id_, report in reports.items():
        report.quotas.update(_growing_quota(growing, report.sums))
        report.azs.update(breakdowns.get(id_, {}))
    return list(reports.values())
