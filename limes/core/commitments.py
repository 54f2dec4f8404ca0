"""The life of a commitment: pure functions from one frozen value to the next.

    planned --confirm_by--> pending --capacity--> confirmed --duration--> expired
       \\_______________________________________/    |
                 (confirmed at once)                 \\--split, merge, convert--> superseded, with successors

An unconfirmed one expires as well. `planned` and `pending` are what the API document calls unconfirmed. Whether there
is capacity is not decided here but in `limes.core.committable`. Times are seconds since the epoch, UTC.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from limes.core.durations import parse_duration
from limes.core.units import MAX_AMOUNT
from limes.errors import Conflict, Unprocessable


class Status(enum.StrEnum):
    """Where a commitment is in its life."""

    PLANNED = "planned"
    """To be confirmed later: `confirm_by` is ahead."""
    PENDING = "pending"
    """To be confirmed as soon as there is capacity: `confirm_by` has passed."""
    CONFIRMED = "confirmed"
    SUPERSEDED = "superseded"
    """Replaced by others that were made of it."""
    EXPIRED = "expired"


LIVE = frozenset({Status.PLANNED, Status.PENDING, Status.CONFIRMED})


@dataclass(frozen=True, slots=True)
class Commitment:
    """A project's promise to use an amount of a resource in one AZ for a time."""

    id: int
    """The number in the API; 0 until it is stored."""
    uuid: str
    project_id: int
    resource_id: int
    az: str
    amount: int
    duration: str
    """Canonical text."""
    status: Status
    created_at: float
    creator_uuid: str
    creator_name: str
    confirm_by: float | None
    confirmed_at: float | None
    expires_at: float
    superseded_at: float | None = None
    predecessor_id: int | None = None
    """What it was made of by split, merge or conversion, or which one it renews."""
    transfer_status: str = ""
    transfer_token: str | None = None

    @property
    def is_live(self) -> bool:
        """Neither expired nor superseded."""
        return self.status in LIVE

    @property
    def is_confirmed(self) -> bool:
        """It blocks capacity and counts for bills."""
        return self.status is Status.CONFIRMED

    @property
    def starts_at(self) -> float:
        """From when the duration counts: `confirm_by`, else when it was confirmed at once."""
        if self.confirm_by is not None:
            return self.confirm_by
        return self.created_at if self.confirmed_at is None else self.confirmed_at


def end_of(start: float, duration: str) -> float:
    """When a duration that begins at `start` ends, by the calendar in UTC."""
    return parse_duration(duration).after(datetime.fromtimestamp(start, UTC)).timestamp()


def advance(commitment: Commitment, now: float) -> Commitment:
    """What the passing of time alone makes of it: a planned one becomes pending, and any live one expires."""
    if not commitment.is_live:
        return commitment
    if commitment.expires_at <= now:
        return replace(withdraw(commitment), status=Status.EXPIRED)
    if commitment.status is Status.PLANNED and commitment.confirm_by is not None and commitment.confirm_by <= now:
        return replace(commitment, status=Status.PENDING)
    return commitment


def confirm(commitment: Commitment, now: float) -> Commitment:
    """Pending to confirmed. The caller has found that there is capacity. Its end does not move."""
    if commitment.status is not Status.PENDING:
        raise Conflict(f"commitment {commitment.id} is {commitment.status}, so it cannot be confirmed")
    return replace(commitment, status=Status.CONFIRMED, confirmed_at=now)


def supersede(commitment: Commitment, now: float) -> Commitment:
    """Any live one to superseded. Others take its place."""
    require_live(commitment)
    return replace(withdraw(commitment), status=Status.SUPERSEDED, superseded_at=now)


def require_live(commitment: Commitment) -> None:
    """Raises `Conflict` for one that has ended."""
    if not commitment.is_live:
        raise Conflict(f"commitment {commitment.id} is {commitment.status}")


def _require_held(commitment: Commitment) -> None:
    """Raises `Conflict` for one that is offered for transfer: somebody may have been promised exactly this one."""
    if commitment.transfer_status:
        raise Conflict(f"commitment {commitment.id} is marked for transfer; withdraw that first")


# -- transfer ----------------------------------------------------------------------------------------------------------


def offer(commitment: Commitment, transfer_status: str, token: str) -> Commitment:
    """Marks it for transfer. A new token voids the one before."""
    require_live(commitment)
    if not commitment.is_confirmed:
        raise Unprocessable("commitment needs to be confirmed in order to transfer it.")
    return replace(commitment, transfer_status=transfer_status, transfer_token=token)


def withdraw(commitment: Commitment) -> Commitment:
    """Not marked for transfer any more."""
    return replace(commitment, transfer_status="", transfer_token=None)


