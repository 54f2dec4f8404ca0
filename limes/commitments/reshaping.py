"""Making new commitments of old ones (split, merge, convert, renew, change the duration), and until when one can.

Split and merge conserve the amount; a conversion conserves the worth (`rules`). Times are seconds since the epoch, UTC.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct, structs

from limes.commitments.commitment import Commitment, Status, end_of, parse_duration, require_live, withdraw
from limes.commitments.rules import CommitmentRules
from limes.kernel.errors import Conflict, Unprocessable
from limes.kernel.units import MAX_AMOUNT


class Reshaped(Struct, frozen=True):
    old: tuple[Commitment, ...]
    new: tuple[Commitment, ...]


def split(commitment: Commitment, amount: int, now: float, uuids: tuple[str, str]) -> Reshaped:
    """Returns two commitments: one of `amount`, and the remainder. Both keep state, duration and end (source: the
    original)."""
    if not 0 < amount < commitment.amount:
        raise Unprocessable(f"a part must be between 1 and {commitment.amount - 1}")
    heir = _heir(commitment, now)
    return Reshaped(
        (supersede(commitment, now),),
        (
            structs.replace(heir, uuid=uuids[0], amount=amount),
            structs.replace(heir, uuid=uuids[1], amount=commitment.amount - amount),
        ),
    )


def merge(commitments: Sequence[Commitment], now: float, uuid: str) -> Reshaped:
    """Returns one commitment for several, ending with the last of them. Raises `Unprocessable` and `Conflict`."""
    if len({commitment.id for commitment in commitments}) < 2:
        raise Unprocessable("at least two different commitments are needed to merge")
    for commitment in commitments:
        require_live(commitment)
        require_not_offered(commitment)
        if not commitment.is_confirmed:
            raise Conflict(f"commitment {commitment.id} is {commitment.status}; only confirmed ones can be merged")
    if len({(commitment.project_id, commitment.resource_id, commitment.az) for commitment in commitments}) > 1:
        raise Conflict("all commitments must be for the same resource and availability zone to merge")
    longest = max(commitments, key=lambda commitment: (commitment.expires_at, commitment.id))
    total = sum(commitment.amount for commitment in commitments)
    if total > MAX_AMOUNT:
        raise Unprocessable(f"the amounts are too large to merge: the maximum is {MAX_AMOUNT}")
    return Reshaped(
        tuple(supersede(commitment, now) for commitment in commitments),
        (structs.replace(_heir(longest, now), uuid=uuid, amount=total),),
    )


def convert(
    commitment: Commitment, source_amount: int, target_resource: int, target_amount: int, now: float,
    uuids: tuple[str, str],
) -> Reshaped:  # fmt: skip
    """Converts `source_amount` of it into `target_amount` of another resource; a remainder stays as it was. A
    commitment that waits for capacity joins the queue there at the end; its remainder keeps its place in the queue
    here."""
    require_not_offered(commitment)
    if not 0 < source_amount <= commitment.amount:
        raise Unprocessable(f"the amount to convert must be between 1 and {commitment.amount}")
    heir = _heir(commitment, now)
    converted = structs.replace(heir, uuid=uuids[0], resource_id=target_resource, amount=target_amount)
    created_at = now if commitment.is_confirmed else commitment.created_at
    remainder = structs.replace(heir, uuid=uuids[1], amount=commitment.amount - source_amount, created_at=created_at)
    return Reshaped((supersede(commitment, now),), (converted, remainder) if remainder.amount else (converted,))


def renew(commitment: Commitment, now: float, uuid: str, window: float) -> Commitment:
    """Returns a commitment that begins when this one ends. Allowed in the last `window` seconds of a confirmed one."""
    require_live(commitment)
    require_not_offered(commitment)
    if not commitment.is_confirmed:
        raise Conflict(f"commitment {commitment.id} is {commitment.status}; only confirmed ones can be renewed")
    if now < commitment.expires_at - window:
        opens = datetime.fromtimestamp(commitment.expires_at - window, UTC).isoformat(timespec="seconds")
        raise Conflict(f"it is too early to renew commitment {commitment.id}: possible from {opens}")
    anchor_day = _anchor_day_of_renewal(commitment)
    expires_at = end_of(commitment.expires_at, commitment.duration, anchor_day)
    if expires_at <= now:
        raise Conflict(f"it is too late to renew commitment {commitment.id}: the renewal would have ended already")
    return structs.replace(
        _heir(commitment, now),
        uuid=uuid,
        status=Status.PLANNED,
        confirm_by=commitment.expires_at,
        confirmed_at=None,
        expires_at=expires_at,
        renewal_error="",
        anchor_day=anchor_day,
    )


def _anchor_day_of_renewal(commitment: Commitment) -> int | None:
    """Returns the day that a renewal's months are counted to, if its first month is too short for it."""
    if parse_duration(commitment.duration).seconds:
        return None
    wanted = commitment.anchor_day or datetime.fromtimestamp(commitment.starts_at, UTC).day
    end = datetime.fromtimestamp(commitment.expires_at, UTC)
    is_last_day = (end + timedelta(days=1)).month != end.month
    return wanted if is_last_day and wanted > end.day else None


