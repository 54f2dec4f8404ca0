"""What needs attention in the cluster, a domain or a project: failing scrapes, quotas that are nearly used up,
commitments that end soon."""

from dataclasses import dataclass

from limes.actions.context import Limes
from limes.actions.lookup import find_domain, find_project
from limes.core.catalog import Catalog, Ref, Selection
from limes.core.units import Unit
from limes.db.engine import Engine
from limes.db.queries import attention as queries
from limes.db.queries.catalog import resource_ids
from limes.db.transactions import snapshot

_DAY = 86400


@dataclass(frozen=True, slots=True)
class Where:
    """Which domain or project a request is about, by UUID; the whole cluster without any."""

    domain: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class NamedResource:
    ref: Ref
    unit: Unit


@snapshot
def read_scrape_status(
    limes: Limes, where: Where
) -> tuple[list[queries.ServiceScrapes], list[queries.CapacitorScrape]]:
    """Capacitors are only reported of the whole cluster: their errors are for operators."""
    scope = scope_of(limes.engine, where)
    capacitors = queries.capacitor_scrapes(limes.engine) if scope == queries.EVERYWHERE else []
    return queries.service_scrapes(limes.engine, scope), capacitors


@snapshot
def find_fullest(
    limes: Limes, where: Where, selection: Selection, above: int, limit: int
) -> tuple[list[tuple[NamedResource, queries.FullRow]], queries.FullCounts]:
    """What uses more than `above` percent of its quota, the fullest first, and how many there are in all."""
    scope, resources = scope_of(limes.engine, where), named_resources(limes.engine, limes.catalog, selection)
    ids, share = list(resources), above / 100
    rows = queries.fullest(limes.engine, scope, ids, share, limit)
    (counts,) = queries.count_full(limes.engine, scope, ids, share)
    return [(resources[row.resource_id], row) for row in rows], counts


@snapshot
def find_ending(
    limes: Limes, where: Where, selection: Selection, days: int, limit: int
) -> tuple[list[tuple[NamedResource, queries.EndingRow]], int]:
    """Commitments that end soon and were not renewed, the first to end first, and how many there are in all."""
    scope, resources = scope_of(limes.engine, where), named_resources(limes.engine, limes.catalog, selection)
    ids, now = list(resources), limes.now()
    until = now + days * _DAY
    rows = queries.ending(limes.engine, scope, ids, now, until, limit)
    total = queries.count_ending(limes.engine, scope, ids, now, until)
    return [(resources[row.resource_id], row) for row in rows], total


def scope_of(engine: Engine, where: Where) -> queries.Scope:
    """Returns whose rows to read. Raises `NotFound`."""
    if where.domain is None:
        return queries.EVERYWHERE
    if where.project is None:
        return queries.Scope("domain", find_domain(engine, where.domain).id)
    return queries.Scope("project", find_project(engine, where.domain, where.project).id)


def named_resources(engine: Engine, catalog: Catalog, selection: Selection) -> dict[int, NamedResource]:
    """Returns the selected resources by id, in the order of reports."""
    ids = resource_ids(engine)
    return {
        ids[service_type, resource.name]: NamedResource((service_type, resource.name), resource.unit)
        for service_type, (_, resources) in selection.services.items()
        for resource in resources
        if (service_type, resource.name) in ids
    }
