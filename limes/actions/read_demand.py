"""What projects demand of resources, for the capacitors that ask for it."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace

from limes.backends import AZDemand, Demand, ResourceDemand
from limes.core.catalog import Catalog, Ref
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import project_sums as queries

_ALL = queries.Among("project", None)
_PENDING = "pending"


def read_demand(engine: Engine, catalog: Catalog, wanted: Collection[Ref], now: float) -> Demand:
    """The demand of all projects, in one state of the database and a fixed number of statements.

    Resources that are not configured are left out.
    """
    return engine.snapshot(lambda: _read(engine, catalog, wanted, now)) if wanted else {}


def _read(engine: Engine, catalog: Catalog, wanted: Collection[Ref], now: float) -> Demand:
    ids = catalog_queries.resource_ids(engine)
    refs = {ids[ref]: ref for ref in wanted if ref in ids}
    if not refs:
        return {}
    found: dict[int, dict[str, AZDemand]] = defaultdict(lambda: {az: AZDemand() for az in catalog.availability_zones})
    for row in queries.az_usage_sums(engine, list(refs), "cluster", _ALL):
        found[row.resource_id][row.az] = AZDemand(usage=int(row.usage))
    for (_, resource, az), amount in queries.unused_commitments(engine, list(refs), now, "cluster", _ALL).items():
        found[resource][az] = replace(found[resource].get(az, AZDemand()), unused_commitments=int(amount))
    for one in queries.committed_sums(engine, list(refs), now, "cluster", _ALL):
        if one.status == _PENDING:
            known = found[one.resource_id].get(one.az, AZDemand())
            pending = known.pending_commitments + int(one.amount)
            found[one.resource_id][one.az] = replace(known, pending_commitments=pending)
    return {ref: ResourceDemand(catalog.behavior(ref).overcommit_factor, dict(found[id_])) for id_, ref in refs.items()}
