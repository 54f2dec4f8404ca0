"""Until when, and from when, something can be done with the commitments of a project.

This is for display: the use cases decide again, and know more of commitments that came from other projects.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from limes.core.commitments.commitment import Commitment, Status
from limes.core.commitments.reshaping import renewable_from
from limes.core.commitments.rules import CommitmentRules


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Of one commitment, in seconds since the epoch."""

    renewable_from: float | None = None
    """None for what cannot be renewed: because it is not confirmed, or was renewed already."""
    deletable_until: float | None = None
    """Until when its project may take it back, even if it is confirmed; None where it cannot, or not any more."""


NO_DEADLINES = Deadlines()


def deadlines_of(family: Sequence[Commitment], rules: CommitmentRules, now: float) -> dict[int, Deadlines]:
    """Returns the deadlines of the live ones by number. `family` are all commitments of a project, also ended ones."""
    by_id = {each.id: each for each in family}
    live = [each for each in family if each.is_live]
    renewed = {each.predecessor_id for each in live if _follows(each, by_id)}
    return {
        each.id: Deadlines(
            renewable_from(each, rules.renewal_window) if each.is_confirmed and each.id not in renewed else None,
            _deletable_until(each, by_id, rules.self_delete_grace, now),
        )
        for each in live
    }


def _follows(commitment: Commitment, by_id: Mapping[int, Commitment]) -> bool:
    """Returns whether it begins after the one that it was made of, so it renews that one."""
    before = by_id.get(commitment.predecessor_id or 0)
    return before is not None and commitment.starts_at > before.starts_at


def _deletable_until(commitment: Commitment, by_id: Mapping[int, Commitment], grace: float, now: float) -> float | None:
    end = commitment.created_at + grace
    if now >= end:
        return None
    if commitment.predecessor_id is None:
        return end
    before = by_id.get(commitment.predecessor_id)
    return end if before is not None and before.status is not Status.SUPERSEDED else None
