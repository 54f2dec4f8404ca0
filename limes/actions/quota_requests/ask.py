"""Asks for more quota of a project or domain.

Invariant: at most one open request of a project asks for a resource, and the same for what a domain asks for itself. To
keep it, a transaction locks the row of the project or domain before it looks for open requests.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from limes.actions.lookup import not_ready
from limes.actions.quota_changes import QuotaChange, QuotaOutcome, read_amount, without_quota
from limes.actions.quota_requests.auto_approve import ApproveByRules
from limes.actions.quota_requests.desk import Desk, Place, Target
from limes.audit.initiator import Initiator
from limes.core.catalog import Ref
from limes.core.hierarchy import DOMAIN_QUOTA_GROWS
from limes.core.history import What
from limes.core.quota_requests import EventKind, Overlap, RequestStatus, names, overlap
from limes.core.temporary_quota import ALWAYS, Term, check_term
from limes.core.units import UnitError
from limes.db.queries import quota_requests as queries
from limes.db.queries.catalog import resource_ids
from limes.db.queries.domain_quotas import domain_quotas_by_name
from limes.db.queries.project_quotas import SetByPeople, project_quotas_by_name
from limes.db.queries.projects import ProjectRow
from limes.db.queries.quota_requests import AmountRow, NewRequest
from limes.db.queries.temporary_quotas import temporary_quotas
from limes.errors import Conflict, Unprocessable

_NOT_FOR_A_TIME = (
    "it follows usage and commitments by itself (quota_distribution_model is autogrow), so it cannot be"
    " granted for a time; ask for it without until"
)


class _Problem(Exception):
    """Why a resource cannot be asked for."""


@dataclass(frozen=True, slots=True)
class AskForQuota:
    desk: Desk

    def run(
        self,
        place: Place,
        changes: Sequence[QuotaChange],
        reason: str,
        initiator: Initiator,
        of_set: Collection[Ref] = (),
        term: Term = ALWAYS,
    ) -> int:
        """Makes a request and returns its number. It replaces open ones whose resources it asks for, too. Rules of the
        configuration may approve it at once. Of the resources `of_set` only those are asked for of which there is less.

        Raises `NotFound`, `Unprocessable` with a line for each resource that cannot be asked for, `NotReady`, and
        `Conflict` with an open request that asks for some of the same resources and for others.
        """
        if not changes:
            raise Unprocessable("the request names no resource")
        if refusal := check_term(term, self.desk.now()):
            raise Unprocessable(refusal.message)

        def work() -> tuple[int, tuple[ProjectRow, QuotaOutcome] | None]:
            target = self.desk.find(place)
            domain_id, project_id = _ids(target)
            self.desk.admit(domain_id, project_id)
            amounts = self._read_amounts(target, changes, of_set, term)
            replaced = self._replaced(domain_id, project_id, [row.ref for row in amounts])
            new = NewRequest(
                domain_id, project_id, RequestStatus.OPEN, reason, self.desk.now(), initiator.id, initiator.name, None,
                term.starts_at, term.until,
            )  # fmt: skip
            id_ = self._store(target, new, amounts, replaced, initiator)
            granted = None
            if isinstance(target, ProjectRow):
                granted = ApproveByRules(self.desk).run(target, id_, amounts, term)
            if granted is None:
                self.desk.announce_opened(id_)
            return id_, granted

        id_, granted = self.desk.engine.atomic(work)
        if granted is not None:
            self.desk.set_project_quota.tell(*granted)
        return id_

    def _store(
        self,
        target: Target,
        new: NewRequest,
        amounts: Sequence[AmountRow],
        replaced: Sequence[int],
        initiator: Initiator,
    ) -> int:
        desk = self.desk
        id_ = queries.insert(desk.engine, new)
        queries.add_amounts(desk.engine, [row._replace(request_id=id_) for row in amounts])
        text = f"replaced by quota request {id_}"
        desk.close(target, replaced, RequestStatus.SUPERSEDED, text, initiator)
        if isinstance(target, ProjectRow):
            desk.close_passed_on(target, replaced, text, initiator)
        wanted = {"/".join(row.ref): row.wanted for row in amounts}
        details = {"from": new.starts_at, "until": new.until}
        given = {name: int(value) for name, value in details.items() if value is not None}
        desk.record(target, [id_], EventKind.OPENED, "", initiator, reason=new.reason, wanted=wanted, **given)
        return id_

    def _replaced(self, domain_id: int, project_id: int | None, refs: Sequence[Ref]) -> list[int]:
        engine, replaced = self.desk.engine, []
        if project_id is None:
            open_ones = queries.lock_open_of_domain(engine, domain_id)
        else:
            open_ones = queries.lock_open_of_project(engine, project_id)
        ids = [row.id for row in open_ones]
        for id_, rows in queries.amounts_of(self.desk.engine, ids).items():
            open_refs = [row.ref for row in rows]
            found = overlap(open_refs, refs)
            if found is Overlap.PARTIAL:
                common, others = set(open_refs) & set(refs), set(open_refs) - set(refs)
                raise Conflict(
                    f"quota request {id_} is open and asks for {names(common)} already, and for {names(others)}:"
                    " withdraw it first, or ask for all of them at once, which replaces it"
                )
            if found is Overlap.REPLACED:
                replaced.append(id_)
        return replaced

    # -- what is asked for ---------------------------------------------------------------------------------------------

    def _read_amounts(
        self, target: Target, changes: Sequence[QuotaChange], of_set: Collection[Ref], term: Term
    ) -> list[AmountRow]:
        desk, is_project = self.desk, isinstance(target, ProjectRow)
        of_project = project_quotas_by_name(desk.engine, target.id, lock=False) if is_project else {}
        of_domain = {} if is_project else domain_quotas_by_name(desk.engine, target.id, lock=False)
        afterwards = self._afterwards(target)
        rows, problems, missing = [], [], []
        for change in changes:
            try:
                wanted = self._amount(change)
                if is_project and change.ref not in of_project:
                    missing.append(change.ref)
                    continue
                what, present = (
                    self._present_of_project(change.ref, of_project)
                    if is_project
                    else self._present_of_domain(change.ref, of_domain)
                )
                if what is not What.QUOTA and term != ALWAYS:
                    raise _Problem(_NOT_FOR_A_TIME)
                present = afterwards.get(change.ref, present)
                if wanted <= present and change.ref in of_set:
                    continue
                self._check_raise(change.ref, wanted, present)
            except _Problem as problem:
                problems.append(f"cannot ask for {'/'.join(change.ref)} quota: {problem}")
                continue
            rows.append(AmountRow(0, *change.ref, what.value, present, wanted, None))
        if problems:
            raise Unprocessable("\n".join(sorted(problems)))
        if missing:
            raise not_ready(desk.engine, target.id, missing)
        if not rows:
            raise Unprocessable("there is at least as much of everything already: there is nothing to ask for")
        return rows

    def _afterwards(self, target: Target) -> dict[Ref, int]:
        """Returns the quotas after those that end by themselves: a request is about these."""
        domain_id, project_id = _ids(target)
        found = temporary_quotas(self.desk.engine, domain_id, project_id)
        refs = {id_: ref for ref, id_ in resource_ids(self.desk.engine).items()} if found else {}
        return {refs[id_]: row.before for id_, row in found.items() if row.before is not None}

    def _amount(self, change: QuotaChange) -> int:
        if refusal := without_quota(self.desk.catalog, change.ref):
            raise _Problem(refusal.message)
        try:
            return read_amount(self.desk.catalog, change.ref, change.amount, change.unit)
        except UnitError as error:
            raise _Problem(str(error)) from None

    def _present_of_project(self, ref: Ref, rows: Mapping[Ref, SetByPeople]) -> tuple[What, int]:
        if not self.desk.catalog.autogrow(ref):
            return What.QUOTA, rows[ref].quota or 0
        maximum = rows[ref].max_quota
        return (What.MIN_QUOTA, rows[ref].quota or 0) if maximum is None else (What.MAX_QUOTA, maximum)

    def _present_of_domain(self, ref: Ref, quotas: Mapping[Ref, int]) -> tuple[What, int]:
        if self.desk.catalog.autogrow(ref):
            raise _Problem(DOMAIN_QUOTA_GROWS.message)
        return What.QUOTA, quotas.get(ref, 0)

    def _check_raise(self, ref: Ref, wanted: int, present: int) -> None:
        if wanted <= present:
            unit = self.desk.change_log.unit_of(ref)
            raise _Problem(
                f"{unit.render(wanted)} is not more than it has now, which is {unit.render(present)};"
                " lowering needs no request: set the quota"
            )


def _ids(target: Target) -> tuple[int, int | None]:
    return (target.domain_id, target.id) if isinstance(target, ProjectRow) else (target.id, None)
