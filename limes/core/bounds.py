"""Which quotas would be acceptable now: found by asking the decision itself, so that the two cannot disagree."""

from collections.abc import Callable
from dataclasses import dataclass

from limes.core.hierarchy import Bounding, Refusal, RefusalKind
from limes.core.units import MAX_AMOUNT

Judge = Callable[[int], Refusal | None]
"""Whether a quota is acceptable: `judge_project` or `judge_domain` with everything but the quota given."""

NO_LESS = Refusal(RefusalKind.INVALID, "there is no quota below zero", minimum=0, rule=Bounding.AMOUNT)
NO_MORE = Refusal(RefusalKind.INVALID, "this is the largest amount there is", maximum=MAX_AMOUNT, rule=Bounding.AMOUNT)


@dataclass(frozen=True, slots=True)
class Bound:
    """The smallest or largest acceptable quota, and what would be said of one beyond it."""

    quota: int
    because: Refusal


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a quota can go from where it is. To stay there is always acceptable."""

    minimum: Bound
    maximum: Bound


def bounds(present: int, judge: Judge) -> Bounds:
    """The smallest and the largest acceptable quota. Not everything in between needs to be acceptable."""
    lowest, highest = _lowest(present, judge), _highest(present, judge)
    return Bounds(
        Bound(lowest, (judge(lowest - 1) if lowest > 0 else None) or NO_LESS),
        Bound(highest, (judge(highest + 1) if highest < MAX_AMOUNT else None) or NO_MORE),
    )


def _highest(present: int, judge: Judge) -> int:
    """From the top downwards, from each refusal to the maximum that it names."""
    candidate = MAX_AMOUNT
    while candidate > present:
        refusal = judge(candidate)
        if refusal is None:
            return candidate
        if refusal.maximum is None or refusal.maximum >= candidate:  # nothing above the present one will do
            break
        candidate = refusal.maximum
    return present


def _lowest(present: int, judge: Judge) -> int:
    candidate = 0
    while candidate < present:
        refusal = judge(candidate)
        if refusal is None:
            return candidate
        if refusal.minimum is None or refusal.minimum <= candidate:
            break
        candidate = refusal.minimum
    return present
