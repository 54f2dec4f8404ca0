"""New commitments, and whether one could be confirmed.

`can_confirm` rests on the same checks and figures as `run`. The only difference is that nothing is written.
"""

from dataclasses import dataclass

import orjson

from limes.actions.commitments.ledger import Change, Described, Ledger
from limes.actions.reports.projects import find_project
from limes.core.catalog import Behavior
from limes.core.commitment_document import describe
from limes.core.commitment_request import (
    CommitmentRequest,
    canonical_duration,
    check_request,
    check_times,
    expiry,
)
from limes.core.commitments import Commitment, Status, advance
from limes.core.committable import Balance, choose_confirmable
from limes.db.queries import catalog as catalog_queries
from limes.db.queries import commitment_keys
from limes.db.queries import commitments as queries
from limes.db.queries.reports import ProjectRow
from limes.errors import Conflict, Unprocessable

NO_CAPACITY = "not enough capacity available for immediate confirmation"


@dataclass(frozen=True, slots=True)
class Creator:
    """Who makes a commitment."""

    uuid: str
    name: str
    """`user@domain`."""


@dataclass(frozen=True, slots=True)
class CreateCommitment:
    """The use case."""

    ledger: Ledger

    def run(
        self, domain_uuid: str, project_uuid: str, request: CommitmentRequest, creator: Creator, key: str | None = None
    ) -> dict[str, object]:
        """Makes the commitment and answers how it is shown.

        With an idempotency key, the same request answers the same commitment again and makes none. Raises `NotFound`,
        `NotReady`, `Unprocessable`, `BadRequest`, and `Conflict` where there is no capacity to confirm it at once.
        """
        ledger = self.ledger

        def work() -> dict[str, object]:
            project = find_project(ledger.engine, domain_uuid, project_uuid)
            if key is not None and (answered := self._answered(project, key, request)):
                return answered
            made = self._create(project, request, check_request(request, ledger.catalog), creator)
            document = describe(made.commitment, made.ref, made.unit)
            if key is not None:
                commitment_keys.remember(
                    ledger.engine, project.id, key, request.canonical(), orjson.dumps(document).decode(), ledger.now()
                )
            return document

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
            return self._balance_after_queue(project, request, resource_id, now).allows(project.id, request.amount)

        return ledger.engine.snapshot(read)

    def _answered(self, project: ProjectRow, key: str, request: CommitmentRequest) -> dict[str, object] | None:
        found = commitment_keys.claim(self.ledger.engine, project.id, key, self.ledger.now())
        if found is None:
            return None
        if found.request != request.canonical():
            raise Unprocessable("this Idempotency-Key was already used in this project, for another request")
        answered: dict[str, object] = orjson.loads(found.document)
        return answered

    def _create(
        self, project: ProjectRow, request: CommitmentRequest, behavior: Behavior, creator: Creator
    ) -> Described:
        ledger, now = self.ledger, self.ledger.now()
        check_times(request, behavior, now)
        resource_id = self._resource_id(project, request)
        changes = ledger.lock([resource_id], now)  # who waits for capacity already comes first
        if request.confirm_by is None:
            balance = ledger.balance(request.ref, resource_id, request.az, {project.id}, now)
            if not balance.allows(project.id, request.amount):
                raise Conflict(NO_CAPACITY)
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
                creator_uuid=creator.uuid,
                creator_name=creator.name,
                confirm_by=None if request.confirm_by is None else float(request.confirm_by),
                confirmed_at=now if request.confirm_by is None else None,
                expires_at=expiry(request, now),
            )
        )
        ledger.record([*changes, Change("created", commitment)], now)
        return ledger.described(commitment)

    def _resource_id(self, project: ProjectRow, request: CommitmentRequest) -> int:
        resource_id = catalog_queries.resource_ids(self.ledger.engine)[request.ref]
        self.ledger.require_report(project.id, resource_id, request.ref)
        return resource_id

    def _balance_after_queue(
        self, project: ProjectRow, request: CommitmentRequest, resource_id: int, now: float
    ) -> Balance:
        """The figures as they will be once those that wait already have got what fits."""
        moved = (advance(one, now) for one in queries.unsettled(self.ledger.engine, resource_id, now))
        waiting = [one for one in moved if one.status is Status.PENDING and one.az == request.az]
        projects = {project.id, *(one.project_id for one in waiting)}
        balance = self.ledger.balance(request.ref, resource_id, request.az, projects, now)
        for one in choose_confirmable(balance, waiting):
            balance = balance.add(one.project_id, one.amount)
        return balance
