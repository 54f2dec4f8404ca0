"""Transferring a commitment: its owner marks it, and anybody with the token can take it into another project."""

import hmac

from limes.actions.commitments import store
from limes.actions.commitments.preview import with_warnings
from limes.actions.commitments.store import Change, CommitmentView
from limes.actions.context import Limes
from limes.actions.lookup import find_project
from limes.core.commitments.commitment import hand_over, offer, withdraw
from limes.core.commitments.reshaping import split
from limes.db.queries import commitments as queries
from limes.db.transactions import atomic
from limes.errors import Conflict, NotFound

NO_MATCH = "no matching commitment found"


@atomic
def offer_commitment(
    limes: Limes, domain_uuid: str, project_uuid: str, id_: int, amount: int, transfer_status: str
) -> CommitmentView:
    """Marks a commitment, or a part of it, for transfer, and returns it with its token.

    An empty status takes the mark away. An amount that is not below the commitment's means all of it. Raises
    `NotFound`, and `Unprocessable` for a commitment that is not confirmed.
    """
    now = limes.now()
    commitment, changes = store.lock_commitment(limes, domain_uuid, project_uuid, id_, now)
    if not transfer_status:
        marked = withdraw(commitment)
        changes += [Change("transfer_withdrawn", marked)] if marked != commitment else []
    else:
        offer(commitment, transfer_status, "")  # a refusal comes before anything is split
        if amount < commitment.amount:
            parts = split(commitment, amount, now, (limes.ids.uuid(), limes.ids.uuid()))
            successors, more_changes = store.reshape(limes, parts)
            commitment, changes = successors[0], [*changes, *more_changes]
        marked = offer(commitment, transfer_status, limes.ids.token())
        changes.append(Change("transfer_started", marked))
    queries.update(limes.engine, marked)
    store.record(limes, changes, now)
    return store.view(limes, marked)


@atomic
def take_commitment(limes: Limes, domain_uuid: str, project_uuid: str, id_: int, token: str) -> CommitmentView:
    """Moves the commitment of that number and token into the project.

    Raises `NotFound`, and `Conflict` if the move would claim more capacity than there is: usage that the commitment
    covered in its old project counts by itself afterwards.
    """
    now = limes.now()
    target = find_project(limes.engine, domain_uuid, project_uuid)
    commitment = queries.find(limes.engine, id_)
    if commitment is None:
        raise NotFound(NO_MATCH)
    changes = store.lock(limes, [commitment.resource_id], now)
    commitment = queries.find(limes.engine, id_)
    if commitment is None or not _matches(commitment.transfer_token, token):
        raise NotFound(NO_MATCH)
    ref = store.ref_of(limes, commitment)
    store.require_committable(limes, target.id, commitment.resource_id, ref)
    source = commitment.project_id
    tally = store.tally(limes, ref, commitment.resource_id, {commitment.az}, {source, target.id}, now)
    if not tally.allows_move(commitment.az, source, target.id, commitment.amount):
        raise Conflict("not enough capacity available to confirm this commitment in the receiving project")
    transferred = hand_over(commitment, target.id)
    queries.update(limes.engine, transferred)
    changes.append(Change("transferred", transferred))
    changes += store.settle(limes, commitment.resource_id, now)  # the transfer may have freed capacity
    store.record(limes, changes, now)
    return with_warnings(limes, store.view(limes, transferred))


def _matches(expected: str | None, token: str) -> bool:
    """Compares tokens in constant time."""
    return expected is not None and hmac.compare_digest(expected.encode(), token.encode())
