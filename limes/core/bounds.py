"""Which quotas would be acceptable now. The decision itself is asked, so the two cannot disagree."""

from collections.abc import Callable
from dataclasses import dataclass

from limes.core.hierarchy import Bounding, Refusal, RefusalKind
from limes.core.units import MAX_AMOUNT

Judge = Callable[[int], Refusal | None]
"""`limes.core.hierarchy.judge` with everything but the quota filled in."""

NO_LESS = Refusal(RefusalKind.INVALID, "there is no quota below zero", minimum=0, rule=Bounding.AMOUNT)
NO_MORE = Refusal(RefusalKind.INVALID, "this is the largest amount there is", maximum=MAX_AMOUNT, rule=Bounding.AMOUNT)


@dataclass(frozen=True, slots=True)
class Bound:
    """The smallest or largest acceptable quota, and the refusal of the next one beyond it."""

    quota: int
    because: Refusal


@dataclass(frozen=True, slots=True)
class Bounds:
    """The range of acceptable quotas. The present quota is always one of them."""

    minimum: Bound
    maximum: Bound


def bounds(present: int, judge: Judge) -> Bounds:
    """Returns the smallest and the largest acceptable quota. Not everything in between needs to be acceptable."""
    smallest, largest = lowest(0, present, judge), _highest(present, judge)
    return Bounds(
        Bound(smallest, (judge(smallest - 1) if smallest > 0 else None) or NO_LESS),
        Bound(largest, (judge(largest + 1) if largest < MAX_AMOUNT else None) or NO_MORE),
    )


def _highest(present: int, judge: Judge) -> int:
    """Goes down from the largest amount, from each refusal to the maximum that it names."""
    candidate = MAX_AMOUNT
    while candidate > present:
        refusal = judge(candidate)
        if refusal is None:
            return candidate
        if refusal.maximum is None or refusal.maximum >= candidate:  # nothing above the present quota is acceptable
            break
        candidate = refusal.maximum
    return present


def lowest(start: int, present: int, judge: Judge) -> int:
    """Returns the smallest acceptable quota from `start` on; the present quota if nothing below it is."""
    candidate = start
    while candidate < present:
        refusal = judge(candidate)
        if refusal is None:
            return candidate
        if refusal.minimum is None or refusal.minimum <= candidate:
            break
        candidate = refusal.minimum
    return present
