"""When could a commitment be confirmed? From what is known today: capacity, usage, and when commitments end.

Nothing is promised: others may commit meanwhile, and usage and capacity change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from limes.core.commitments import Commitment, Status, advance, confirm
from limes.core.committable import Balance, choose_confirmable


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer. `blockers` are what has to end first, or what cannot."""

    confirmable_at: float | None
    """None: not with what is known."""
    confirmable_now: int
    """The largest amount that this project could commit to at once."""
    blockers: tuple[Commitment, ...]
    """Confirmed commitments, in the order in which they end, up to the one whose end makes enough room."""
    missing: int
    """How much capacity is missing once all of these have ended; 0 if a time was found."""


def make_plan(
    balance: Balance, live: Sequence[Commitment], project: int, amount: int, now: float, earliest: float = 0.0
) -> Plan:
    """Plays the future: whenever something ends or becomes due, the queue is served, and then it is our turn.

    Not before `earliest`. `balance` has the usage of all projects that `live` commitments are of; `live` are all of the
    same resource and AZ.
    """
    current = {one.id: one for one in live}
    confirmable_now, blockers = 0, []
    for time in _times(live, now, earliest):
        for one in [one for one in current.values() if advance(one, time) != one]:
            current[one.id] = advance(one, time)
            if current[one.id].status is Status.EXPIRED:
                del current[one.id]
                if one.is_confirmed and one.expires_at > now:
                    blockers.append(one)
        waiting = [one for one in current.values() if one.status is Status.PENDING]
        for one in choose_confirmable(_committed(balance, current.values()), waiting):
            current[one.id] = confirm(one, time)
        state = _committed(balance, current.values())
        if time == now:
            confirmable_now = state.committable_by(project)
        if time >= earliest and state.allows(project, amount):
            return Plan(time, confirmable_now, tuple(blockers), 0)
    return Plan(None, confirmable_now, tuple(blockers), state.add(project, amount).claimed - state.capacity)


def _times(live: Sequence[Commitment], now: float, earliest: float) -> list[float]:
    """When something happens: now, and each end and each beginning that is ahead."""
    ahead = {time for one in live for time in (one.expires_at, one.confirm_by or 0.0) if time > now}
    return sorted({now, max(now, earliest), *ahead})


def _committed(balance: Balance, commitments: Iterable[Commitment]) -> Balance:
    committed: dict[int, int] = {}
    for one in commitments:
        if one.is_confirmed:
            committed[one.project_id] = committed.get(one.project_id, 0) + one.amount
    return replace(balance, committed=committed)
