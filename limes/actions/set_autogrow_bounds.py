"""Sets how far quota may grow by itself, of one project or of all projects that a domain has now; and what a project is
granted of it.

Invariants: all that a request asks for is written and recorded, or nothing; and what it has changed is computed anew
afterwards, as the resources are marked as due in the same transaction. What is granted never takes more capacity than
other projects leave that need it or were granted it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from limes.actions.autogrow_warnings import AutogrowWarnings, Targets
from limes.actions.change_log import ChangeLog, scope_of
from limes.actions.compute_quota import autogrow_rule, compute_quota
from limes.actions.lookup import find_domain, find_project, not_ready
from limes.actions.quota_changes import QuotaOutcome, Unchanged, project_tag, read_amount, without_quota
from limes.audit.initiator import Initiator
from limes.core.autogrow_bounds import largest_minimum
from limes.core.catalog import Catalog, Ref
from limes.core.constraints import ConstraintSet
from limes.core.hierarchy import QUOTA_IS_SET, Bounding, Refusal, RefusalKind, invalid_value
from limes.core.history import QuotaStep, What
from limes.core.overrides import NO_OVERRIDES, QuotaOverrides
from limes.core.units import UnitError
from limes.db.engine import Engine
from limes.db.queries.autogrow import mark_due
from limes.db.queries.autogrow_quotas import AutogrowBoundsRow, autogrow_bounds, write_autogrow_bounds
from limes.db.queries.capacity import lock_resources
from limes.db.queries.catalog import resource_ids
from limes.db.queries.project_quotas import lock_project
from limes.db.queries.projects import ProjectRow, projects_of_domain
from limes.db.transactions import atomic
from limes.system import Clock


def _no_overrides() -> QuotaOverrides:
    return NO_OVERRIDES


@dataclass(frozen=True, slots=True)
class WantedBound:
    """A wanted bound: an amount or None for `What.MAX_QUOTA` and `What.MIN_QUOTA`, 1 or 0 for
    `What.FORBID_AUTOGROWTH`."""

    ref: Ref
    value: int | None
    unit: str | None = None
    """The name of the amount's unit; None means the resource's own."""


@dataclass(frozen=True, slots=True)
class _Request:
    what: What
    wanted: Mapping[Ref, int | None]
    refusals: Mapping[Ref, Refusal]


@dataclass(frozen=True, slots=True)
class SetAutogrowBounds:
    engine: Engine
    catalog: Catalog
    clock: Clock
    change_log: ChangeLog
    overrides: Callable[[], QuotaOverrides] = _no_overrides
    constraints: ConstraintSet = field(default_factory=ConstraintSet)

    @atomic
    def of_project(
        self,
        domain_uuid: str,
        project_uuid: str,
        what: What,
        bounds: Sequence[WantedBound],
        initiator: Initiator,
        condition: Unchanged | None = None,
    ) -> QuotaOutcome:
        """Sets bounds of a project, or says why not.

        Raises `NotFound`, `NotReady` for what was not scraped yet, and `PreconditionFailed`.
        """
        request, change_log = self._read(what, bounds), self.change_log.by(initiator)
        project = find_project(self.engine, domain_uuid, project_uuid)
        targets = Targets(project.domain_id, {project.id: project}, is_domain=False)
        ids = self._ids(request)
        if not request.refusals:
            known = {row.resource_id for row in self._present(targets, ids, lock=False)}
            if missing := [ref for ref, id_ in ids.items() if id_ not in known]:
                raise not_ready(self.engine, project.id, missing)
        if condition is not None:
            lock_project(self.engine, project.id, lock=True)
            lock_resources(self.engine, sorted(ids.values()))
            condition.check(project_tag(self.engine, self.catalog, project.id, lock=True))
        refusals = request.refusals or self._refuse_grants(project, request)
        if refusals:
            change_log.record_refused_bounds(scope_of(project), request.what, refusals)
            return QuotaOutcome(refusals)
        self._set(change_log, targets, ids, request)
        return QuotaOutcome(warnings=self._warnings().of_project(targets, ids, self._limits(request)))

    @atomic
    def of_domain(
        self, domain_uuid: str, what: What, bounds: Sequence[WantedBound], initiator: Initiator
    ) -> QuotaOutcome:
        """Sets the same bounds for each project of a domain, or says why not. Raises `NotFound`."""
        request, change_log = self._read(what, bounds), self.change_log.by(initiator)
        domain = find_domain(self.engine, domain_uuid)
        if request.refusals:
            change_log.record_refused_bounds(scope_of(domain), request.what, request.refusals)
            return QuotaOutcome(request.refusals)
        projects = {project.id: project for project in projects_of_domain(self.engine, domain_uuid)}
        targets, ids = Targets(domain.id, projects, is_domain=True), self._ids(request)
        rows = self._set(change_log, targets, ids, request)
        known = Counter(row.resource_id for row in rows)
        return QuotaOutcome(warnings=self._warnings().of_domain(targets, ids, self._limits(request), known))

    # -- the request ---------------------------------------------------------------------------------------------------

    def _read(self, what: What, bounds: Iterable[WantedBound]) -> _Request:
        wanted: dict[Ref, int | None] = {}
        refusals: dict[Ref, Refusal] = {}
        for bound in bounds:
            refusal = without_quota(self.catalog, bound.ref)
            if refusal is None and not self.catalog.autogrow(bound.ref):
                refusal = QUOTA_IS_SET
            if refusal is not None:
                refusals[bound.ref] = refusal
                continue
            try:
                wanted[bound.ref] = self._value(what, bound)
            except UnitError as error:
                refusals[bound.ref] = invalid_value(str(error))
        return _Request(what, wanted, refusals)

    def _value(self, what: What, bound: WantedBound) -> int | None:
        if what is What.FORBID_AUTOGROWTH or bound.value is None:
            return bound.value
        return read_amount(self.catalog, bound.ref, bound.value, bound.unit)

    def _ids(self, request: _Request) -> dict[Ref, int]:
        all_ids = resource_ids(self.engine) if request.wanted else {}
        return {ref: all_ids[ref] for ref in request.wanted}

    def refusals(self, project: ProjectRow, what: What, bounds: Iterable[WantedBound]) -> Mapping[Ref, Refusal]:
        """Returns why these bounds cannot be set, if so. To be called inside a transaction, which locks the
        resources."""
        request = self._read(what, bounds)
        return request.refusals or self._refuse_grants(project, request)

    def _refuse_grants(self, project: ProjectRow, request: _Request) -> dict[Ref, Refusal]:
        """Returns what cannot be granted, because others need the capacity or a constraint says so. Locks the
        resources, so that it stays as it is until the transaction ends."""
        if request.what is not What.MIN_QUOTA:
            return {}
        ids = self._ids(request)
        lock_resources(self.engine, sorted(ids.values()))
        targets = Targets(project.domain_id, {project.id: project}, is_domain=False)
        present = {row.resource_id: row.min_quota or 0 for row in self._present(targets, ids, lock=False)}
        refusals = {}
        for ref, id_ in ids.items():
            wanted, rule = request.wanted[ref], autogrow_rule(self.catalog, ref)
            if wanted is None or wanted <= present.get(id_, 0) or rule is None:
                continue  # which takes nothing from anybody
            constraint = self.constraints.for_project(ref, project.domain_name, project.name)
            if constraint is not None and constraint.maximum is not None and wanted > constraint.maximum:
                text = f"it may not exceed the operator's constraint: {constraint.render(self.change_log.unit_of(ref))}"
                refusals[ref] = Refusal(RefusalKind.CONFLICT, text, rule=Bounding.CONSTRAINT)
                continue
            now = self.clock.now().timestamp()
            computed = compute_quota(self, ref, id_, rule, now)  # type: ignore[arg-type]  # it has what is used of it
            others = [demand for demand in computed.demands.values() if demand.id != project.id]
            largest = largest_minimum(computed.capacity, others)
            if wanted > largest:
                text = "the rest of the capacity is needed by other projects, or was granted to them"
                refusals[ref] = Refusal(
                    RefusalKind.CONFLICT, text, maximum=largest, unit=computed.unit, rule=Bounding.CAPACITY
                )
        return refusals

    # -- the change ----------------------------------------------------------------------------------------------------

    def _present(self, targets: Targets, ids: Mapping[Ref, int], *, lock: bool) -> list[AutogrowBoundsRow]:
        if not ids:
            return []
        rows = autogrow_bounds(self.engine, sorted(ids.values()), targets.domain_id, targets.ids, lock=lock)
        return [row for row in rows if row.project_id in targets.projects]

    def _set(
        self, change_log: ChangeLog, targets: Targets, ids: Mapping[Ref, int], request: _Request
    ) -> list[AutogrowBoundsRow]:
        """Writes and records what differs. Returns the bounds that there were. A request that changes nothing waits for
        nobody."""
        refs = {id_: ref for ref, id_ in ids.items()}

        def differing(rows: Iterable[AutogrowBoundsRow]) -> list[AutogrowBoundsRow]:
            return [row for row in rows if row.value_of(request.what) != request.wanted[refs[row.resource_id]]]

        rows = self._present(targets, ids, lock=False)
        if not differing(rows):
            return rows
        lock_resources(self.engine, sorted(ids.values()))
        rows = self._present(targets, ids, lock=True)
        changed = differing(rows)
        if not changed:
            return rows
        resources = sorted({row.resource_id for row in changed})
        values = [(id_, request.wanted[refs[id_]]) for id_ in resources]
        write_autogrow_bounds(self.engine, sorted({row.project_id for row in changed}), request.what, values)
        mark_due(self.engine, resources, self.clock.now().timestamp())
        detail = "for all projects of the domain" if targets.is_domain else ""
        change_log.record_bounds(
            [
                (scope_of(targets.projects[row.project_id]), self._step(request, refs[row.resource_id], row, detail))
                for row in changed
            ]
        )
        return rows

    def _step(self, request: _Request, ref: Ref, row: AutogrowBoundsRow, detail: str) -> QuotaStep:
        old, new = row.value_of(request.what), request.wanted[ref]
        return QuotaStep(ref, self.change_log.unit_of(ref), old, new, detail=detail, what=request.what)

    def _limits(self, request: _Request) -> dict[Ref, int]:
        """Returns the wanted limits."""
        if request.what is not What.MAX_QUOTA:
            return {}
        return {ref: value for ref, value in request.wanted.items() if value is not None}

    def _warnings(self) -> AutogrowWarnings:
        return AutogrowWarnings(self.engine, self.catalog, self.overrides(), self.clock.now().timestamp())
