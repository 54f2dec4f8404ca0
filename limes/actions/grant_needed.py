"""Raises quota that follows usage at once to what is needed, without waiting for the computation for all projects.

Nothing is lowered, so others are never affected. The rows of the projects are locked, so that a computation comes
before or after.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from limes.actions.change_log import ChangeLog
from limes.actions.compute_quota import growth_rule
from limes.audit.cadf import Scope
from limes.core.allocation_words import describe_demand
from limes.core.catalog import Catalog, Ref
from limes.core.demand import demand_by_az
from limes.core.history import QuotaStep, Reason
from limes.core.redistribution import capped
from limes.db.engine import Engine
from limes.db.queries import autogrow_quotas
from limes.db.queries.autogrow_figures import read_figures
from limes.db.queries.catalog import refs_by_id


@dataclass(frozen=True, slots=True)
class GrantNeeded:
    """The use case with what it works with."""

    engine: Engine
    catalog: Catalog
    change_log: ChangeLog

    def run(self, places: Collection[tuple[int, int]], now: float) -> None:
        """Grants what these projects need of these resources, given as (project id, resource id). To be called inside
        the transaction that has changed the need. Does nothing where people set quota. Seven statements for each
        resource, and some more where quota is raised."""
        projects: dict[int, set[int]] = defaultdict(set)
        for project, resource in places:
            projects[resource].add(project)
        refs = refs_by_id(self.engine, sorted(projects)) if projects else {}
        for resource, ref in sorted(refs.items()):
            if growth_rule(self.catalog, ref):
                self._grant(ref, resource, projects[resource], now)

    def _grant(self, ref: Ref, resource: int, projects: Collection[int], now: float) -> None:
        figures = read_figures(self.engine, resource, now, 0, projects=projects, lock=True)
        unit = self.change_log.unit_of(ref)
        is_pooled = not self.catalog.behavior(ref).commitment_is_az_aware
        raised: dict[int, Mapping[str, int]] = {}
        steps = []
        for row in figures.projects:
            id_ = row.project_id
            demand = demand_by_az(figures.usage.get(id_, {}), {}, figures.committed.get(id_, {}), is_pooled=is_pooled)
            present = {az: each.quota for az, each in figures.quotas.get(id_, {}).items()}
            needed = {az: each.needed for az, each in demand.items() if each.needed > present.get(az, 0)}
            if not needed:
                continue
            raised[id_] = capped({**present, **needed})
            step = QuotaStep(
                ref, unit, row.quota, sum(raised[id_].values()), Reason.AUTOGROW, describe_demand(demand, unit)
            )
            if step.old != step.new:
                steps.append((Scope(row.domain_uuid, row.domain_name, row.project_uuid, row.project_name), step))
        if not raised:
            return
        quotas = {id_: sum(by_az.values()) for id_, by_az in raised.items()}
        places = [(id_, az, quota) for id_, by_az in raised.items() for az, quota in by_az.items()]
        autogrow_quotas.write_az_quotas(self.engine, resource, places, dict.fromkeys(raised, now))
        autogrow_quotas.write_quotas(self.engine, resource, quotas)
        autogrow_quotas.mark_desynced(self.engine, resource, sorted(quotas), now)
        self.change_log.record_quotas(steps)
