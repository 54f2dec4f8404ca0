"""New commitments, and whether one could be confirmed.

`can_confirm` rests on the same checks and figures as `run`. The only difference is that nothing is written.
"""

from dataclasses import dataclass

import orjson

from limes.actions.commitments.guarantee import with_warnings
from limes.actions.commitments.ledger import Change, Described, Ledger
from limes.actions.lookup import find_project
from limes.audit.initiator import Initiator
from limes.core.catalog import Behavior
from limes.core.commitments.claims import Claims, Tally
from limes.core.commitments.commitment import Commitment, Status, advance, describe
from limes.core.commitments.duration import canonical_duration
from limes.core.commitments.request import (
    CommitmentRequest,
    check_request,
    check_times,
    expiry,
)
from limes.core.units import Unit
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitment_keys
from limes.db.queries import commitments as queries
from limes.db.queries.projects import ProjectRow
from limes.errors import Conflict, Unprocessable

NO_CAPACITY = "not enough capacity available for immediate confirmation"


def no_capacity(claims: Claims, az: str, unit: Unit) -> str:
    """Why a commitment cannot be confirmed. Says where it is usage in unknown AZs that takes the room."""
    if not claims.holds_back(az):
        return NO_CAPACITY
    return f"{NO_CAPACITY}: {unit.render(claims.unplaced)} are used in unknown availability zones and cannot be sold"


@dataclass(frozen=True, slots=True)
class Created:
    """A new commitment as it is shown, and what whoever has asked for it should know."""

    document: dict[str, object]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CreateCommitment:
    """The use case."""

    ledger: Ledger

    def run(
        self,
        domain_uuid: str,
        project_uuid: str,
        request: CommitmentRequest,
        initiator: Initiator,
        key: str | None = None,
    ) -> Created:
        """Makes the commitment and answers how it is shown, with the warnings.

        With an idempotency key, the same request answers the same commitment again and makes none. Raises `NotFound`,
        `NotReady`, `Unprocessable`, `BadRequest`, and `Conflict` where there is no capacity to confirm it at once.
        """
        ledger = self.ledger

        def work() -> Created:
            project = find_project(ledger.engine, domain_uuid, project_uuid)
            if key is not None and (answered := self._answered(project, key, request)):
                return answered
            made = with_warnings(
                ledger, self._create(project, request, check_request(request, ledger.catalog), initiator)
            )
            document = describe(made.commitment, made.ref, made.unit)
            if key is not None:
                commitment_keys.remember(
                    ledger.engine, project.id, key, request.canonical(), orjson.dumps(document).decode(), ledger.now()
                )
            return Created(document, made.warnings)

        return ledger.engine.atomic(work)

    def can_confirm(self, domain_uuid: str, project_uuid: str, request: CommitmentRequest) -> bool:
        """Whether `run` would confirm this one at once. Raises the same, but for capacity and the earliest date."""
        ledger = self.ledger
        if request.confirm_by is not None:
            raise Unprocessable("confirm_by must not be set here: this asks for immediate confirmation")
        behavior = check_request(request, ledger.catalog)

        def read() -> bool:
            project = find_project(ledger.engine, domain_uuid, project_uuid)
            resource_id = self._resource_id(project, request)
            now = ledger.now()
            if (behavior.commitment_min_confirm_date or 0.0) > now:
                return False
            tally = self._tally_after_queue(project, request, resource_id, now)
            return tally.allows(request.az, project.id, request.amount)

        return ledger.engine.snapshot(read)

    def _answered(self, project: ProjectRow, key: str, request: CommitmentRequest) -> Created | None:
        found = commitment_keys.claim(self.ledger.engine, project.id, key, self.ledger.now())
        if found is None:
            return None
        if found.request != request.canonical():
            raise Unprocessable("this Idempotency-Key was already used in this project, for another request")
        document = orjson.loads(found.document)
        commitment = queries.find(self.ledger.engine, document["id"])
        resource = self.ledger.catalog.find(request.ref)
        is_gone = commitment is None or not commitment.is_live or commitment.project_id != project.id
        if commitment is None or resource is None or is_gone:
            return Created(document, ())
        made = with_warnings(self.ledger, Described(commitment, request.ref, resource.unit))
        return Created(document, made.warnings)

    def _create(
        self, project: ProjectRow, request: CommitmentRequest, behavior: Behavior, initiator: Initiator
    ) -> Described:
        ledger, now = self.ledger.by(initiator), self.ledger.now()
        check_times(request, behavior, now)
        resource_id = self._resource_id(project, request)
        changes = ledger.lock([resource_id], now)  # who waits for capacity already comes first
        if request.confirm_by is None:
            tally = ledger.tally(request.ref, resource_id, {request.az}, {project.id}, now)
            if not tally.allows(request.az, project.id, request.amount):
                raise Conflict(no_capacity(tally.claims, request.az, ledger.unit_of(request.ref)))
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
            )
        )
        ledger.record([*changes, Change("created", commitment)], now)
        return ledger.described(commitment)

    def _resource_id(self, project: ProjectRow, request: CommitmentRequest) -> int:
        resource_id = catalog_queries.resource_ids(self.ledger.engine)[request.ref]
        self.ledger.require_committable(project.id, resource_id, request.ref)
        return resource_id

    def _tally_after_queue(
        self, project: ProjectRow, request: CommitmentRequest, resource_id: int, now: float
    ) -> Tally:
        """The figures as they will be once those that wait already have got what fits."""
        moved = (advance(one, now) for one in queries.unsettled(self.ledger.engine, resource_id, now))
        pending = [one for one in moved if one.status is Status.PENDING]
        waiting = self.ledger.without_forbidden(resource_id, pending)
        azs, projects = {one.az for one in waiting}, {one.project_id for one in waiting}
        tally = self.ledger.tally(request.ref, resource_id, azs | {request.az}, projects | {project.id}, now)
        tally.confirm_in_turn(waiting)
        return tally
