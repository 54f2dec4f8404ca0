"""How a project's usage in one AZ has moved recently, kept small: the smallest and largest usage are exact.

Only changes are kept. An entry stands for all changes since the entry before: it has the smallest and the largest usage
around them, and the time of the last one. There is at most one entry for each 48th of the retention period, and none
whose figures lie within those of a later one: it can never be what decides.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

_SLOTS = 48


class UsageChange(NamedTuple):
    """What usage was just before, and just after, the changes until `at` (seconds since the epoch)."""

    at: float
    smallest: int
    largest: int


def add_change(
    changes: Iterable[UsageChange], at: float, before: int, after: int, retention: float
) -> list[UsageChange]:
    """Returns the changes with one more, and without those from before the retention period (in seconds), or from a
    clock that was ahead by more than a slot: they would count for too long."""
    smallest, largest = min(before, after), max(before, after)
    slot = retention / _SLOTS
    kept = [change for change in changes if at - retention <= change.at <= at + slot]
    while kept and kept[-1].at // slot >= at // slot:  # or the clock of another host is a little ahead
        last = kept.pop()
        smallest, largest = min(smallest, last.smallest), max(largest, last.largest)
    kept = [change for change in kept if change.smallest < smallest or change.largest > largest]
    return [*kept, UsageChange(at, smallest, largest)]


def recent_range(changes: Sequence[UsageChange], usage: int, now: float, retention: float) -> tuple[int, int]:
    """Returns the smallest and the largest usage within the retention period, given the present one. What a clock has
    written that was ahead by more than a slot does not count."""
    smallest = largest = usage
    since, until = now - retention, now + retention / _SLOTS
    for at, low, high in reversed(changes):
        if at < since:
            break
        if at > until:
            continue
        smallest = low if low < smallest else smallest
        largest = high if high > largest else largest
    return smallest, largest
