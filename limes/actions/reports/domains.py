"""Quota and usage of domains."""

from dataclasses import dataclass, replace

from limes.actions.lookup import find_domain
from limes.actions.quota_changes import domain_tag, tag_of_domain
from limes.actions.reports import az_breakdown
from limes.actions.reports.az_breakdown import AZBreakdown
from limes.core.catalog import Catalog, Ref
from limes.core.selection import Page, Selection
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries.domain_quotas import domain_quotas_by_resource
from limes.db.queries.domains import DomainRow
from limes.db.queries.domains import domains as all_domains
from limes.db.queries.project_scrapes import domain_scrape_ranges
from limes.db.queries.project_sums import Among, ResourceSum, resource_sums


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
    tag: str = ""
    """Of all its quotas, selected or not (`limes.core.quota`). Only of a domain that was asked for alone."""


def run_all(
    engine: Engine, selection: Selection, page: Page | None = None, *, per_az_at: float | None = None
) -> list[DomainReport]:
    """All domains in the order of their UUIDs, or one page of them, in five queries."""

    def read() -> list[DomainReport]:
        domains = all_domains(engine, page)
        return _read(engine, selection, domains, None if page is None else [domain.id for domain in domains], per_az_at)

    return engine.snapshot(read)


def run_one(
    engine: Engine, catalog: Catalog, selection: Selection, uuid: str, *, per_az_at: float | None = None
) -> DomainReport:
    """One domain. Raises `NotFound`."""

    def read() -> DomainReport:
        domain = find_domain(engine, uuid)
        report = _read(engine, selection, [domain], [domain.id], per_az_at)[0]
        whole = selection.is_whole(catalog)
        tag = tag_of_domain(catalog, report.quotas) if whole else domain_tag(engine, catalog, domain.id)
        return replace(report, tag=tag)

    return engine.snapshot(read)


def _read(
    engine: Engine,
    selection: Selection,
    domains: list[DomainRow],
    domain_ids: list[int] | None,
    per_az_at: float | None,
) -> list[DomainReport]:
    if not domains:
        return []
    types, ids = catalog_queries.all_ids(engine)
    refs = {ids[ref]: ref for ref in selection.refs if ref in ids}
    reports = {domain.id: DomainReport(domain, selection, {}, {}, {}, {}) for domain in domains}
    for (domain, resource_id), quota in domain_quotas_by_resource(engine, list(refs), domain_ids).items():
        reports[domain].quotas[refs[resource_id]] = quota
    for row in resource_sums(engine, list(refs), "domain", Among("domain", domain_ids)):
        reports[row.key].sums[refs[row.resource_id]] = row
    for scrape in domain_scrape_ranges(engine, domain_ids):
        if scrape.service_id in types:
            scraped = (scrape.min_scraped_at, scrape.max_scraped_at)
            reports[scrape.domain_id].service_scraped_at[types[scrape.service_id]] = scraped
    if per_az_at is not None:
        found = az_breakdown.totals(engine, refs, per_az_at, "domain", Among("domain", domain_ids))
        for id_, report in reports.items():
            report.azs.update(found.get(id_, {}))
    return list(reports.values())
