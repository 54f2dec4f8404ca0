"""When could a commitment be confirmed? From what is known today: capacity, usage, and when commitments end.

Nothing is promised: others may commit meanwhile, and usage and capacity change.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from limes.core.commitments import Commitment, Status, advance
from limes.core.committable import Tally


@dataclass(frozen=True, slots=True)
class Want:
    """Which amount a project wants in which AZ. Not before `earliest`."""

    az: str
    project: int
    amount: int
    earliest: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer. `blockers` are what has to end first, or what cannot."""

    confirmable_at: float | None
    """None: not with what is known."""
    confirmable_now: int
    """The largest amount that this project could commit to at once."""
    blockers: tuple[Commitment, ...]
    """Confirmed commitments, in the order in which they end, up to the one whose end makes enough room. Those in other
    AZs only where the whole capacity falls short, and not merely that of the AZ."""
    missing: int
    """How much capacity is missing once all of these have ended; 0 if a time was found."""
    unplaced: int = 0
    """What is used in AZs that are not known, if that leaves less than the AZ has by itself: now, or in the end."""


def make_plan(tally: Tally, live: Sequence[Commitment], want: Want, now: float) -> Plan:
    """Plays the future: whenever something ends or becomes due, the queue is served, and then it is our turn.

    `tally` has the shares of all projects that `live` commitments are of; `live` are all of the same resource. It is
    used up.
    """
    future = _Future(tally, live, now)
    confirmable_now = tally.committable_by(want.az, want.project)
    unplaced = future.held_back(want.az)
    if want.earliest <= now and future.fits(want):
        return Plan(now, confirmable_now, (), 0, unplaced)
    for time in sorted({*future.times(), *({want.earliest} if want.earliest > now else ())}):
        future.go_on_to(time)
        if time >= want.earliest and future.fits(want):
            return Plan(time, confirmable_now, future.blockers(want.az), 0, unplaced)
    missing = tally.missing(want.az, want.project, want.amount)
    return Plan(None, confirmable_now, future.blockers(want.az), missing, unplaced or future.held_back(want.az))


class _Future:
    """What becomes of all commitments, from one time at which something happens to the next."""

    def __init__(self, tally: Tally, live: Sequence[Commitment], now: float) -> None:
        moved = [one for one in (advance(one, now) for one in live) if one.is_live]
        self.tally = tally
        self._ended: list[Commitment] = []
        """Those that were confirmed, in the order of their ends."""
        self._falls_short_overall = False
        self._confirmed = {one.id: one for one in moved if one.is_confirmed}
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

    def fits(self, want: Want) -> bool:
        """Whether it is our turn."""
        claims, increase = self.tally.claims, self.tally.increase(want.az, want.project, want.amount)
        self._falls_short_overall |= claims.unplaced > 0 and increase > claims.room_overall
        return self.tally.allows(want.az, want.project, want.amount)

    def held_back(self, az: str) -> int:
        """What is used in AZs that are not known, if it leaves less than the AZ has by itself."""
        claims = self.tally.claims
        return claims.unplaced if claims.holds_back(az) else 0

    def blockers(self, az: str) -> tuple[Commitment, ...]:
        """Which of those that have ended were in our way."""
        place = self.tally.claims.place
        return tuple(one for one in self._ended if self._falls_short_overall or place(one.az) == place(az))

    def go_on_to(self, time: float) -> None:
        """Lets happen what happens at that time: ends first, then those that wait are served."""
        freed = False
        for one in self._ends.get(time, ()):
            self._waiting.pop(one.id, None)
            confirmed = self._confirmed.pop(one.id, None)
            if confirmed is not None:
                freed = True
                self.tally.add(one.az, one.project_id, -one.amount)
                self._ended.append(confirmed)
        begun = [one for one in self._begins.get(time, ()) if one.expires_at > time]
        # without an end there is no more room than before, so those that have waited need not be asked again
        self._serve([*self._waiting.values(), *begun] if freed else begun)

    def _serve(self, waiting: list[Commitment]) -> None:
        self._waiting |= {one.id: one for one in waiting}
        for one in self.tally.take(waiting):
            self._confirmed[one.id] = self._waiting.pop(one.id)
