"""Raises quota that follows usage at once to what is needed, without waiting for the computation for all projects.

No project's quota is lowered, so others are never affected. The rows of the projects are locked, so that a computation
comes before or after.
"""

from collections import defaultdict
from collections.abc import Collection

from limes.actions.change_log import ChangeLog
from limes.actions.compute_quota import autogrow_rule
from limes.audit.cadf import Scope
from limes.core.autogrow import demand_by_az
from limes.core.autogrow_advice import describe_demand
from limes.core.catalog import Catalog, Ref
from limes.core.history import QuotaStep, Reason
from limes.core.redistribution import cover
from limes.db.engine import Engine
from limes.db.queries import autogrow_quotas
from limes.db.queries.autogrow import computed_resources
from limes.db.queries.autogrow_figures import read_figures
from limes.db.queries.autogrow_quotas import AZQuotaChanges


def grant_needed(
    engine: Engine, catalog: Catalog, change_log: ChangeLog, places: Collection[tuple[int, int]], now: float
) -> None:
    """Grants what these projects need of these resources, given as (project id, resource id). To be called inside the
    transaction that has changed the need. Does nothing where people set quota, or where no collector has begun to
    compute it. Six statements for each resource, and some more where quota is raised."""
    projects: dict[int, set[int]] = defaultdict(set)
    for project, resource in places:
        projects[resource].add(project)
    for row in computed_resources(engine) if projects else ():
        ref = (row.service_type, row.name)
        if row.id in projects and autogrow_rule(catalog, ref):
            _grant(engine, catalog, change_log, ref, row.id, projects[row.id], now)


def _grant(
    engine: Engine,
    catalog: Catalog,
    change_log: ChangeLog,
    ref: Ref,
    resource: int,
    projects: Collection[int],
    now: float,
) -> None:
    figures = read_figures(engine, resource, now, 0, projects=projects, lock=True)
    unit = change_log.unit_of(ref)
    is_pooled = not catalog.behavior(ref).commitment_is_az_aware
    definition = catalog.find(ref)
    tells_azs = definition is not None and definition.az_separated
    by_az, raised, told, steps = AZQuotaChanges(), dict[int, int](), set[int](), []
    for row in figures.projects:
        id_ = row.project_id
        demand = demand_by_az(figures.usage.get(id_, {}), {}, figures.committed.get(id_, {}), is_pooled=is_pooled)
        stored = figures.quotas.get(id_, {})
        present = {az: each.quota for az, each in stored.items()}
        covered = cover(present, {az: each.needed for az, each in demand.items()})
        total = sum(covered.values())
        changed_at = max((each.changed_at for each in stored.values()), default=now)
        by_az.add(id_, stored, covered, changed_at if total == row.quota else now)
        if total != row.quota or (tells_azs and covered != present):
            told.add(id_)
        if total != row.quota:
            raised[id_] = total
            text = describe_demand(demand, unit)
            scope = Scope(row.domain_uuid, row.domain_name, row.project_uuid, row.project_name)
            steps.append((scope, QuotaStep(ref, unit, row.quota, total, Reason.AUTOGROW, text)))
    by_az.write(engine, resource)
    if raised:
        autogrow_quotas.write_quotas(engine, resource, raised)
        change_log.record_quotas(steps)
    autogrow_quotas.mark_desynced(engine, resource, sorted(told), now)
