"""Creating and deleting commitments. `preview` says in advance what creating one would do."""

from dataclasses import dataclass

import orjson

from limes.actions.commitments.ledger import Change, Described, Ledger, LedgerUser
from limes.actions.commitments.preview import PreviewCommitment, add_warnings, committable_resource_id, no_capacity
from limes.actions.lookup import find_project
from limes.audit.initiator import Initiator
from limes.core.catalog import Behavior
from limes.core.commitments.commitment import Commitment, Status
from limes.core.commitments.document import Commitment as CommitmentDocument
from limes.core.commitments.duration import canonical_duration
from limes.core.commitments.plan import advise
from limes.core.commitments.request import (
    CommitmentRequest,
    check_request,
    check_times,
    expiry,
)
from limes.db.queries import commitments as queries
from limes.db.queries.projects import ProjectRow
from limes.db.transactions import atomic
from limes.errors import Conflict, Forbidden, Unprocessable
from limes.validation.shape import stored


class _NoCapacity(Conflict):
    """There is no capacity to confirm it at once."""


@dataclass(frozen=True, slots=True)
class Created:
    """The document of a new commitment, and what the caller should know."""

    document: CommitmentDocument
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CreateCommitment:
    ledger: Ledger

    def run(
        self,
        domain_uuid: str,
        project_uuid: str,
        request: CommitmentRequest,
        initiator: Initiator,
        key: str | None = None,
    ) -> Created:
        """Creates the commitment.

        An idempotency key that was used for the same request answers the same commitment again. Raises `NotFound`,
        `NotReady`, `Unprocessable`, `DurationError`, and `Conflict` if there is no capacity to confirm it at once.
        """
        ledger = self.ledger

        def work() -> Created:
            project = find_project(ledger.engine, domain_uuid, project_uuid)
            if key is not None and (earlier := self._find_earlier_answer(project, key, request)):
                return earlier
            made = add_warnings(
                ledger, self._create(project, request, check_request(request, ledger.catalog), initiator)
            )
            shown = CommitmentDocument.of(made.commitment, made.ref, made.unit)
            if key is not None:
                queries.remember_key(ledger.engine, project.id, key, request.canonical(), shown.as_json(), ledger.now())
            return Created(shown, made.warnings)

        try:
            return ledger.engine.atomic(work)
        except _NoCapacity as refusal:
            # after the locks are gone: the future may take a while to find out
            plan = PreviewCommitment(ledger).plan(domain_uuid, project_uuid, request)
            raise Conflict(f"{refusal}; {advise(plan, ledger.unit_of(request.ref))}") from refusal

    def _find_earlier_answer(self, project: ProjectRow, key: str, request: CommitmentRequest) -> Created | None:
        earlier = queries.claim_key(self.ledger.engine, project.id, key, self.ledger.now())
        if earlier is None:
            return None
        if earlier.request != request.canonical():
            raise Unprocessable("this Idempotency-Key was already used in this project, for another request")
        shown = stored(earlier.document)
        commitment = queries.find(self.ledger.engine, orjson.loads(earlier.document)["id"])
        resource = self.ledger.catalog.find(request.ref)
        is_gone = commitment is None or not commitment.is_live or commitment.project_id != project.id
        if commitment is None or resource is None or is_gone:
            return Created(shown, ())
        made = add_warnings(self.ledger, Described(commitment, request.ref, resource.unit))
        return Created(shown, made.warnings)

    def _create(
        self, project: ProjectRow, request: CommitmentRequest, behavior: Behavior, initiator: Initiator
    ) -> Described:
        ledger, now = self.ledger.by(initiator), self.ledger.now()
        check_times(request, behavior, now)
        resource_id = committable_resource_id(ledger, project, request)
        changes = ledger.lock([resource_id], now)  # those that wait for capacity come first
        if request.confirm_by is None:
            tally = ledger.tally(request.ref, resource_id, {request.az}, {project.id}, now)
            if not tally.allows(request.az, project.id, request.amount):
                raise _NoCapacity(no_capacity(tally.claims, request.az, ledger.unit_of(request.ref)))
        commitment = ledger.store(
            Commitment(
                id=0,
                uuid=ledger.ids.uuid(),
                project_id=project.id,
                resource_id=resource_id,
                az=request.az,
                amount=request.amount,
                duration=canonical_duration(request.duration),
                status=Status.CONFIRMED if request.confirm_by is None else Status.PLANNED,
                created_at=now,
                creator_uuid=initiator.id,
                creator_name=f"{initiator.name}@{initiator.user_domain}",
                confirm_by=None if request.confirm_by is None else float(request.confirm_by),
                confirmed_at=now if request.confirm_by is None else None,
                expires_at=expiry(request, now),
                auto_renews=request.auto_renews,
            )
        )
        ledger.record([*changes, Change("created", commitment)], now)
        return Described(commitment, request.ref, ledger.unit_of(request.ref))


@dataclass(frozen=True, slots=True)
class DeleteCommitment(LedgerUser):
    """The use case. A project may take back a commitment, even a confirmed one, for `grace` seconds."""

    grace: float = 0.0

    @atomic
    def run(self, domain_uuid: str, project_uuid: str, id_: int, initiator: Initiator, *, as_admin: bool) -> None:
        """Deletes the commitment. Raises `NotFound` and `Forbidden`.

        With `as_admin`, unconfirmed ones can be deleted at any time.
        """
        ledger = self.ledger.by(initiator)
        now = ledger.now()
        project = find_project(ledger.engine, domain_uuid, project_uuid)
        commitment, changes = ledger.lock_commitment(project.id, id_, now)
        if not self._is_fresh(commitment, now):
            if commitment.is_confirmed:
                raise Forbidden("only unconfirmed commitments can be deleted, and this one is confirmed")
            if not as_admin:
                raise Forbidden(f"commitments can only be taken back for {self.grace:.0f} seconds")
        queries.delete(ledger.engine, [commitment.id])
        changes.append(Change("deleted", commitment))
        if commitment.is_confirmed:
            changes += ledger.settle(commitment.resource_id, now)  # others may fit now
        ledger.record(changes, now)

    def _is_fresh(self, commitment: Commitment, now: float) -> bool:
        """Returns whether it may still be taken back. One made of others may not: that would take those back, too."""
        if now >= commitment.created_at + self.grace:
            return False
        if commitment.predecessor_id is None:
            return True
        predecessor = queries.find(self.ledger.engine, commitment.predecessor_id)
        return predecessor is not None and predecessor.status is not Status.SUPERSEDED  # a renewed one stays
