"""Sets the quotas of a project, or simulates that. As it is one code path, simulation and change cannot disagree.

Invariants: all of the request's quotas are written, or none; and the sum of a domain's project quotas never exceeds the
domain's quota because of us. To check the sum, a transaction locks the domain's row of each resource, so that the
second of two requests sees what the first wrote.

The backends are told after the commit. The change marks them in its own transaction, and the push job tells those that
could not be told at once, so a crash in between loses nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from limes.actions.backend_drift import repair_backends
from limes.actions.change_log import ChangeLog, scope_of
from limes.actions.lookup import find_project, not_ready
from limes.actions.quota_changes import (
    PermissionSource,
    QuotaChange,
    QuotaOutcome,
    QuotaRequest,
    TellBackends,
    Unchanged,
    project_tag,
    read_request,
)
from limes.actions.quota_decision import Ends, decide
from limes.audit.initiator import Initiator
from limes.core.capacity import effective
from limes.core.catalog import Catalog, Ref
from limes.core.constraints import ConstraintSet
from limes.core.hierarchy import PROJECT_QUOTA_GROWS, ProjectFigures, QuotaRules, judge_project
from limes.core.permissions import LowPrivRules, Permissions
from limes.db.engine import Engine
from limes.db.queries import project_quotas as queries
from limes.db.queries.catalog import resource_ids
from limes.db.queries.domain_quotas import lock_domain_quotas
from limes.db.queries.project_quotas import lock_project
from limes.db.queries.projects import ProjectRow
from limes.db.queries.temporary_quotas import temporary_quotas, write_temporary_quotas
from limes.system import Clock


@dataclass(frozen=True, slots=True)
class SetProjectQuota:
    engine: Engine
    catalog: Catalog
    constraints: ConstraintSet
    lowpriv: LowPrivRules
    clock: Clock
    tell_backends: TellBackends
    change_log: ChangeLog

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
        request = self.read(changes, permissions)
        work = partial(self.apply, domain_uuid, project_uuid, request, initiator, dry_run=dry_run, condition=condition)
        if dry_run:
            return self.engine.snapshot(work)[1]
        project, outcome = self.engine.atomic(work)
        return self.tell(project, outcome)

    def read(self, changes: Iterable[QuotaChange], permissions: PermissionSource) -> QuotaRequest:
        """Returns the wanted quotas as `apply` takes them."""
        return read_request(self.catalog, changes, permissions, PROJECT_QUOTA_GROWS, self._now())

    def apply(
        self,
        domain_uuid: str,
        project_uuid: str,
        request: QuotaRequest,
        initiator: Initiator,
        *,
        dry_run: bool = False,
        condition: Unchanged | None = None,
    ) -> tuple[ProjectRow, QuotaOutcome]:
        """Does what `run` does inside the caller's transaction; after its commit, `tell` has to be called."""
        project = find_project(self.engine, domain_uuid, project_uuid)
        all_ids = resource_ids(self.engine) if request.wanted else {}
        ids = {ref: all_ids[ref] for ref in request.wanted}
        self._lock(project, list(ids.values()), condition, dry_run)
        outcome = self._decide(project, ids, request)
        if not dry_run:
            outcome = self._write(self.change_log.by(initiator), project, ids, request, outcome)
        return project, outcome

    def tell(self, project: ProjectRow, outcome: QuotaOutcome) -> QuotaOutcome:
        """Tells the backends what was changed. Returns the outcome with their errors."""
        services = sorted({change.ref[0] for change in outcome.changed} | set(outcome.repaired))
        if not services:
            return outcome
        return replace(outcome, backend_errors=self.tell_backends(project.id, services))

    def _lock(self, project: ProjectRow, resources: list[int], condition: Unchanged | None, dry_run: bool) -> None:
        """Takes the locks, and checks the condition under them. Its row of the project comes before the domain's."""
        if condition is not None and not dry_run:
            lock_project(self.engine, project.id, lock=True)
        if resources and not dry_run:
            lock_domain_quotas(self.engine, project.domain_id, resources)
        if condition is not None:
            condition.check(project_tag(self.engine, self.catalog, project.id, lock=not dry_run))

    def _decide(self, project: ProjectRow, ids: Mapping[Ref, int], request: QuotaRequest) -> QuotaOutcome:
        if not ids:
            return QuotaOutcome(request.refusals)
        figures = self.figures(project, ids)
        temporary = temporary_quotas(self.engine, project.domain_id, project.id)
        ends = Ends({ref: temporary[id_] for ref, id_ in ids.items() if id_ in temporary}, self.catalog, self._now())
        return decide(
            request,
            lambda ref: figures[ref].quota,
            lambda ref, old, new: judge_project(
                new, replace(figures[ref], quota=old), self.rules(ref, project, request.permissions[ref])
            ),
            ends,
        )

    def _write(
        self,
        change_log: ChangeLog,
        project: ProjectRow,
        ids: Mapping[Ref, int],
        request: QuotaRequest,
        outcome: QuotaOutcome,
    ) -> QuotaOutcome:
        """Writes and records the changes. Backends that differ are told again what stays, if the caller may set it."""
        if outcome.changed:
            quotas = {ids[change.ref]: change.new for change in outcome.changed}
            queries.write_project_quotas(self.engine, project.id, quotas)
            change_log.request_push(project.id, sorted({change.ref[0] for change in outcome.changed}))
        replaced = {ids[ref]: temporary for ref, temporary in outcome.replaced.items()}
        write_temporary_quotas(self.engine, project.domain_id, project.id, replaced)
        changed = {change.ref for change in outcome.changed}
        same = {ref: id_ for ref, id_ in ids.items() if ref not in changed and request.permissions[ref].can_set}
        if same and not outcome.refusals:
            outcome = replace(outcome, repaired=repair_backends(change_log, project, same))
        change_log.record_outcome(scope_of(project), outcome)
        return outcome

    def figures(self, project: ProjectRow, ids: Mapping[Ref, int]) -> dict[Ref, ProjectFigures]:
        """Returns the deciding numbers for resources, given with their ids. Raises `NotReady`. Inside a transaction."""
        resources = list(ids.values())
        own = queries.project_decisions(self.engine, project.id, project.domain_id, resources, self._now())
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
        """Returns the other rules for the quota of a configured resource."""
        resource = self.catalog.find(ref)
        assert resource is not None
        return QuotaRules(
            service_type=ref[0],
            unit=resource.unit,
            permissions=permissions,
            lowpriv_limit=self.lowpriv.for_project(ref, project.domain_name),
            constraint=self.constraints.for_project(ref, project.domain_name, project.name),
            min_nonzero_quota=self.catalog.behavior(ref, project.scope).min_nonzero_project_quota,
        )

    def _now(self) -> float:
        return self.clock.now().timestamp()
