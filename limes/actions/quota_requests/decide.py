"""Decides on requests.

Invariant: an approval sets the quotas and closes the request in one transaction, by the same code as PUT; if a quota is
refused, the request stays as it is. Quotas that have become higher meanwhile stay: an approval never lowers anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limes.actions.quota_changes import QuotaChange, QuotaOutcome, read_amount
from limes.actions.quota_requests.desk import Desk, Locked, Place
from limes.actions.quota_requests.grant import GrantQuota, Rights
from limes.actions.quota_requests.release import ReleaseRequest
from limes.audit.initiator import Initiator
from limes.core.catalog import Ref
from limes.core.quota_requests import EventKind, RequestStatus, names, status_after
from limes.core.units import UnitError
from limes.db.queries import quota_requests as queries
from limes.db.queries.projects import DomainRow, ProjectRow
from limes.db.queries.quota_requests import AmountRow
from limes.errors import Unprocessable

_Granted = tuple[ProjectRow, QuotaOutcome] | None
"""The project whose backends are to be told, and what was changed."""
_WORDS = {
    RequestStatus.REJECTED: "was rejected",
    RequestStatus.WITHDRAWN: "was withdrawn",
    RequestStatus.EXPIRED: "has expired",
}


@dataclass(frozen=True, slots=True)
class DecideOnRequest:
    """The use cases. They raise `NotFound`, and `Conflict` if the request is not open any more."""

    desk: Desk

    def approve(
        self,
        place: Place,
        request_id: int,
        lowered: Sequence[QuotaChange],
        comment: str,
        rights: Rights,
        initiator: Initiator,
    ) -> QuotaOutcome:
        """Sets what was asked for, with the amounts in `lowered` instead. Or says why not, and what would work.

        Raises `Unprocessable` for amounts that were not asked for.
        """

        def work() -> tuple[QuotaOutcome, _Granted]:
            locked = self.desk.lock(place, request_id)
            rows = queries.amounts_of(self.desk.engine, [request_id])[request_id]
            amounts = self._read_lowered(rows, lowered)
            if isinstance(locked.target, ProjectRow):
                return self._approve_project(locked, rows, amounts, comment, rights, initiator)
            return self._approve_domain(locked, rows, amounts, comment, rights, initiator)

        outcome, granted = self.desk.engine.atomic(work)
        if granted is None:
            return outcome
        told = self.desk.set_project_quota.tell(*granted)
        return QuotaOutcome(outcome.refusals, outcome.changed, told.backend_errors, warnings=outcome.warnings)

    def reject(self, place: Place, request_id: int, reason: str, initiator: Initiator) -> None:
        """Refuses the request. What was passed on goes back to those who did."""
        self._close(place, request_id, RequestStatus.REJECTED, reason, initiator)

    def withdraw(self, place: Place, request_id: int, comment: str, initiator: Initiator) -> None:
        """Takes the request back."""
        self._close(place, request_id, RequestStatus.WITHDRAWN, comment, initiator)

    def _close(self, place: Place, request_id: int, status: RequestStatus, text: str, initiator: Initiator) -> None:
        self.desk.engine.atomic(lambda: self.close(self.desk.lock(place, request_id), status, text, initiator))

    def close(self, locked: Locked, status: RequestStatus, text: str, initiator: Initiator) -> None:
        """Closes a request without giving anything, inside the transaction in which it was locked.

        What it was passed on as is closed, too; the project's request that it was passed on from learns of it.
        """
        id_ = locked.request.id
        self.desk.close(locked.target, [id_], status, text, initiator)
        said = f"quota request {id_} {_WORDS[status]}"
        if isinstance(locked.target, ProjectRow):
            self.desk.close_passed_on(locked.target, [id_], said, initiator)
        elif locked.origin is not None and locked.origin.status == RequestStatus.OPEN.value:
            note = f"{said}: {text}" if text else said
            self.desk.record(
                self.desk.project_of(locked.origin), [locked.origin.id], EventKind.RETURNED, note, initiator
            )

    # -- approval ------------------------------------------------------------------------------------------------------

    def _approve_project(
        self,
        locked: Locked,
        rows: Sequence[AmountRow],
        lowered: Mapping[Ref, int],
        comment: str,
        rights: Rights,
        initiator: Initiator,
    ) -> tuple[QuotaOutcome, _Granted]:
        project, id_ = locked.target, locked.request.id
        assert isinstance(project, ProjectRow)
        wanted = {row.ref: row.wanted for row in rows}
        granted = {**wanted, **lowered}
        grant = GrantQuota(self.desk, locked.request.term_at(self.desk.now()))
        outcome = grant.to_project(project, id_, rows, granted, rights, initiator)
        if outcome.refusals:
            return outcome, None
        self._close_approved(locked, wanted, granted, comment, initiator)
        self.desk.close_passed_on(project, [id_], f"quota request {id_} was decided in the domain", initiator)
        return outcome, (project, outcome)

    def _approve_domain(
        self,
        locked: Locked,
        rows: Sequence[AmountRow],
        lowered: Mapping[Ref, int],
        comment: str,
        rights: Rights,
        initiator: Initiator,
    ) -> tuple[QuotaOutcome, _Granted]:
        domain, id_, origin = locked.target, locked.request.id, locked.origin
        assert isinstance(domain, DomainRow)
        wanted = {row.ref: row.wanted for row in rows}
        release = None
        if origin is not None and origin.status == RequestStatus.OPEN.value:
            release = ReleaseRequest(self.desk, domain, origin, wanted)
            wanted = release.needed_now()
        granted = {**wanted, **lowered}
        grant = GrantQuota(self.desk, locked.request.term_at(self.desk.now()))
        outcome = grant.to_domain(domain, id_, granted, rights, initiator)
        if outcome.refusals:
            return outcome, None
        self._close_approved(locked, wanted, granted, comment, initiator)
        return outcome, release.run(id_, comment, initiator) if release else None

    def _close_approved(
        self,
        locked: Locked,
        wanted: Mapping[Ref, int],
        granted: Mapping[Ref, int],
        comment: str,
        initiator: Initiator,
    ) -> None:
        queries.write_granted(self.desk.engine, locked.request.id, granted)
        named = {"/".join(ref): amount for ref, amount in granted.items()}
        status = status_after(wanted, granted)
        self.desk.close(locked.target, [locked.request.id], status, comment, initiator, granted=named)

    def _read_lowered(self, rows: Sequence[AmountRow], lowered: Sequence[QuotaChange]) -> dict[Ref, int]:
        """Returns the amounts that are to be granted instead of those that were asked for."""
        asked = {row.ref: row for row in rows}
        amounts: dict[Ref, int] = {}
        problems = []
        for change in lowered:
            row, name = asked.get(change.ref), "/".join(change.ref)
            if row is None:
                problems.append(f"cannot grant {name} quota: the request asks for {names(asked)} only")
                continue
            try:
                amount = read_amount(self.desk.catalog, change.ref, change.amount, change.unit)
            except UnitError as error:
                problems.append(f"cannot grant {name} quota: {error}")
                continue
            if amount > row.wanted:
                unit = self.desk.change_log.unit_of(change.ref)
                problems.append(
                    f"cannot grant {name} quota: {unit.render(amount)} is more than was asked for, which is"
                    f" {unit.render(row.wanted)}"
                )
            amounts[change.ref] = amount
        if not problems and all(amounts.get(row.ref, row.wanted) <= row.present for row in rows):
            problems.append("nothing would be granted: to refuse a request, reject it with a reason")
        if problems:
            raise Unprocessable("\n".join(sorted(problems)))
        return amounts
