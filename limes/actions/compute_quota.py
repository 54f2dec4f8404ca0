"""Computes the quotas of all projects for a resource whose quota follows usage, from one state of the database."""

from collections.abc import Mapping
from dataclasses import dataclass

from limes.actions.context import Limes
from limes.core.autogrow import Allocation, ProjectDemand, demand_by_az, distribute
from limes.core.autogrow_advice import AutogrowBounds, describe_allocation, find_bounds
from limes.core.catalog import AutogrowRule, Catalog, Ref
from limes.core.units import Unit, effective
from limes.db.engine import Engine
from limes.db.queries.autogrow import mark_due
from limes.db.queries.autogrow_figures import Figures, ProjectQuotaRow, raw_capacity_by_az, read_figures
from limes.db.queries.catalog import resource_ids


def autogrow_rule(catalog: Catalog, ref: Ref) -> AutogrowRule | None:
    """Returns how quota of a resource follows usage; None if people set it, or it has none."""
    resource = catalog.find(ref)
    return catalog.autogrow(ref) if resource is not None and resource.tracks_quota else None


def growing_resources(catalog: Catalog) -> list[Ref]:
    """Returns the resources whose quota follows usage, in the order of reports."""
    return [ref for ref in catalog.refs() if autogrow_rule(catalog, ref)]


def mark_growing_due(engine: Engine, catalog: Catalog, now: float) -> None:
    """Has quota computed of all resources where it follows usage. To be called after the commit of what has changed."""
    if growing := growing_resources(catalog):
        ids = resource_ids(engine)
        mark_due(engine, [ids[ref] for ref in growing if ref in ids], now, lock=False)


@dataclass(frozen=True, slots=True)
class Computation:
    """What was computed for a resource, and what from. Mappings are by project id."""

    unit: Unit
    raw_capacity: Mapping[str, int]
    """By AZ."""
    capacity: Mapping[str, int]
    """By AZ, after overcommit."""
    figures: Figures
    rows: Mapping[int, ProjectQuotaRow]
    """Those of the figures."""
    demands: Mapping[int, ProjectDemand]
    bounds: Mapping[int, AutogrowBounds]
    allocations: Mapping[int, Allocation]

    def describe(self, project_id: int) -> str:
        """Returns why the quota of a project is what was computed."""
        allocation, bounds = self.allocations[project_id], self.bounds[project_id]
        return describe_allocation(self.demands[project_id], allocation, bounds, self.unit)


def compute_quota(limes: Limes, ref: Ref, resource_id: int, rule: AutogrowRule, now: float) -> Computation:
    """Reads one state of the database, and computes from it after that: for seconds, in a large cloud."""
    behavior = limes.catalog.behavior(ref)

    def read() -> tuple[Figures, dict[str, int]]:
        figures = read_figures(limes.engine, resource_id, now, rule.retention)
        return figures, raw_capacity_by_az(limes.engine, resource_id)

    figures, raw = limes.engine.snapshot(read)
    capacity = {az: effective(amount, behavior.overcommit_factor) for az, amount in raw.items()}
    overrides = limes.overrides()
    rows = {row.project_id: row for row in figures.projects}
    bounds = {
        id_: find_bounds(
            override=overrides.for_project(ref, row.domain_name, row.project_name),
            max_quota=row.max_quota,
            min_quota=row.min_quota,
            forbids_growth=bool(row.forbids_autogrowth),
            constraint=limes.constraints.for_project(ref, row.domain_name, row.project_name),
            min_backend_quota=row.min_backend_quota,
            max_backend_quota=row.max_backend_quota,
        )
        for id_, row in rows.items()
    }
    is_pooled = not behavior.commitment_is_az_aware
    demands = {}
    for id_, found in bounds.items():
        usage, recent = figures.usage.get(id_, {}), figures.recent.get(id_, {})
        demand = demand_by_az(usage, recent, figures.committed.get(id_, {}), is_pooled=is_pooled)
        demands[id_] = ProjectDemand(id_, demand, found.bounds)
    allocations = distribute(capacity, demands.values(), rule)
    return Computation(limes.catalog.unit_of(ref), raw, capacity, figures, rows, demands, bounds, allocations)
