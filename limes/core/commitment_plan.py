"""When could a commitment be confirmed? From what is known today: capacity, usage, and when commitments end.

Nothing is promised: others may commit meanwhile, and usage and capacity change.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from limes.core.commitments import Commitment, Status, advance
from limes.core.committable import Balance, Tally, queue_order


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
    future = _Future(balance, live, now)
    confirmable_now = future.tally.committable_by(project)
    if earliest <= now and future.tally.allows(project, amount):
        return Plan(now, confirmable_now, (), 0)
    for time in sorted({*future.times(), *({earliest} if earliest > now else ())}):
        future.go_on_to(time)
        if time >= earliest and future.tally.allows(project, amount):
            return Plan(time, confirmable_now, tuple(future.ended), 0)
    return Plan(None, confirmable_now, tuple(future.ended), future.tally.missing(project, amount))


class _Future:
    """What becomes of all commitments, from one time at which something happens to the next."""

    def __init__(self, balance: Balance, live: Sequence[Commitment], now: float) -> None:
        moved = [one for one in (advance(one, now) for one in live) if one.is_live]
        self.ended: list[Commitment] = []
        """Those that were confirmed, in the order of their ends."""
        self.tally = Tally(replace(balance, committed={}))
        self._confirmed: dict[int, Commitment] = {}
        for one in moved:
            if one.is_confirmed:
                self._confirm(one)
        self._waiting: dict[int, Commitment] = {}
        self._ends: dict[float, list[Commitment]] = defaultdict(list)
        self._begins: dict[float, list[Commitment]] = defaultdict(list)
        for one in moved:
            self._ends[one.expires_at].append(one)
            if one.status is Status.PLANNED and one.confirm_by is not None:
                self._begins[one.confirm_by].append(one)
        self._serve([one for one in moved if one.status is Status.PENDING])

    def times(self) -> set[float]:
        """When something happens."""
        return {*self._ends, *self._begins}

    def go_on_to(self, time: float) -> None:
        """Lets happen what happens at that time: ends first, then those that wait are served."""
        freed = False
        for one in self._ends.get(time, ()):
            self._waiting.pop(one.id, None)
            confirmed = self._confirmed.pop(one.id, None)
            if confirmed is not None:
                freed = True
                self.tally.add(one.project_id, -one.amount)
                self.ended.append(confirmed)
        begun = [one for one in self._begins.get(time, ()) if one.expires_at > time]
        # without an end there is no more room than before, so those that have waited need not be asked again
        self._serve([*self._waiting.values(), *begun] if freed else begun)

    def _serve(self, waiting: list[Commitment]) -> None:
        waiting.sort(key=queue_order)
        self._waiting |= {one.id: one for one in waiting}
        for one in waiting:
            if self.tally.allows(one.project_id, one.amount):
                self._confirm(one)
                del self._waiting[one.id]

    def _confirm(self, one: Commitment) -> None:
        self.tally.add(one.project_id, one.amount)
        self._confirmed[one.id] = one
