"""Deleting commitments: unconfirmed ones by a cloud admin, and what was just made by mistake by the project itself."""

from dataclasses import dataclass

from limes.actions.commitments.ledger import Change, Ledger
from limes.actions.lookup import find_project
from limes.audit.initiator import Initiator
from limes.core.commitments.commitment import Commitment, Status
from limes.db.queries import commitments as queries
from limes.errors import Forbidden


@dataclass(frozen=True, slots=True)
class DeleteCommitment:
    """The use case. `grace` is for how many seconds a project may take back a commitment, also a confirmed one."""

    ledger: Ledger
    grace: float = 0.0

    def run(self, domain_uuid: str, project_uuid: str, id_: int, initiator: Initiator, *, as_admin: bool) -> None:
        """Deletes the commitment. Raises `NotFound` and `Forbidden`.

        `as_admin`: by somebody who may delete unconfirmed ones at any time.
        """
        ledger = self.ledger.by(initiator)

        def work() -> None:
            now = ledger.now()
            project = find_project(ledger.engine, domain_uuid, project_uuid)
            commitment, changes = ledger.take(project.id, id_, now)
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

        ledger.engine.atomic(work)

    def _is_fresh(self, commitment: Commitment, now: float) -> bool:
        """Whether it may still be taken back. Not what was made of others: that would take back the old ones too."""
        if now >= commitment.created_at + self.grace:
            return False
        if commitment.predecessor_id is None:
            return True
        predecessor = queries.find(self.ledger.engine, commitment.predecessor_id)
        return predecessor is not None and predecessor.status is not Status.SUPERSEDED  # it is renewed, and stays
