"""Quotas of domains, and the locks under which they are decided. Locks are taken in the order of resource ids."""

from collections import Counter
from collections.abc import Mapping, Sequence

import peewee
from peewee import JOIN

from limes.core.catalog import Ref
from limes.db.compiled import Parameters, Select, any_of, compiled, compiled_insert, compiled_update, lock
from limes.db.engine import Engine
from limes.db.models import Domain, DomainResource, Resource, Service


def _do_nothing(insert: peewee.Insert) -> peewee.Insert:
    return insert.on_conflict("NOTHING", conflict_target=[DomainResource.domain, DomainResource.resource])


_FIELDS = (DomainResource.domain, DomainResource.resource, DomainResource.quota)

# -- locks -------------------------------------------------------------------------------------------------------------

_LOCK = compiled(
    lambda p: lock(
        DomainResource.select(DomainResource.resource)
        .where(DomainResource.domain == p.domain, any_of(DomainResource.resource, p.resources))
        .order_by(DomainResource.resource)
    )
)
_ADD = compiled_insert(DomainResource, *_FIELDS, finish=_do_nothing)


def lock_domain_quotas(engine: Engine, domain_id: int, resources: Sequence[int]) -> None:
    """Until the transaction ends, nobody else decides on sums over this domain's projects for these resources.

    Creates the rows to lock where they are missing (for a resource that has just appeared).
    """
    locked = engine.column(_LOCK, domain=domain_id, resources=resources)
    missing = sorted(set(resources) - set(locked))
    if missing:
        engine.write(_ADD, rows=[(domain_id, resource, 0) for resource in missing])
        engine.column(_LOCK, domain=domain_id, resources=resources)


# -- by resource id ----------------------------------------------------------------------------------------------------

_EVERYWHERE = compiled(lambda p: DomainResource.select(*_FIELDS).where(any_of(DomainResource.resource, p.resources)))
_OF_DOMAINS = compiled(
    lambda p: DomainResource.select(*_FIELDS).where(
        any_of(DomainResource.resource, p.resources), any_of(DomainResource.domain, p.domains)
    )
)


def domain_quotas_by_resource(
    engine: Engine, resources: Sequence[int], domain_ids: Sequence[int] | None = None
) -> dict[tuple[int, int], int]:
    """Returns quota by (domain id, resource id), over these domains or all of them."""
    if not resources:
        return {}
    if domain_ids is None:
        rows = engine.tuples(_EVERYWHERE, resources=resources)
    else:
        rows = engine.tuples(_OF_DOMAINS, resources=resources, domains=domain_ids)
    return {(domain, resource): quota for domain, resource, quota in rows}


_SUMS = compiled(
    lambda p: (
        DomainResource.select(DomainResource.resource, peewee.fn.SUM(DomainResource.quota))
        .where(any_of(DomainResource.resource, p.resources))
        .group_by(DomainResource.resource)
    )
)


def domain_quota_sums(engine: Engine, resources: Sequence[int]) -> dict[int, int]:
    """Returns the sum of all domains' quotas, by resource id, however large it is."""
    if not resources:
        return {}
    if engine.dialect == "postgresql":
        return dict(engine.tuples(_SUMS, resources=resources))
    sums: Counter[int] = Counter()  # SQLite's sums end at 64 bits
    for (_, resource), quota in domain_quotas_by_resource(engine, resources).items():
        sums[resource] += quota
    return dict(sums)


_WRITE = compiled_update(DomainResource.resource, DomainResource.quota, lambda p: DomainResource.domain == p.domain)


def write_domain_quotas(engine: Engine, domain_id: int, quotas: Mapping[int, int]) -> None:
    """Sets a domain's quotas, by resource id."""
    engine.write(_WRITE, rows=list(quotas.items()), domain=domain_id)


# -- by name -----------------------------------------------------------------------------------------------------------


def _add_all(p: Parameters) -> peewee.Insert:
    same = (DomainResource.domain == Domain.id) & (DomainResource.resource == Resource.id)
    missing = (
        Domain.select(Domain.id, Resource.id, peewee.Value(0))
        .join(Resource, JOIN.CROSS)
        .where(Domain.id == p.domain, ~peewee.fn.EXISTS(DomainResource.select(peewee.Value(1)).where(same)))
        .order_by(Resource.id)
    )
    return _do_nothing(DomainResource.insert_from(missing, _FIELDS))


def _by_name(p: Parameters) -> Select:
    quota = DomainResource.alias("dr")
    return (
        quota.select(Service.type, Resource.name, quota.quota)
        .join(Resource, on=quota.resource == Resource.id)
        .join(Service)
        .where(quota.domain == p.domain)
        .order_by(quota.resource)
    )


_ADD_ALL = compiled(_add_all)
_BY_NAME = compiled(_by_name)
_LOCK_BY_NAME = compiled(lambda p: lock(_by_name(p), of="dr"))


def domain_quotas_by_name(engine: Engine, domain_id: int, *, lock: bool) -> dict[Ref, int]:
    """Returns every quota of a domain. With `lock`, nobody else changes any of them until the transaction ends.

    A missing row means 0. With `lock` such rows are created: a row that does not exist cannot be locked.
    """
    if lock:
        engine.write(_ADD_ALL, domain=domain_id)
    rows = engine.tuples(_LOCK_BY_NAME if lock else _BY_NAME, domain=domain_id)
    return {(service_type, resource_name): quota for service_type, resource_name, quota in rows}