def renewed_at(commitment: Commitment, window: float, lead: float) -> float:
    """Returns when a commitment is renewed that renews itself: `lead` seconds before its end, but not before half of
    its time has passed, nor before it may be renewed by hand."""
    return commitment.expires_at - min(window, lead, (commitment.expires_at - commitment.starts_at) / 2)


def without_renewal(commitment: Commitment) -> Commitment:
    return structs.replace(commitment, auto_renews=False, renewal_error="")


def change_duration(commitment: Commitment, duration: str, now: float) -> Commitment:
    """Sets another duration, counted from the same start. An earlier end would break the promise, and is refused."""
    require_live(commitment)
    require_not_offered(commitment)
    expires_at = end_of(commitment.starts_at, duration, commitment.anchor_day)
    if expires_at < commitment.expires_at or expires_at <= now:
        raise Unprocessable(f'a duration of "{duration}" would end the commitment earlier; it may only end later')
    return structs.replace(commitment, duration=duration, expires_at=expires_at)


def supersede(commitment: Commitment, now: float) -> Commitment:
    require_live(commitment)
    return structs.replace(withdraw(commitment), status=Status.SUPERSEDED, superseded_at=now)


def require_not_offered(commitment: Commitment) -> None:
    """Raises `Conflict` for a commitment marked for transfer: exactly this one may have been promised."""
    if commitment.transfer_status:
        raise Conflict(f"commitment {commitment.id} is marked for transfer; withdraw that first")


def _heir(commitment: Commitment, now: float) -> Commitment:
    require_live(commitment)
    return structs.replace(withdraw(commitment), id=0, created_at=now, predecessor_id=commitment.id)


# -- deadlines ---------------------------------------------------------------------------------------------------------


class Deadlines(Struct, frozen=True):
    """Until when, and from when, something can be done with a commitment, in seconds since the epoch. For display: the
    use cases decide again, and know more of commitments that came from other projects."""

    renewable_from: float | None = None
    """None for what cannot be renewed: because it is not confirmed, or was renewed already."""
    deletable_until: float | None = None
    """Until when its project may take it back, even if it is confirmed; None where it cannot, or not any more."""


NO_DEADLINES = Deadlines()


def deadlines_of(family: Sequence[Commitment], rules: CommitmentRules, now: float) -> dict[int, Deadlines]:
    """By number, of the live ones. `family` are all commitments of a project, also ended ones."""
    by_id = {each.id: each for each in family}
    made_of: dict[int | None, list[Commitment]] = defaultdict(list)
    for each in family:
        made_of[each.predecessor_id].append(each)
    return {
        each.id: Deadlines(
            each.expires_at - rules.renewal_window
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
