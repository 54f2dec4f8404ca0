"""Making new commitments of old ones: split, merge, convert, renew, change the duration.

Split and merge conserve the amount; a conversion conserves the worth (`rules`). Times are seconds since the epoch, UTC.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from limes.core.commitments.commitment import Commitment, Status, end_of, require_live, withdraw
from limes.core.commitments.duration import parse_duration
from limes.core.units import MAX_AMOUNT
from limes.errors import Conflict, Unprocessable


@dataclass(frozen=True, slots=True)
class Reshaped:
    """The superseded commitments, and those that take their place."""

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
        (replace(heir, uuid=uuids[0], amount=amount), replace(heir, uuid=uuids[1], amount=commitment.amount - amount)),
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
        (replace(_heir(longest, now), uuid=uuid, amount=total),),
    )


def convert(
    commitment: Commitment, source_amount: int, target_resource: int, target_amount: int, now: float,
    uuids: tuple[str, str],
) -> Reshaped:  # fmt: skip
    """Converts `source_amount` of it into `target_amount` of another resource; a remainder stays as it was.

    A commitment that waits for capacity queues anew there; its remainder keeps its place in the queue here.
    """
    require_not_offered(commitment)
    if not 0 < source_amount <= commitment.amount:
        raise Unprocessable(f"the amount to convert must be between 1 and {commitment.amount}")
    heir = _heir(commitment, now)
    converted = replace(heir, uuid=uuids[0], resource_id=target_resource, amount=target_amount)
    created_at = now if commitment.is_confirmed else commitment.created_at
    remainder = replace(heir, uuid=uuids[1], amount=commitment.amount - source_amount, created_at=created_at)
    return Reshaped((supersede(commitment, now),), (converted, remainder) if remainder.amount else (converted,))


def renewable_from(commitment: Commitment, window: float) -> float:
    """Returns the time from which a confirmed one may be renewed."""
    return commitment.expires_at - window


def renew(commitment: Commitment, now: float, uuid: str, window: float) -> Commitment:
    """Returns a commitment that begins when this one ends. Allowed in the last `window` seconds of a confirmed one."""
    require_live(commitment)
    require_not_offered(commitment)
    if not commitment.is_confirmed:
        raise Conflict(f"commitment {commitment.id} is {commitment.status}; only confirmed ones can be renewed")
    if now < (opens_at := renewable_from(commitment, window)):
        opens = datetime.fromtimestamp(opens_at, UTC).isoformat(timespec="seconds")
        raise Conflict(f"it is too early to renew commitment {commitment.id}: possible from {opens}")
    anchor_day = _anchor_day_of_renewal(commitment)
    expires_at = end_of(commitment.expires_at, commitment.duration, anchor_day)
    if expires_at <= now:
        raise Conflict(f"it is too late to renew commitment {commitment.id}: the renewal would have ended already")
    return replace(
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
    """Returns it as one that is not renewed by itself (any more)."""
    return replace(commitment, auto_renews=False, renewal_error="")


def change_duration(commitment: Commitment, duration: str, now: float) -> Commitment:
    """Sets another duration, counted from the same start. An earlier end would break the promise, and is refused."""
    require_live(commitment)
    require_not_offered(commitment)
    expires_at = end_of(commitment.starts_at, duration, commitment.anchor_day)
    if expires_at < commitment.expires_at or expires_at <= now:
        raise Unprocessable(f'a duration of "{duration}" would end the commitment earlier; it may only end later')
    return replace(commitment, duration=duration, expires_at=expires_at)


def supersede(commitment: Commitment, now: float) -> Commitment:
    """Ends a live commitment whose place others take."""
    require_live(commitment)
    return replace(withdraw(commitment), status=Status.SUPERSEDED, superseded_at=now)


def require_not_offered(commitment: Commitment) -> None:
    """Raises `Conflict` for a commitment marked for transfer: somebody may have been promised exactly this one."""
    if commitment.transfer_status:
        raise Conflict(f"commitment {commitment.id} is marked for transfer; withdraw that first")


def _heir(commitment: Commitment, now: float) -> Commitment:
    require_live(commitment)
    return replace(withdraw(commitment), id=0, created_at=now, predecessor_id=commitment.id)