def hand_over(commitment: Commitment, project_id: int) -> Commitment:
    """Gives it to another project, with all that it is."""
    return replace(withdraw(commitment), project_id=project_id)


# -- other shapes: amounts are conserved -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reshaped:
    """Those that are superseded, and those that take their place."""

    old: tuple[Commitment, ...]
    new: tuple[Commitment, ...]


def split(commitment: Commitment, amount: int, now: float, uuids: tuple[str, str]) -> Reshaped:
    """A part of `amount` first, and the remainder. Both keep state, duration and end (source: the original)."""
    if not 0 < amount < commitment.amount:
        raise Unprocessable(f"a part must be between 1 and {commitment.amount - 1}")
    heir = _heir(commitment, now)
    return Reshaped(
        (supersede(commitment, now),),
        (
            replace(heir, uuid=uuids[0], amount=amount),
            replace(heir, uuid=uuids[1], amount=commitment.amount - amount),
        ),
    )


def merge(commitments: Sequence[Commitment], now: float, uuid: str) -> Reshaped:
    """All in one, with the latest end of them. Raises `Unprocessable` and `Conflict` where they do not go together."""
    if len({commitment.id for commitment in commitments}) < 2:
        raise Unprocessable("at least two different commitments are needed to merge")
    for commitment in commitments:
        require_live(commitment)
        _require_held(commitment)
        if not commitment.is_confirmed:
            raise Conflict(f"commitment {commitment.id} is {commitment.status}; only confirmed ones can be merged")
    if len({(one.project_id, one.resource_id, one.az) for one in commitments}) > 1:
        raise Conflict("all commitments must be for the same resource and availability zone to merge")
    longest = max(commitments, key=lambda one: (one.expires_at, one.id))
    total = sum(one.amount for one in commitments)
    if total > MAX_AMOUNT:
        raise Unprocessable(f"the amounts are too large to merge: the maximum is {MAX_AMOUNT}")
    return Reshaped(
        tuple(supersede(one, now) for one in commitments),
        (replace(_heir(longest, now), uuid=uuid, amount=total),),
    )


def convert(
    commitment: Commitment, source_amount: int, target_resource: int, target_amount: int, now: float,
    uuids: tuple[str, str],
) -> Reshaped:  # fmt: skip
    """`source_amount` of it becomes `target_amount` of another resource; a remainder stays as it was.

    One that waits for capacity has to queue anew there; its remainder keeps its place here.
    """
    _require_held(commitment)
    if not 0 < source_amount <= commitment.amount:
        raise Unprocessable(f"the amount to convert must be between 1 and {commitment.amount}")
    heir = _heir(commitment, now)
    converted = replace(heir, uuid=uuids[0], resource_id=target_resource, amount=target_amount)
    created_at = now if commitment.is_confirmed else commitment.created_at
    rest = replace(heir, uuid=uuids[1], amount=commitment.amount - source_amount, created_at=created_at)
    return Reshaped((supersede(commitment, now),), (converted, rest) if rest.amount else (converted,))


def _heir(commitment: Commitment, now: float) -> Commitment:
    require_live(commitment)
    return replace(withdraw(commitment), id=0, created_at=now, predecessor_id=commitment.id)


# -- longer lives ------------------------------------------------------------------------------------------------------


def renew(commitment: Commitment, now: float, uuid: str, window: float) -> Commitment:
    """The same again, to be confirmed when this one ends. Allowed in the last `window` seconds of a confirmed one."""
    require_live(commitment)
    _require_held(commitment)
    if not commitment.is_confirmed:
        raise Conflict(f"commitment {commitment.id} is {commitment.status}; only confirmed ones can be renewed")
    if now < commitment.expires_at - window:
        opens = datetime.fromtimestamp(commitment.expires_at - window, UTC).isoformat(timespec="seconds")
        raise Conflict(f"it is too early to renew commitment {commitment.id}: possible from {opens}")
    return replace(
        _heir(commitment, now),
        uuid=uuid,
        status=Status.PLANNED,
        confirm_by=commitment.expires_at,
        confirmed_at=None,
        expires_at=end_of(commitment.expires_at, commitment.duration),
    )


def change_duration(commitment: Commitment, duration: str, now: float) -> Commitment:
    """Another duration, counted from the same start. It may end later, not earlier: that would break the promise."""
    require_live(commitment)
    _require_held(commitment)
    expires_at = end_of(commitment.starts_at, duration)
    if expires_at < commitment.expires_at or expires_at <= now:
        raise Unprocessable(f'a duration of "{duration}" would end the commitment earlier; it may only end later')
    return replace(commitment, duration=duration, expires_at=expires_at)
