"""Sets what a request is granted, with the use cases that PUT has."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from limes.actions.change_log import ChangeLog
from limes.actions.quota_changes import PermissionSource, QuotaChange, QuotaOutcome
from limes.actions.quota_requests.desk import Desk
from limes.actions.set_autogrow_bounds import WantedBound
from limes.audit.initiator import Initiator
from limes.core.catalog import Ref
from limes.core.hierarchy import Bounding, Refusal, RefusalKind
from limes.core.history import What
from limes.core.temporary_quota import ALWAYS, Term
from limes.db.queries.autogrow_quotas import autogrow_bounds
from limes.db.queries.capacity import lock_resources
from limes.db.queries.catalog import resource_ids
from limes.db.queries.domain_quotas import lock_domain_quotas
from limes.db.queries.projects import DomainRow, ProjectRow
from limes.db.queries.quota_requests import AmountRow

_BOUNDS = (What.MAX_QUOTA, What.MIN_QUOTA)
"""What is set where quota grows by itself."""


@dataclass(frozen=True, slots=True)
class Rights:
    """What whoever decides may do, in the terms of PUT."""

    quota: PermissionSource
    bounds: Collection[What] = _BOUNDS
    """Which of these they may set."""


@dataclass(frozen=True, slots=True)
class GrantQuota:
    """Its methods are to be called inside a transaction in which the request is locked."""

    desk: Desk
    term: Term = ALWAYS
    """For how long quota is granted."""

    def to_domain(
        self, domain: DomainRow, request_id: int, granted: Mapping[Ref, int], rights: Rights, initiator: Initiator
    ) -> QuotaOutcome:
        """Raises quotas of a domain, or says why not."""
        use_case = replace(self.desk.set_domain_quota, change_log=self._log(request_id))
        request = replace(use_case.read(self._changes(granted), rights.quota), only_raises=True)
        return use_case.apply(domain.uuid, request, initiator)

    def to_project(
        self,
        project: ProjectRow,
        request_id: int,
        rows: Sequence[AmountRow],
        granted: Mapping[Ref, int],
        rights: Rights,
        initiator: Initiator,
    ) -> QuotaOutcome:
        """Raises quotas of a project, and limits of quota that grows by itself, or says why not."""
        bounds = {row.ref: What(row.what) for row in rows if What(row.what) in _BOUNDS}
        if forbidden := {ref: _forbid(what) for ref, what in bounds.items() if what not in rights.bounds}:
            return QuotaOutcome(forbidden)
        grants = replace(self.desk.set_autogrow_bounds, change_log=self._log(request_id))
        quotas = {ref: amount for ref, amount in granted.items() if ref not in bounds}
        wanted = self._wanted_bounds(project, bounds, granted, quotas)
        for what, each in wanted.items():
            if refusals := grants.refusals(project, what, each):
                return QuotaOutcome(refusals)
        use_case = replace(self.desk.set_project_quota, change_log=self._log(request_id))
        request = replace(use_case.read(self._changes(quotas), rights.quota), only_raises=True)
        _, outcome = use_case.apply(project.domain_uuid, project.uuid, request, initiator)
        if not outcome.refusals:
            for what, each in wanted.items():
                grants.of_project(project.domain_uuid, project.uuid, what, each, initiator)
        return outcome

    def _wanted_bounds(
        self, project: ProjectRow, bounds: Mapping[Ref, What], granted: Mapping[Ref, int], quotas: Collection[Ref]
    ) -> dict[What, list[WantedBound]]:
        """Locks and returns the bounds to raise, without limits that were raised or lifted meanwhile, and without
        grants that are as large already. The domain's rows of `quotas` are locked before, in the order of all."""
        if not bounds:
            return {}
        engine, all_ids = self.desk.engine, resource_ids(self.desk.engine)
        ids = {ref: all_ids[ref] for ref in bounds}
        lock_resources(engine, sorted(ids.values()))
        if quotas:
            lock_domain_quotas(engine, project.domain_id, sorted(all_ids[ref] for ref in quotas))
        rows = autogrow_bounds(engine, sorted(ids.values()), project.domain_id, [project.id], lock=True)
        present = {row.resource_id: row for row in rows}
        wanted: dict[What, list[WantedBound]] = {}
        for ref, what in bounds.items():
            row = present.get(ids[ref])
            bound = None if row is None else row.value_of(what)
            if bound is None and what is What.MIN_QUOTA:
                bound = 0
            if bound is not None and bound < granted[ref]:
                wanted.setdefault(what, []).append(WantedBound(ref, granted[ref]))
        return wanted

    def _changes(self, quotas: Mapping[Ref, int]) -> list[QuotaChange]:
        return [QuotaChange(ref, amount, term=self.term) for ref, amount in quotas.items()]

    def _log(self, request_id: int) -> ChangeLog:
        return self.desk.change_log.because(f"quota request {request_id}")


def _forbid(what: What) -> Refusal:
    text = f"user is not allowed to raise {what.value} in this project"
    return Refusal(RefusalKind.FORBIDDEN, text, rule=Bounding.PERMISSION)
