"""Approves the project's request that a domain's request was made for, once the domain has got its quota.

Only quota is granted with it. Who decides on the domain's request does not see what the project's asks for of quota
that grows by itself, and may have no right to grant it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from limes.actions.quota_changes import EVERYTHING, QuotaOutcome
from limes.actions.quota_requests.desk import Desk
from limes.actions.quota_requests.grant import GrantQuota, Rights
from limes.actions.quota_requests.pass_on import read_hierarchy
from limes.audit.initiator import Initiator
from limes.core.catalog import Ref
from limes.core.history import What
from limes.core.quota_requests import EventKind, names, status_after
from limes.db.queries import quota_requests as queries
from limes.db.queries.capacity import lock_resources
from limes.db.queries.catalog import resource_ids
from limes.db.queries.domain_quotas import lock_domain_quotas
from limes.db.queries.projects import DomainRow, ProjectRow
from limes.db.queries.quota_requests import AmountRow, LockedRequest


@dataclass(slots=True)
class ReleaseRequest:
    """One release, inside the transaction that decides on the request of the domain. Both requests are locked."""

    desk: Desk
    domain: DomainRow
    origin: LockedRequest
    """The project's request. It is open."""
    asked_for: Mapping[Ref, int]
    """What the domain's request asks for."""
    _project: ProjectRow = field(init=False)
    _rows: list[AmountRow] = field(init=False)
    _ids: dict[Ref, int] = field(init=False)

    def __post_init__(self) -> None:
        self._project = self.desk.project_of(self.origin)
        self._rows = queries.amounts_of(self.desk.engine, [self.origin.id])[self.origin.id]
        all_ids = resource_ids(self.desk.engine)
        self._ids = {row.ref: all_ids[row.ref] for row in self._rows if row.what == What.QUOTA.value}

    def needed_now(self) -> dict[Ref, int]:
        """Locks the quotas, and returns the domain quotas that the project's request needs by now.

        Others may have got some of the quota since it was passed on, or may have given some back.
        """
        engine = self.desk.engine
        lock_resources(engine, sorted(self._ids[ref] for ref in self.asked_for))
        lock_domain_quotas(engine, self.domain.id, sorted(self._ids.values()))
        around = read_hierarchy(engine, self._project, self._ids)
        wanted = {row.ref: row.wanted for row in self._rows}
        return {ref: around.others[ref] + wanted[ref] for ref in self.asked_for}

    def run(self, above: int, comment: str, initiator: Initiator) -> tuple[ProjectRow, QuotaOutcome] | None:
        """Approves as much of the project's request as fits by now, and returns what was changed.

        If nothing of it fits, it stays open, and its conversation says why.
        """
        wanted = {row.ref: row.wanted for row in self._rows}
        around = read_hierarchy(self.desk.engine, self._project, self._ids)
        fitting = {ref: max(0, around.domain[ref] - around.others[ref]) for ref in self._ids}
        granted = {row.ref: min(row.wanted, fitting.get(row.ref, row.present)) for row in self._rows}
        if all(granted[row.ref] <= row.present for row in self._rows):
            self._give_back(above, "the domain's quota is still not enough", initiator)
            return None
        grant, rights = GrantQuota(self.desk, self.origin.term_at(self.desk.now())), Rights(lambda _: EVERYTHING)
        quotas = {ref: granted[ref] for ref in self._ids}
        outcome = grant.to_project(self._project, self.origin.id, (), quotas, rights, initiator)
        if outcome.refusals:
            reasons = "; ".join(f"{'/'.join(ref)}: {each.message}" for ref, each in sorted(outcome.refusals.items()))
            self._give_back(above, reasons, initiator)
            return None
        queries.write_granted(self.desk.engine, self.origin.id, granted)
        named = {"/".join(ref): amount for ref, amount in granted.items()}
        text = f"quota request {above} was approved" + (f": {comment}" if comment else "")
        if rest := names(set(granted) - set(quotas)):
            text += f"; {rest} grows by itself and was not granted with it: ask for it by itself"
        status = status_after(wanted, granted)
        self.desk.close(self._project, [self.origin.id], status, text, initiator, granted=named)
        return self._project, outcome

    def _give_back(self, above: int, reason: str, initiator: Initiator) -> None:
        text = f"quota request {above} was approved, but {reason}"
        self.desk.record(self._project, [self.origin.id], EventKind.RETURNED, text, initiator)
