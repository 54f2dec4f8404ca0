"""What to commit to: when a commitment could be confirmed, and how much of them projects use.

The former is a forecast by today's capacity, usage and ends of commitments: others may commit meanwhile.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

from msgspec import Struct

from limes.commitments.claims import Tally
from limes.commitments.commitment import Commitment, Status, advance
from limes.kernel import calendar, units


class Demand(Struct, frozen=True):
    """The amount that a project wants in an AZ, not before `earliest` (seconds since the epoch)."""

    az: str
    project: int
    amount: int
    earliest: float = 0.0


class Plan(Struct, frozen=True):
    confirmable_at: float | None
    """In seconds since the epoch; None if no time can be foreseen."""
    confirmable_now: int
    blockers: tuple[Commitment, ...]
    """Confirmed commitments that have to end before, in the order of their ends. Ones that end meanwhile and make no
    room where it is missing are not among them."""
    missing: int
    """How much capacity is missing once all of these have ended; 0 if a time was found."""
    unplaced: int = 0
    """Usage in no known AZ, if it leaves less room than the AZ has by itself, now or later."""


def make_plan(tally: Tally, live: Sequence[Commitment], want: Demand, now: float) -> Plan:
    """Simulates the future: whenever a commitment ends or becomes due, the queue is served first, and then `want`.
    `live` are all live commitments to one resource. `tally` has the shares of all of their projects; it is modified."""
    future = _Future(tally, live, want, now)
    confirmable_now = tally.committable_by(want.az, want.project)
    unplaced = future.unplaced()
    if want.earliest <= now and future.missing() == 0:
        return Plan(now, confirmable_now, (), 0, unplaced)
    for time in sorted({*future.times(), *({want.earliest} if want.earliest > now else ())}):
        future.advance_to(time)
        if time >= want.earliest and future.missing() == 0:
            return Plan(time, confirmable_now, tuple(future.blockers), 0, unplaced)
    return Plan(None, confirmable_now, tuple(future.blockers), future.missing(), unplaced or future.unplaced())


def advise(plan: Plan, unit: units.Unit) -> str:
    """Returns what would work if not all of it is possible at once."""
    parts = [f"{unit.render(plan.confirmable_now)} could be confirmed now"] if plan.confirmable_now else []
    if plan.confirmable_at is None:
        parts.append(f"for all of it, capacity for {unit.render(plan.missing)} is missing in the foreseeable future")
    else:
        date = calendar.render_time(ceil(plan.confirmable_at))
        parts.append(f"all of it from {date} on, as far as can be foreseen: ask for it with that time as confirm_by")
    return "; ".join(parts)


class _Future:
    def __init__(self, tally: Tally, live: Sequence[Commitment], want: Demand, now: float) -> None:
        present = [each for each in (advance(each, now) for each in live) if each.is_live]
        self.tally = tally
        self.blockers: list[Commitment] = []
        """Confirmed ones whose end has made room for `want`, in the order of their ends."""
        self._want = want
        self._confirmed = {each.id: each for each in present if each.is_confirmed}
        self._waiting: dict[int, Commitment] = {}
        self._ends: dict[float, list[Commitment]] = defaultdict(list)
        self._begins: dict[float, list[Commitment]] = defaultdict(list)
        for commitment in present:
            self._ends[commitment.expires_at].append(commitment)
            if commitment.status is Status.PLANNED and commitment.confirm_by is not None:
                self._begins[commitment.confirm_by].append(commitment)
        self._serve([each for each in present if each.status is Status.PENDING])

    def times(self) -> set[float]:
        return {*self._ends, *self._begins}

    def missing(self) -> int:
        """Returns how much capacity `want` is short of at this time; 0 if it could be confirmed."""
        return self.tally.missing(self._want.az, self._want.project, self._want.amount)

    def unplaced(self) -> int:
        claims = self.tally.claims
        return claims.unplaced if claims.holds_back(self._want.az) else 0

    def advance_to(self, time: float) -> None:
        """Ends what ends at that time, and then serves the queue."""
        has_freed = False
        for commitment in self._ends.get(time, ()):
            self._waiting.pop(commitment.id, None)
            confirmed = self._confirmed.pop(commitment.id, None)
            if confirmed is not None:
                has_freed = True
                before = self.missing()
                self.tally.add(commitment.az, commitment.project_id, -commitment.amount)
                if self.missing() < before:
                    self.blockers.append(confirmed)
        started = [commitment for commitment in self._begins.get(time, ()) if commitment.expires_at > time]
        # if nothing has ended, the ones that waited before do not fit now either
        self._serve([*self._waiting.values(), *started] if has_freed else started)

    def _serve(self, waiting: list[Commitment]) -> None:
        self._waiting |= {commitment.id: commitment for commitment in waiting}
        for commitment in self.tally.confirm_in_turn(waiting):
            self._confirmed[commitment.id] = self._waiting.pop(commitment.id)


# -- use ---------------------------------------------------------------------------------------------------------------


class DayOfUse(NamedTuple):
    """One day (UTC, in days since the epoch) of a project's resource in one AZ. Sums are over several samples; averages
    are rounded down."""

    day: int
    looks: int
    usage_sum: int
    usage_min: int
    usage_max: int
    committed_sum: int

    @property
    def usage(self) -> int:
        return self.usage_sum // self.looks

    @property
    def committed(self) -> int:
        return self.committed_sum // self.looks

    @property
    def unused(self) -> int:
        return max(0, self.committed - self.usage)


def recommended_amount(days: Mapping[int, DayOfUse], today: int) -> int:
    """Returns the largest amount that was in use all day long on nine days out of ten, since the first known day. A
    missing day is one without usage."""
    if not days:
        return 0
    minima = sorted(days[day].usage_min if day in days else 0 for day in range(min(days), today + 1))
    return minima[len(minima) // 10] if minima else 0
