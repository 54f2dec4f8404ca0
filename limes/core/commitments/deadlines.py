"""Until when, and from when, something can be done with the commitments of a project.

This is for display: the use cases decide again, and know more of commitments that came from other projects.
"""

from collections import defaultdict
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
    made_of: dict[int | None, list[Commitment]] = defaultdict(list)
    for each in family:
        made_of[each.predecessor_id].append(each)
    return {
        each.id: Deadlines(
            renewable_from(each, rules.renewal_window)
            if each.is_confirmed and not _was_renewed(each, by_id, made_of)
            else None,
            _deletable_until(each, by_id, rules.self_delete_grace, now),
        )
        for each in family
        if each.is_live
    }


def _was_renewed(
    commitment: Commitment, by_id: Mapping[int, Commitment], made_of: Mapping[int | None, Sequence[Commitment]]
) -> bool:
    """Returns whether there is a live renewal of it, or of what it was made of; or what such a renewal has become."""
    past = [commitment]
    while (before := by_id.get(past[-1].predecessor_id or 0)) and before.status is Status.SUPERSEDED:
        past.append(before)
    made = (each for before in past for each in made_of.get(before.id, ()))
    renewals = [each for each in made if each.starts_at > commitment.starts_at]
    for renewal in renewals:  # which grows
        renewals += made_of.get(renewal.id, ())
    return any(renewal.is_live for renewal in renewals)


def _deletable_until(commitment: Commitment, by_id: Mapping[int, Commitment], grace: float, now: float) -> float | None:
    end = commitment.created_at + grace
    if now >= end:
        return None
    if commitment.predecessor_id is None:
        return end
    before = by_id.get(commitment.predecessor_id)
    return end if before is not None and before.status is not Status.SUPERSEDED else None
