"""How a project's usage in one AZ has moved of late, kept small: the smallest and largest usage are exact.

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
    """Returns the changes with one more, and without those from before the retention period (in seconds)."""
    smallest, largest = min(before, after), max(before, after)
    kept = [change for change in changes if change.at >= at - retention]
    slot = retention / _SLOTS
    if kept and kept[-1].at // slot >= at // slot:  # or a clock went back
        at, smallest, largest = (
            max(at, kept[-1].at),
            min(smallest, kept[-1].smallest),
            max(largest, kept[-1].largest),
        )
        kept.pop()
    kept = [change for change in kept if change.smallest < smallest or change.largest > largest]
    return [*kept, UsageChange(at, smallest, largest)]


def recent_range(changes: Sequence[UsageChange], usage: int, since: float) -> tuple[int, int]:
    """Returns the smallest and the largest usage since then, given the present one."""
    smallest = largest = usage
    for change in reversed(changes):
        if change.at < since:
            break
        smallest = min(smallest, change.smallest)
        largest = max(largest, change.largest)
    return smallest, largest
