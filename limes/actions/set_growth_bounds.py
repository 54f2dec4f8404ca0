"""Sets how far quota may grow by itself: of one project, or of all projects that a domain has now.

Invariants: all that a request asks for is written and recorded, or nothing; and what it has changed is computed anew
afterwards, as the resources are marked as due in the same transaction. Locks are taken in the order of a computation:
resources, then rows of projects.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from limes.actions.change_log import ChangeLog, scope_of
from limes.actions.lookup import find_domain, find_project, not_ready
from limes.actions.quota_changes import QuotaOutcome, Unchanged, project_tag, read_amount, without_quota
from limes.audit.initiator import Initiator
from limes.core.catalog import Catalog, Ref
from limes.core.commitments.commitment import Status
from limes.core.demand import demand_by_az
from limes.core.hierarchy import QUOTA_IS_SET, Refusal, invalid_value
from limes.core.history import QuotaStep, What
from limes.core.units import UnitError
from limes.db.engine import Engine
from limes.db.queries.autogrow import mark_due
from limes.db.queries.capacity import lock_resources
from limes.db.queries.catalog import resource_ids
from limes.db.queries.growth_bounds import GrowthBoundsRow, growth_bounds, write_growth_bounds
from limes.db.queries.project_figures import project_azs
from limes.db.queries.project_sums import Among, committed_sums
from limes.db.queries.projects import ProjectRow, projects_of_domain
from limes.system import Clock


@dataclass(frozen=True, slots=True)
class WantedBound:
    """A wanted bound: an amount or None for `What.MAX_QUOTA`, 1 or 0 for `What.FORBID_AUTOGROWTH`."""

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
class _Targets:
    """Whose bounds are to be set."""

    domain_id: int
    projects: Mapping[int, ProjectRow]
    """By id."""
    is_domain: bool

    @property
    def ids(self) -> list[int] | None:
        """The ids of the projects; None for all of the domain."""
        return None if self.is_domain else list(self.projects)


@dataclass(frozen=True, slots=True)
class SetGrowthBounds:
    """The use cases with their collaborators."""

    engine: Engine
    catalog: Catalog
    clock: Clock
    change_log: ChangeLog

    def of_project(
        self,
        domain_uuid: str,
        project_uuid: str,
        what: What,
        bounds: Iterable[WantedBound],
        initiator: Initiator,
        condition: Unchanged | None = None,
    ) -> QuotaOutcome:
        """Sets bounds of a project, or says why not.

        Raises `NotFound`, `NotReady` for what was not scraped yet, and `PreconditionFailed`.
        """
        request, change_log = self._read(what, bounds), self.change_log.by(initiator)

        def work() -> QuotaOutcome:
            project = find_project(self.engine, domain_uuid, project_uuid)
            targets = _Targets(project.domain_id, {project.id: project}, is_domain=False)
            ids = self._ids(request)
            if not request.refusals:
                known = {row.resource_id for row in self._present(targets, ids, lock=False)}
                if missing := [ref for ref, id_ in ids.items() if id_ not in known]:
                    raise not_ready(self.engine, project.id, missing)
            if condition is not None:
                lock_resources(self.engine, sorted(ids.values()))
                condition.check(project_tag(self.engine, self.catalog, project.id, lock=True))
            if request.refusals:
                change_log.record_refused_bounds(scope_of(project), request.what, request.refusals)
                return QuotaOutcome(request.refusals)
            self._set(change_log, targets, ids, request)
            return QuotaOutcome(warnings=self._warnings_of_project(targets, ids, request))

        return self.engine.atomic(work)

    def of_domain(
        self, domain_uuid: str, what: What, bounds: Iterable[WantedBound], initiator: Initiator
    ) -> QuotaOutcome:
        """Sets the same bounds for each project of a domain, or says why not. Raises `NotFound`."""
        request, change_log = self._read(what, bounds), self.change_log.by(initiator)

        def work() -> QuotaOutcome:
            domain = find_domain(self.engine, domain_uuid)
            if request.refusals:
                change_log.record_refused_bounds(scope_of(domain), request.what, request.refusals)
                return QuotaOutcome(request.refusals)
            projects = {project.id: project for project in projects_of_domain(self.engine, domain_uuid)}
            targets, ids = _Targets(domain.id, projects, is_domain=True), self._ids(request)
            rows = self._set(change_log, targets, ids, request)
            return QuotaOutcome(warnings=self._warnings_of_domain(targets, ids, request, rows))

        return self.engine.atomic(work)

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
        if what is not What.MAX_QUOTA or bound.value is None:
            return bound.value
        return read_amount(self.catalog, bound.ref, bound.value, bound.unit)

    def _ids(self, request: _Request) -> dict[Ref, int]:
        all_ids = resource_ids(self.engine) if request.wanted else {}
        return {ref: all_ids[ref] for ref in request.wanted}

    # -- the change ----------------------------------------------------------------------------------------------------

    def _present(self, targets: _Targets, ids: Mapping[Ref, int], *, lock: bool) -> list[GrowthBoundsRow]:
        if not ids:
            return []
        rows = growth_bounds(self.engine, sorted(ids.values()), targets.domain_id, targets.ids, lock=lock)
        return [row for row in rows if row.project_id in targets.projects]

    def _set(
        self, change_log: ChangeLog, targets: _Targets, ids: Mapping[Ref, int], request: _Request
    ) -> list[GrowthBoundsRow]:
        """Writes and records what differs. Returns the bounds that there were. A request that changes nothing waits for
        nobody."""
        refs = {id_: ref for ref, id_ in ids.items()}

        def differing(rows: Iterable[GrowthBoundsRow]) -> list[GrowthBoundsRow]:
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
        write_growth_bounds(self.engine, sorted({row.project_id for row in changed}), request.what, values)
        mark_due(self.engine, resources, self.clock.now().timestamp())
        detail = "for all projects of the domain" if targets.is_domain else ""
        change_log.record_bounds(
            [
                (scope_of(targets.projects[row.project_id]), self._step(request, refs[row.resource_id], row, detail))
                for row in changed
            ]
        )
        return rows

    def _step(self, request: _Request, ref: Ref, row: GrowthBoundsRow, detail: str) -> QuotaStep:
        old, new = row.value_of(request.what), request.wanted[ref]
        return QuotaStep(ref, self.change_log.unit_of(ref), old, new, detail=detail, what=request.what)

    # -- warnings ------------------------------------------------------------------------------------------------------

    def _limits(self, ids: Mapping[Ref, int], request: _Request) -> dict[int, tuple[Ref, int]]:
        """Returns the wanted limits, by resource id."""
        if request.what is not What.MAX_QUOTA:
            return {}
        return {ids[ref]: (ref, value) for ref, value in request.wanted.items() if value is not None}

    def _warnings_of_project(self, targets: _Targets, ids: Mapping[Ref, int], request: _Request) -> list[str]:
        limits = self._limits(ids, request)
        needed = self._needed(targets, ids, sorted(limits))
        return [
            f"{ref[0]}/{ref[1]}: usage and commitments need {unit.render(amount)};"
            f" the limit of {unit.render(limits[id_][1])} takes effect when they need no more than that"
            for (_, id_), amount in sorted(needed.items())
            if amount > limits[id_][1]
            for ref, unit in [(limits[id_][0], self.change_log.unit_of(limits[id_][0]))]
        ]

    def _warnings_of_domain(
        self, targets: _Targets, ids: Mapping[Ref, int], request: _Request, rows: Sequence[GrowthBoundsRow]
    ) -> list[str]:
        texts = []
        limits = self._limits(ids, request)
        beyond: dict[int, int] = defaultdict(int)
        for (_, id_), amount in self._needed(targets, ids, sorted(limits)).items():
            beyond[id_] += amount > limits[id_][1]
        reached: dict[int, int] = defaultdict(int)
        for row in rows:
            reached[row.resource_id] += 1
        for ref, id_ in ids.items():
            name = "/".join(ref)
            if missing := len(targets.projects) - reached[id_]:
                texts.append(f"{name}: nothing is set for {_count(missing)} whose usage is not known yet")
            if beyond[id_]:
                limit = self.change_log.unit_of(ref).render(limits[id_][1])
                texts.append(
                    f"{name}: usage and commitments need more than {limit} in {_count(beyond[id_])};"
                    " there the limit takes effect when they need no more than that"
                )
        return texts

    def _needed(
        self, targets: _Targets, ids: Mapping[Ref, int], resources: Sequence[int]
    ) -> dict[tuple[int, int], int]:
        """Returns what usage and confirmed commitments need, by project and resource id, in two queries."""
        if not resources:
            return {}
        usage: dict[tuple[int, int], dict[str, int]] = defaultdict(dict)
        for row in project_azs(self.engine, resources, targets.domain_id, targets.ids):
            usage[row.project_id, row.resource_id][row.az] = row.usage
        committed: dict[tuple[int, int], dict[str, int]] = defaultdict(lambda: defaultdict(int))
        among = Among("domain", [targets.domain_id]) if targets.ids is None else Among("project", targets.ids)
        for sums in committed_sums(self.engine, resources, self.clock.now().timestamp(), "project", among):
            if sums.status == Status.CONFIRMED:
                committed[sums.key, sums.resource_id][sums.az] += int(sums.amount)
        pooled = {id_ for ref, id_ in ids.items() if not self.catalog.behavior(ref).commitment_is_az_aware}
        return {
            key: sum(
                demand.needed
                for demand in demand_by_az(
                    usage.get(key, {}), {}, committed.get(key, {}), is_pooled=key[1] in pooled
                ).values()
            )
            for key in usage.keys() | committed.keys()
        }


def _count(projects: int) -> str:
    return "1 project" if projects == 1 else f"{projects} projects"
