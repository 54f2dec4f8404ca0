"""PUT and simulate-put of a project: one code path, so that the simulation can never disagree with the deed.

Invariants: all of the request's quotas are written, or none; and the sum of a domain's project quotas never exceeds the
domain's quota because of us. To decide on the sum, a transaction locks the domain's row of each resource, so that of
two requests the second one sees what the first one wrote.

The backends are told after the commit. What they could not be told is marked in the same transaction as the change, so
the push job does it later; a crash in between loses nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from limes.actions.first_scrape import not_ready
from limes.actions.precondition import Unchanged
from limes.actions.quota import (
    ChangedQuota,
    PermissionSource,
    QuotaChange,
    QuotaOutcome,
    decide,
    read_changes,
    write_trail,
)
from limes.actions.quota_state import project_tag
from limes.actions.repair_backend import repair
from limes.actions.reports.projects import find_project
from limes.actions.scopes import scope_of
from limes.actions.trail import Trail
from limes.audit.initiator import Initiator
from limes.core.capacity import effective
from limes.core.catalog import Catalog, Ref
from limes.core.constraints import ConstraintSet
from limes.core.hierarchy import ProjectFigures, QuotaRules, Refusal, judge_project
from limes.core.permissions import LowPrivRules, Permissions
from limes.db.engine import Engine
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import project_quotas as queries
from limes.db.queries.domain_quotas import lock_domain_quotas
from limes.db.queries.projects import ProjectRow
from limes.db.queries.quota_pushes import mark_desynced
from limes.system import Clock

PushQuota = Callable[[int, Sequence[str]], Sequence[str]]
"""Tells the backends of these service types a project's quota (by the project's id); answers one line an error."""


@dataclass(frozen=True, slots=True)
class SetProjectQuota:
    """The use case with what it works with."""

    engine: Engine
    catalog: Catalog
    constraints: ConstraintSet
    lowpriv: LowPrivRules
    clock: Clock
    push: PushQuota
    trail: Trail

    def run(
        self,
        domain_uuid: str,
        project_uuid: str,
        changes: Iterable[QuotaChange],
        permissions: PermissionSource,
        initiator: Initiator,
        *,
        dry_run: bool,
        condition: Unchanged | None = None,
    ) -> QuotaOutcome:
        """Sets the quotas and tells the backends, or says why not.

        Raises `NotFound` for an unknown project, `NotReady` for one that was not scraped yet, and `PreconditionFailed`.
        """
        wanted, refusals = read_changes(self.catalog, changes)
        allowed = {ref: permissions(ref) for ref in wanted}
        trail = self.trail.by(initiator)

        def work() -> tuple[ProjectRow, QuotaOutcome]:
            project = find_project(self.engine, domain_uuid, project_uuid)
            ids = catalog_queries.resource_ids(self.engine) if wanted else {}
            self._lock(project, [ids[ref] for ref in wanted], condition, dry_run)
            outcome = self._decide(project, ids, wanted, refusals, allowed, dry_run)
            if not dry_run:
                outcome = self._repair(trail, project, domain_uuid, ids, wanted, allowed, outcome)
                write_trail(trail, self.catalog, scope_of(project, domain_uuid), outcome)
            return project, outcome

        if dry_run:
            return self.engine.snapshot(work)[1]
        project, outcome = self.engine.atomic(work)
        services = sorted({change.ref[0] for change in outcome.changed} | set(outcome.repaired))
        if not services:
            return outcome
        return replace(outcome, backend_errors=self.push(project.id, services))

    def _lock(self, project: ProjectRow, resources: list[int], condition: Unchanged | None, dry_run: bool) -> None:
        """Takes the locks, and checks the condition under them."""
        if resources and not dry_run:
            lock_domain_quotas(self.engine, project.domain_id, resources)
        if condition is not None:
            condition.check(project_tag(self.engine, self.catalog, project.id, lock=not dry_run))

    def _decide(
        self,
        project: ProjectRow,
        ids: Mapping[Ref, int],
        wanted: dict[Ref, int],
        refusals: Mapping[Ref, Refusal],
        allowed: Mapping[Ref, Permissions],
        dry_run: bool,
    ) -> QuotaOutcome:
        if not wanted:
            return QuotaOutcome(refusals)
        figures = self.figures(project, {ref: ids[ref] for ref in wanted})
        outcome = decide(
            wanted,
            refusals,
            lambda ref: figures[ref].quota,
            lambda ref, quota: judge_project(quota, figures[ref], self.rules(ref, project, allowed[ref])),
        )
        if outcome.changed and not dry_run:
            self._write(project, ids, outcome.changed)
        return outcome

    def _repair(
        self,
        trail: Trail,
        project: ProjectRow,
        domain_uuid: str,
        ids: Mapping[Ref, int],
        wanted: Mapping[Ref, int],
        allowed: Mapping[Ref, Permissions],
        outcome: QuotaOutcome,
    ) -> QuotaOutcome:
        """Has the backends told again what stays as it is, for those who may set quota at all."""
        changed = {change.ref for change in outcome.changed}
        same = {ref: ids[ref] for ref in wanted if ref not in changed and allowed[ref].can_set}
        if outcome.refusals or not same:
            return outcome
        now = self.clock.now().timestamp()
        services = repair(self.engine, self.catalog, trail, project, domain_uuid, same, now)
        return replace(outcome, repaired=services)

    def _write(self, project: ProjectRow, ids: Mapping[Ref, int], changed: Sequence[ChangedQuota]) -> None:
        queries.write_project_quotas(self.engine, project.id, {ids[change.ref]: change.new for change in changed})
        mark_desynced(
            self.engine,
            project.id,
            sorted({change.ref[0] for change in changed}),
            self.clock.now().timestamp(),
        )

    def figures(self, project: ProjectRow, ids: dict[Ref, int]) -> dict[Ref, ProjectFigures]:
        """The numbers that decide, for resources given with their ids. Raises `NotReady`. Inside a transaction."""
        resources = list(ids.values())
        now = self.clock.now().timestamp()
        own = queries.project_decisions(self.engine, project.id, project.domain_id, resources, now)
        if missing := [ref for ref, id_ in ids.items() if id_ not in own]:
            raise not_ready(self.engine, project.id, missing)
        projects = queries.project_quota_sums(self.engine, project.domain_id, resources)
        return {
            ref: ProjectFigures(
                quota=own[id_].quota or 0,
                usage=own[id_].usage,
                projects_quota=projects.get(id_, 0),
                domain_quota=own[id_].domain_quota or 0,
                capacity=effective(int(own[id_].raw_capacity), self.catalog.behavior(ref).overcommit_factor),
                backend_minimum=own[id_].min_backend_quota,
                backend_maximum=own[id_].max_backend_quota,
                committed=int(own[id_].committed),
            )
            for ref, id_ in ids.items()
        }

    def rules(self, ref: Ref, project: ProjectRow, permissions: Permissions) -> QuotaRules:
        """What else decides on the quota of a resource that is configured."""
        resource = self.catalog.find(ref)
        assert resource is not None
        scope = f"{project.domain_name}/{project.name}"
        return QuotaRules(
            service_type=ref[0],
            unit=resource.unit,
            permissions=permissions,
            lowpriv_limit=self.lowpriv.for_project(ref, project.domain_name),
            constraint=self.constraints.for_project(ref, project.domain_name, project.name),
            min_nonzero_quota=self.catalog.behavior(ref, scope).min_nonzero_project_quota,
        )
