"""Computes quota that follows usage, and writes what differs from what projects have.

Invariants:

- A resource's quota is computed by one process at a time, under the lock on its row in `resources`. Whoever changes
  what it depends on either holds that lock (capacity, commitments, bounds), or locks the rows of projects, which are
  locked here before they are read (usage). So nothing is computed from figures that have changed meanwhile.
- A project's quota is the sum of its quota by AZ, and covers what it needs in each AZ.
- What has changed during a computation makes the resource due again (`limes.db.queries.autogrow.mark_due`).

The same state gives the same quotas, but for small changes, which wait (`limes.core.redistribution`). A process that is
killed leaves the resource to others when its lease is over.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from limes.actions.change_log import ChangeLog
from limes.actions.compute_quota import Computation, ComputeQuota, CurrentOverrides, autogrow_rule, growing_resources
from limes.actions.project_tasks import never
from limes.audit.cadf import Scope
from limes.audit.initiator import Initiator
from limes.core.autogrow import Allocation, ProjectDemand
from limes.core.autogrow_bounds import AutogrowBounds
from limes.core.catalog import AutogrowRule, Catalog, Ref
from limes.core.constraints import ConstraintSet
from limes.core.history import QuotaStep, Reason
from limes.core.redistribution import Proposal, capped, choose_changes
from limes.db.engine import Engine
from limes.db.queries import autogrow as queries
from limes.db.queries import autogrow_quotas
from limes.db.queries.autogrow_figures import SET_BY_PEOPLE, Figures, ProjectQuotaRow
from limes.db.queries.autogrow_quotas import AZQuotaChanges
from limes.db.queries.catalog import resource_ids
from limes.errors import LimesError
from limes.system import Clock, Jitter

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DistributionOutcome:
    """How a computation went."""

    ref: Ref
    success: bool
    changed: int = 0
    """How many projects have another quota now."""


@dataclass(frozen=True, slots=True)
class ExplainedAllocation:
    """What one project would get now, and why."""

    demand: ProjectDemand
    allocation: Allocation
    bounds: AutogrowBounds
    rule: AutogrowRule
    capacity: Mapping[str, int]
    """Of all projects, by AZ, after overcommit."""
    quotas: Mapping[str, int]
    """What the project has now, by AZ."""
    text: str
    """All of it in one line."""


@dataclass(frozen=True, slots=True)
class DistributeQuota:
    """The use case with what it works with. Durations are in seconds."""

    engine: Engine
    catalog: Catalog
    constraints: ConstraintSet
    overrides: CurrentOverrides
    clock: Clock
    jitter: Jitter
    change_log: ChangeLog
    interval: float = 900.0
    """How long after a computation the next one is due at the latest."""
    retry: float = 180.0
    lease: float = 300.0

    def by(self, initiator: Initiator) -> "DistributeQuota":
        """Returns the same use case for changes that `initiator` makes."""
        return replace(self, change_log=self.change_log.by(initiator))

    def run_next(self) -> DistributionOutcome | None:
        """Computes the resource that has been due longest. None if none is due."""
        now = self._now()
        refs = growing_resources(self.catalog)
        if not refs:
            return None
        horizon = never(now, self.interval, self.retry, self.lease)

        def claim() -> Ref | None:
            ids = resource_ids(self.engine)
            names = {ids[ref]: ref for ref in refs if ref in ids}
            claimed = queries.claim(self.engine, names, now, now + self.lease, horizon)
            return None if claimed is None else names[claimed]

        ref = self.engine.atomic(claim)
        if ref is None:
            return None
        try:
            changed = self.engine.atomic(lambda: self.run(ref), computes=True)
        except LimesError as error:
            log.error("quota of %s was not computed: %s", "/".join(ref), error)
            message = str(error)
        except Exception as error:  # a bug: recorded like other errors, so that it stops no other resource
            log.exception("quota of %s was not computed", "/".join(ref))
            message = f"internal error: {type(error).__name__}"
        else:
            return DistributionOutcome(ref, True, changed)
        self.engine.atomic(lambda: self._record_failure(ref, message))
        return DistributionOutcome(ref, False)

    def run(self, ref: Ref) -> int:
        """Computes one resource inside a transaction. Returns how many projects have another quota now."""
        resource, rule = resource_ids(self.engine)[ref], autogrow_rule(self.catalog, ref)
        if rule is None or queries.lock_due(self.engine, resource) is None:
            return 0
        now = self._now()
        computed = self._compute().run(ref, resource, rule, now, lock=True)
        proposals = _propose(computed)
        chosen = choose_changes(computed.capacity, proposals, rule, now)
        changed = self._write(ref, resource, computed, proposals, chosen, now)
        next_run_at = now + self.jitter.spread(self.interval)
        queries.set_due(self.engine, resource, next_run_at)
        queries.record_outcome(self.engine, "/".join(ref), now, next_run_at, "")
        return changed

    def allocation(self, project_id: int, ref: Ref) -> ExplainedAllocation | None:
        """Returns what a project would get now. None if quota of the resource does not follow usage, or the project
        was never scraped for it. Writes nothing."""
        rule = autogrow_rule(self.catalog, ref)
        if rule is None:
            return None

        def read() -> Computation | None:
            resource = resource_ids(self.engine).get(ref)
            return None if resource is None else self._compute().run(ref, resource, rule, self._now(), lock=False)

        computed = self.engine.snapshot(read)
        if computed is None or project_id not in computed.demands:
            return None
        return ExplainedAllocation(
            demand=computed.demands[project_id],
            allocation=computed.allocations[project_id],
            bounds=computed.bounds[project_id],
            rule=rule,
            capacity=computed.capacity,
            quotas=_present(computed.figures, project_id),
            text=computed.describe(project_id),
        )

    def _compute(self) -> ComputeQuota:
        return ComputeQuota(self.engine, self.catalog, self.constraints, self.overrides)

    def _record_failure(self, ref: Ref, message: str) -> None:
        resource, now = resource_ids(self.engine).get(ref), self._now()
        if resource is not None and queries.lock_due(self.engine, resource) is not None:
            again_at = now + self.jitter.spread(self.retry)
            queries.set_due(self.engine, resource, again_at)
            queries.record_outcome(self.engine, "/".join(ref), now, again_at, message)

    # -- writing -----------------------------------------------------------------------------------------------------

    def _write(
        self,
        ref: Ref,
        resource: int,
        computed: Computation,
        proposals: Sequence[Proposal],
        chosen: Sequence[Proposal],
        now: float,
    ) -> int:
        """Writes the chosen proposals, and takes the mark from quotas that people have set."""
        written = {each.id for each in chosen}
        same = [each for each in proposals if each.old == each.new and set_by_people(computed.figures, each.id)]
        by_az = [*chosen, *same]
        _write_azs(self.engine, resource, computed.figures, by_az, now)
        final = {each.id: sum((each.new if each.id in written else each.old).values()) for each in proposals}
        rows = [row for row in computed.figures.projects if row.quota != final[row.project_id]]
        self._tell_backend(ref, resource, rows, by_az, now)
        if rows:
            quotas = {row.project_id: final[row.project_id] for row in rows}
            autogrow_quotas.write_quotas(self.engine, resource, quotas)
            self.change_log.record_quotas([(_scope(row), self._step(ref, computed, row, quotas)) for row in rows])
            text = "quota of %s: changed for %d of %d projects"
            self.engine.after_commit(partial(log.info, text, "/".join(ref), len(rows), len(proposals)))
        return len(rows)

    def _tell_backend(
        self, ref: Ref, resource: int, rows: Sequence[ProjectQuotaRow], by_az: Sequence[Proposal], now: float
    ) -> None:
        """Marks the projects whose quota the backend has to be told, also where it has only moved to another AZ."""
        definition = self.catalog.find(ref)
        changed = {row.project_id for row in rows}
        if definition is not None and definition.az_separated:
            changed |= {each.id for each in by_az}
        if changed:
            autogrow_quotas.mark_desynced(self.engine, resource, sorted(changed), now)

    def _step(self, ref: Ref, computed: Computation, row: ProjectQuotaRow, quotas: Mapping[int, int]) -> QuotaStep:
        by_people = set_by_people(computed.figures, row.project_id)
        reason = Reason.DISTRIBUTION_MODEL if by_people else Reason.AUTOGROW
        detail = computed.describe(row.project_id)
        if by_people:
            detail = f"autogrow instead of hierarchical: {detail}"
        return QuotaStep(ref, computed.unit, row.quota, quotas[row.project_id], reason, detail)

    def _now(self) -> float:
        return self.clock.now().timestamp()


def _propose(computed: Computation) -> list[Proposal]:
    proposals = []
    for id_, demand in computed.demands.items():
        stored = computed.figures.quotas.get(id_, {})
        proposals.append(
            Proposal(
                id=id_,
                old=_present(computed.figures, id_),
                new=capped(computed.allocations[id_].quotas),
                needed={az: each.needed for az, each in demand.azs.items()},
                changed_at=max((each.changed_at for each in stored.values()), default=SET_BY_PEOPLE),
                bounds=demand.bounds,
            )
        )
    return proposals


def _present(figures: Figures, project_id: int) -> dict[str, int]:
    return {az: each.quota for az, each in figures.quotas.get(project_id, {}).items() if each.quota}


def set_by_people(figures: Figures, project_id: int) -> bool:
    """Returns whether a project's quota is what people have set before it followed usage."""
    return any(each.changed_at == SET_BY_PEOPLE for each in figures.quotas.get(project_id, {}).values())


def _write_azs(engine: Engine, resource: int, figures: Figures, proposals: Sequence[Proposal], now: float) -> None:
    """Writes quota by AZ where it differs. The latest row of a project says when its quota over all AZs was changed."""
    changes = AZQuotaChanges()
    for each in proposals:
        by_people = set_by_people(figures, each.id)
        moves_only = not by_people and sum(each.old.values()) == sum(each.new.values())
        changed_at = each.changed_at if moves_only else now
        changes.add(each.id, figures.quotas.get(each.id, {}), each.new, changed_at, everything=by_people)
    changes.write(engine, resource)


def _scope(row: ProjectQuotaRow) -> Scope:
    return Scope(row.domain_uuid, row.domain_name, row.project_uuid, row.project_name)
