"""Computes the quotas of all projects for a resource whose quota follows usage, from one state of the database. Raises
such quota at once to what is needed, without waiting for that; and remembers usage for it.

Raising lowers no quota, so others are never affected. The rows of the projects are locked, so that a computation comes
before or after.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from msgspec import Struct

from limes.app.context import Limes
from limes.audit.events import QuotaStep, Reason
from limes.autogrow import advice, queries, redistribution
from limes.autogrow import figures as autogrow_figures
from limes.autogrow import queries as autogrow
from limes.autogrow.figures import Figures, raw_capacity_by_az, read_figures
from limes.autogrow.rules import Allocation, ProjectDemand, demand_by_az, distribute, quota_az
from limes.catalog.catalog import AutogrowRule, Catalog, Ref
from limes.catalog.queries import resource_ids
from limes.db.engine import Engine
from limes.kernel.units import Unit, effective_capacity
from limes.projects import scrapes
from limes.quota import change_log
from limes.quota import queries as quota_queries
from limes.quota.change_log import scope_of
from limes.quota.queries import ProjectQuotaRow
from limes.usage.recent import add_change


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
        queries.mark_due(engine, [ids[ref] for ref in growing if ref in ids], now, lock=False)


class Computation(Struct, frozen=True):
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
    bounds: Mapping[int, advice.AutogrowBounds]
    allocations: Mapping[int, Allocation]

    def describe(self, project_id: int) -> str:
        """Returns why the quota of a project is what was computed."""
        allocation, bounds = self.allocations[project_id], self.bounds[project_id]
        return advice.describe_allocation(self.demands[project_id], allocation, bounds, self.unit)


def compute_quota(limes: Limes, ref: Ref, resource_id: int, rule: AutogrowRule, now: float) -> Computation:
    """Reads one state of the database, and computes from it after that: for seconds, in a large cloud."""
    behavior = limes.catalog.behavior(ref)

    def read() -> tuple[Figures, dict[str, int]]:
        figures = read_figures(limes.engine, resource_id, now, rule.retention)
        return figures, raw_capacity_by_az(limes.engine, resource_id)

    figures, raw = limes.engine.snapshot(read)
    capacity = {az: effective_capacity(amount, behavior.overcommit_factor) for az, amount in raw.items()}
    overrides = limes.overrides()
    rows = {row.project_id: row for row in figures.projects}
    bounds = {
        id_: advice.find_bounds(
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


_PATIENCE = 10.0
"""Seconds until quota is computed. Projects that are seen for the first time within them are computed together."""


def raise_to_demand(limes: Limes, places: Collection[tuple[int, int]], now: float) -> None:
    """Grants what these projects need of these resources, given as (project id, resource id). To be called inside the
    transaction that has changed the need. Does nothing where people set quota, or where no collector has started to
    compute it. Six statements for each resource, and some more where quota is raised."""
    projects: dict[int, set[int]] = defaultdict(set)
    for project, resource in places:
        projects[resource].add(project)
    for row in autogrow.computed_resources(limes.engine) if projects else ():
        ref = (row.service_type, row.name)
        if row.id in projects and autogrow_rule(limes.catalog, ref):
            _raise(limes, ref, row.id, projects[row.id], now)


def _raise(limes: Limes, ref: Ref, resource: int, projects: Collection[int], now: float) -> None:
    figures = read_figures(limes.engine, resource, now, 0, projects=projects, lock=True)
    unit = limes.catalog.unit_of(ref)
    is_pooled = not limes.catalog.behavior(ref).commitment_is_az_aware
    definition = limes.catalog.find(ref)
    tells_azs = definition is not None and definition.az_separated
    by_az, raised, told, steps = autogrow_figures.AZQuotaChanges(), dict[int, int](), set[int](), []
    for row in figures.projects:
        id_ = row.project_id
        demand = demand_by_az(figures.usage.get(id_, {}), {}, figures.committed.get(id_, {}), is_pooled=is_pooled)
        stored = figures.quotas.get(id_, {})
        present = {az: each.quota for az, each in stored.items()}
        covered = redistribution.cover(present, {az: each.needed for az, each in demand.items()})
        total = sum(covered.values())
        changed_at = max((each.changed_at for each in stored.values()), default=now)
        by_az.add(id_, stored, covered, changed_at if total == row.quota else now, everything=False)
        if total != row.quota or (tells_azs and covered != present):
            told.add(id_)
        if total != row.quota:
            raised[id_] = total
            text = advice.describe_demand(demand, unit)
            steps.append((scope_of(row), QuotaStep(ref, unit, row.quota, total, Reason.AUTOGROW, text)))
    by_az.write(limes.engine, resource)
    if raised:
        autogrow_figures.write_quotas(limes.engine, resource, raised)
        change_log.record_quotas(limes, steps)
    autogrow_figures.mark_desynced(limes.engine, resource, sorted(told), now)


# -- scrapes -----------------------------------------------------------------------------------------------------------


def on_scrapes(limes: Limes, found: Sequence[scrapes.Scrape]) -> None:
    """At most two statements to remember usage, and one to see whether it is granted."""
    names, service = {item for scrape in found for item in scrape.ids.items()}, found[0].task.service_type
    rules = {id_: rule for name, id_ in names if (rule := autogrow_rule(limes.catalog, (service, name)))}
    if rules:
        _remember(limes, found, rules)
        _raise_to_usage(limes, found, rules)


def _remember(limes: Limes, found: Sequence[scrapes.Scrape], rules: Mapping[int, AutogrowRule]) -> None:
    """A first report is no change; a vanished AZ is one to 0."""
    changed = {}
    for scrape in found:
        for place in (*scrape.changes.azs, *scrape.changes.gone):
            if place[0] in rules and place[0] in scrape.stored.resources:
                before, after = scrapes.usage_of(scrape.stored, place), scrapes.usage_of(scrape.present, place)
                if before != after:
                    changed[scrape.task.project_id, *place] = (before, after)
    if not changed:
        return
    projects, resources = {project for project, _, _ in changed}, {resource for _, resource, _ in changed}
    known = autogrow_figures.usage_changes(limes.engine, projects, resources)
    now = found[0].now
    written = {
        place: add_change(known.get(place, ()), now, before, after, rules[place[1]].retention)
        for place, (before, after) in changed.items()
    }
    autogrow_figures.write_usage_changes(limes.engine, written)


def _raise_to_usage(limes: Limes, found: Sequence[scrapes.Scrape], rules: Collection[int]) -> None:
    due, risen = set(), {}
    for scrape in found:
        due |= {id_ for id_ in rules if id_ in scrape.present.resources and id_ not in scrape.stored.resources}
        for place, row in scrape.changes.azs.items():
            if place[0] in rules and row.usage > scrapes.usage_of(scrape.stored, place):
                risen[scrape.task.project_id, *place] = row.usage
    engine, now = limes.engine, found[0].now
    if risen:
        projects, resources = {project for project, _, _ in risen}, {resource for _, resource, _ in risen}
        quotas = quota_queries.az_quotas(engine, projects, resources)
        short = {
            (project, id_)
            for (project, id_, az), usage in risen.items()
            if usage > quotas.get((project, id_, quota_az(az)), 0)
        }
        raise_to_demand(limes, short, now)
        due |= {id_ for _, id_ in short}
    if due:
        engine.after_commit(partial(autogrow.mark_due, engine, due, now + _PATIENCE, lock=False))
