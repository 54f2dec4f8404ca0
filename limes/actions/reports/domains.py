"""Quota and usage of domains."""

from dataclasses import dataclass, field, replace

from limes.actions.context import Limes
from limes.actions.lookup import find_domain
from limes.actions.quota_changes import domain_tag, tag_of_domain
from limes.actions.reports.az_breakdown import AZBreakdown, read_totals
from limes.core.catalog import Ref
from limes.core.selection import Page, Selection
from limes.core.temporary_quota import TemporaryQuota
from limes.db.queries.catalog import all_ids
from limes.db.queries.kept_sums import resource_sums
from limes.db.queries.project_scrapes import domain_scrape_ranges
from limes.db.queries.project_sums import Among, ResourceSum
from limes.db.queries.projects import DomainRow, domains
from limes.db.queries.quotas import domain_quotas_by_resource
from limes.db.queries.temporary_quotas import of_domains
from limes.db.transactions import snapshot


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
