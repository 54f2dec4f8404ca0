"""Sets what a request is granted, with the use cases that PUT has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from limes.actions.change_log import ChangeLog
from limes.actions.quota_changes import PermissionSource, QuotaChange, QuotaOutcome
from limes.actions.quota_requests.desk import Desk
from limes.actions.set_growth_bounds import WantedBound
from limes.audit.initiator import Initiator
from limes.core.catalog import Ref
from limes.core.hierarchy import Bounding, Refusal, RefusalKind
from limes.core.history import What
from limes.db.queries.capacity import lock_resources
from limes.db.queries.catalog import resource_ids
from limes.db.queries.domains import DomainRow
from limes.db.queries.growth_bounds import growth_bounds
from limes.db.queries.projects import ProjectRow
from limes.db.queries.quota_requests import AmountRow

_MAY_NOT_BOUND = Refusal(
    RefusalKind.FORBIDDEN, "user is not allowed to raise max_quota in this project", rule=Bounding.PERMISSION
)


@dataclass(frozen=True, slots=True)
class Rights:
    """What whoever decides may do, in the terms of PUT."""

    quota: PermissionSource
    bounds: bool = True
    """Whether they may set `max_quota`."""


@dataclass(frozen=True, slots=True)
class GrantQuota:
    """Its methods are to be called inside a transaction in which the request is locked."""

    desk: Desk

    def to_domain(
        self, domain: DomainRow, request_id: int, granted: Mapping[Ref, int], rights: Rights, initiator: Initiator
    ) -> QuotaOutcome:
        """Raises quotas of a domain, or says why not."""
        use_case = replace(self.desk.set_domain_quota, change_log=self._log(request_id))
        request = replace(use_case.read(_changes(granted), rights.quota), only_raises=True)
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
        bounds = {row.ref: granted[row.ref] for row in rows if row.what == What.MAX_QUOTA.value}
        if bounds and not rights.bounds:
            return QuotaOutcome(dict.fromkeys(bounds, _MAY_NOT_BOUND))
        ids = self._lock(bounds)
        use_case = replace(self.desk.set_project_quota, change_log=self._log(request_id))
        quotas = {ref: amount for ref, amount in granted.items() if ref not in bounds}
        request = replace(use_case.read(_changes(quotas), rights.quota), only_raises=True)
        _, outcome = use_case.apply(project.domain_uuid, project.uuid, request, initiator)
        if outcome.refusals or not bounds:
            return outcome
        refused = self._raise_bounds(project, request_id, bounds, ids, initiator).refusals
        return replace(outcome, refusals=refused) if refused else outcome

    def _lock(self, bounds: Mapping[Ref, int]) -> dict[Ref, int]:
        all_ids = resource_ids(self.desk.engine) if bounds else {}
        ids = {ref: all_ids[ref] for ref in bounds}
        if ids:
            lock_resources(self.desk.engine, sorted(ids.values()))
        return ids

    def _raise_bounds(
        self,
        project: ProjectRow,
        request_id: int,
        bounds: Mapping[Ref, int],
        ids: Mapping[Ref, int],
        initiator: Initiator,
    ) -> QuotaOutcome:
        """Raises limits, without those that were raised or lifted meanwhile."""
        engine = self.desk.engine
        rows = growth_bounds(engine, sorted(ids.values()), project.domain_id, [project.id], lock=True)
        present = {row.resource_id: row.max_quota for row in rows}
        wanted = []
        for ref, amount in bounds.items():
            maximum = present.get(ids[ref])
            if maximum is not None and maximum < amount:
                wanted.append(WantedBound(ref, amount))
        use_case = replace(self.desk.set_growth_bounds, change_log=self._log(request_id))
        return use_case.of_project(project.domain_uuid, project.uuid, What.MAX_QUOTA, wanted, initiator)

    def _log(self, request_id: int) -> ChangeLog:
        return self.desk.change_log.because(f"quota request {request_id}")


def _changes(quotas: Mapping[Ref, int]) -> list[QuotaChange]:
    return [QuotaChange(ref, amount) for ref, amount in quotas.items()]
