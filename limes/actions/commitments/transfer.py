"""Transferring a commitment: its owner marks it, and anybody with the token can take it into another project."""

import hmac
from dataclasses import dataclass

from limes.actions.commitments.ledger import Change, Described, LedgerUser
from limes.actions.commitments.preview import add_warnings
from limes.actions.lookup import find_project
from limes.audit.initiator import Initiator
from limes.core.commitments.commitment import hand_over, offer, withdraw
from limes.core.commitments.reshaping import split
from limes.db.queries import commitments as queries
from limes.db.transactions import atomic
from limes.errors import Conflict, NotFound

NO_MATCH = "no matching commitment found"


@dataclass(frozen=True, slots=True)
class TransferCommitment(LedgerUser):
    @atomic
    def start(
        self,
        domain_uuid: str,
        project_uuid: str,
        id_: int,
        amount: int,
        transfer_status: str,
        initiator: Initiator,
    ) -> Described:
        """Marks a commitment, or a part of it, for transfer, and returns it with its token.

        An empty status takes the mark away. An amount that is not below the commitment's means all of it. Raises
        `NotFound`, and `Unprocessable` for a commitment that is not confirmed.
        """
        ledger = self.ledger.by(initiator)
        now = ledger.now()
        project = find_project(ledger.engine, domain_uuid, project_uuid)
        commitment, changes = ledger.lock_commitment(project.id, id_, now)
        if not transfer_status:
            marked = withdraw(commitment)
            changes += [Change("transfer_withdrawn", marked)] if marked != commitment else []
        else:
            offer(commitment, transfer_status, "")  # a refusal comes before anything is split
            if amount < commitment.amount:
                parts = split(commitment, amount, now, (ledger.ids.uuid(), ledger.ids.uuid()))
                successors, more_changes = ledger.store_reshaped(parts)
                commitment, changes = successors[0], [*changes, *more_changes]
            marked = offer(commitment, transfer_status, ledger.ids.token())
            changes.append(Change("transfer_started", marked))
        queries.update(ledger.engine, marked)
        ledger.record(changes, now)
        return ledger.add_description(marked)

    @atomic
    def take(self, domain_uuid: str, project_uuid: str, id_: int, token: str, initiator: Initiator) -> Described:
        """Moves the commitment of that number and token into the project.

        Raises `NotFound`, and `Conflict` if the move would claim more capacity than there is: usage that the commitment
        covered in its old project counts by itself afterwards.
        """
        ledger = self.ledger.by(initiator)
        now = ledger.now()
        target = find_project(ledger.engine, domain_uuid, project_uuid)
        commitment = queries.find(ledger.engine, id_)
        if commitment is None:
            raise NotFound(NO_MATCH)
        changes = ledger.lock([commitment.resource_id], now)
        commitment = queries.find(ledger.engine, id_)
        if commitment is None or not _matches(commitment.transfer_token, token):
            raise NotFound(NO_MATCH)
        ref = ledger.ref_of(commitment)
        ledger.require_committable(target.id, commitment.resource_id, ref)
        source = commitment.project_id
        tally = ledger.tally(ref, commitment.resource_id, {commitment.az}, {source, target.id}, now)
        if not tally.allows_move(commitment.az, source, target.id, commitment.amount):
            raise Conflict("not enough capacity available to confirm this commitment in the receiving project")
        transferred = hand_over(commitment, target.id)
        queries.update(ledger.engine, transferred)
        changes.append(Change("transferred", transferred))
        changes += ledger.settle(commitment.resource_id, now)  # the transfer may have freed capacity
        ledger.record(changes, now)
        return add_warnings(ledger, ledger.add_description(transferred))


def _matches(expected: str | None, token: str) -> bool:
    """Compares tokens in constant time."""
    return expected is not None and hmac.compare_digest(expected.encode(), token.encode())
