"""Quotas of domains, and the locks under which they are decided. Locks are taken in the order of resource ids."""

from collections import Counter
from collections.abc import Mapping, Sequence

import peewee
from peewee import JOIN

from limes.core.catalog import Ref
from limes.db.compiled import any_of, compiled_update
from limes.db.compiled import lock as lock_rows
from limes.db.engine import Engine
from limes.db.models import Domain, DomainResource, Resource, Service
from limes.db.query import Insert, Node, column, mapping, writes

_FIELDS = (DomainResource.domain, DomainResource.resource, DomainResource.quota)

# -- locks -------------------------------------------------------------------------------------------------------------


@column(int)
def _lock(domain_id: int, resources: Sequence[int]) -> Node:
    row = DomainResource
    query = row.select(row.resource).where(row.domain == domain_id, any_of(row.resource, resources))
    return lock_rows(query.order_by(row.resource))


add_quotas = Insert(tuple[int, int, int], DomainResource, *_FIELDS, key=2, keep=True)
"""Adds quotas, given as (domain id, resource id, quota), where they are missing."""


def lock_domain_quotas(engine: Engine, domain_id: int, resources: Sequence[int]) -> None:
    """Until the transaction ends, nobody else decides on sums over this domain's projects for these resources.

    Creates the rows to lock where they are missing (for a resource that has just appeared).
    """
    missing = sorted(set(resources) - set(_lock(engine, domain_id, resources)))
    if missing:
        add_quotas(engine, [(domain_id, resource, 0) for resource in missing])
        _lock(engine, domain_id, resources)


# -- by resource id ----------------------------------------------------------------------------------------------------


@mapping(tuple[int, int], int, skip_empty="resources")
def domain_quotas_by_resource(resources: Sequence[int], domain_ids: Sequence[int] | None = None) -> Node:
    """Quota by (domain id, resource id), over these domains or all of them."""
    query = DomainResource.select(*_FIELDS).where(any_of(DomainResource.resource, resources))
    return query if domain_ids is None else query.where(any_of(DomainResource.domain, domain_ids))


@mapping(int, int, skip_empty="resources")
def _sums(resources: Sequence[int]) -> Node:
    row = DomainResource
    query = row.select(row.resource, peewee.fn.SUM(row.quota)).where(any_of(row.resource, resources))
    return query.group_by(row.resource)


def domain_quota_sums(engine: Engine, resources: Sequence[int]) -> dict[int, int]:
    """Returns the sum of all domains' quotas, by resource id, however large it is."""
    if engine.dialect == "postgresql":
        return _sums(engine, resources)
    sums: Counter[int] = Counter()  # SQLite's sums end at 64 bits
    for (_, resource), quota in domain_quotas_by_resource(engine, resources).items():
        sums[resource] += quota
    return dict(sums)


_WRITE = compiled_update(DomainResource.resource, DomainResource.quota, lambda p: DomainResource.domain == p.domain)


def write_domain_quotas(engine: Engine, domain_id: int, quotas: Mapping[int, int]) -> None:
    engine.write(_WRITE, rows=list(quotas.items()), domain=domain_id)


# -- by name -----------------------------------------------------------------------------------------------------------


@writes
def _add_all(domain_id: int) -> Node:
    same = (DomainResource.domain == Domain.id) & (DomainResource.resource == Resource.id)
    missing = (
        Domain.select(Domain.id, Resource.id, peewee.Value(0))
        .join(Resource, JOIN.CROSS)
        .where(Domain.id == domain_id, ~peewee.fn.EXISTS(DomainResource.select(peewee.Value(1)).where(same)))
        .order_by(Resource.id)
    )
    return DomainResource.insert_from(missing, _FIELDS).on_conflict("NOTHING", conflict_target=_FIELDS[:2])


@mapping(tuple[str, str], int)
def _by_name(domain_id: int, *, lock: bool) -> Node:
    quota = DomainResource.alias("dr")
    query = (
        quota.select(Service.type, Resource.name, quota.quota)
        .join(Resource, on=quota.resource == Resource.id)
        .join(Service)
        .where(quota.domain == domain_id)
        .order_by(quota.resource)
    )
    return lock_rows(query, of="dr") if lock else query


def domain_quotas_by_name(engine: Engine, domain_id: int, *, lock: bool) -> dict[Ref, int]:
    """Returns every quota of a domain. With `lock`, nobody else changes any of them until the transaction ends.

    A missing row means 0. With `lock` such rows are created: a row that does not exist cannot be locked.
    """
    if lock:
        _add_all(engine, domain_id)
    return _by_name(engine, domain_id, lock=lock)
