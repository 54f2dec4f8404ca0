"""The smallest and largest usage of late, compared with a list of everything that usage has been."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limes.usage.recent import UsageChange, add_change, recent_range

RETENTION = 480.0
SLOT = 10.0

histories = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=120)
"""Seconds since the usage before, and usage."""


def naive_range(usages: Sequence[tuple[float, int]], since: float) -> tuple[int, int]:
    """Over all usage that there was at any time since then, as `(from when, usage)`."""
    ends = [at for at, _ in usages[1:]] + [float("inf")]
    seen = [usage for (_, usage), end in zip(usages, ends, strict=True) if end >= since]
    return min(seen), max(seen)


@given(histories, st.integers(0, 600))
def test_same_as_a_list_of_everything(steps: list[tuple[int, int]], later: int) -> None:
    """But for the length of a slot: what happened in one slot is forgotten together, with the last of it."""
    now, usages, changes = 1000.0, [(0.0, 7)], list[UsageChange]()
    for seconds, usage in steps:
        now += seconds
        if usage != usages[-1][1]:
            changes = add_change(changes, now, usages[-1][1], usage, RETENTION)
            usages.append((now, usage))
            assert len(changes) <= 49
            since = now - RETENTION
            smallest, largest = recent_range(changes, usage, now, RETENTION)
            exact, wider = naive_range(usages, since), naive_range(usages, since - SLOT)
            assert wider[0] <= smallest <= exact[0]
            assert exact[1] <= largest <= wider[1]
    since = now + later - RETENTION
    smallest, largest = recent_range(changes, usages[-1][1], now + later, RETENTION)
    exact, wider = naive_range(usages, since), naive_range(usages, since - SLOT)
    assert wider[0] <= smallest <= exact[0]
    assert exact[1] <= largest <= wider[1]


@given(histories)
def test_entries_are_ordered_and_apart(steps: list[tuple[int, int]]) -> None:
    now, usage, changes = 1000.0, 7, list[UsageChange]()
    for seconds, next_usage in steps:
        now += seconds
        changes = add_change(changes, now, usage, next_usage, RETENTION)
        usage = next_usage
    assert changes == sorted(changes)
    slots = [change.at // SLOT for change in changes]
    assert len(set(slots)) == len(slots)


@pytest.mark.parametrize(
    ("usages", "expected"),
    [
        ([5, 9], [(100, 5, 9)]),
        ([5, 9, 7], [(100, 5, 9), (200, 7, 9)]),
        ([5, 9, 3, 12], [(300, 3, 12)]),  # one that lies within a later one decides nothing
        ([50, 9, 8, 7], [(100, 9, 50), (200, 8, 9), (300, 7, 8)]),
    ],
)
def test_what_is_kept(usages: list[int], expected: list[tuple[int, int, int]]) -> None:
    changes: list[UsageChange] = []
    for number, (before, after) in enumerate(itertools.pairwise(usages), start=1):
        changes = add_change(changes, 100.0 * number, before, after, RETENTION)
    assert [tuple(change) for change in changes] == expected


def test_changes_of_one_slot_are_one_entry() -> None:
    first = add_change([], 101, 5, 9, RETENTION)
    assert add_change(first, 108, 9, 2, RETENTION) == [UsageChange(108, 2, 9)]
    assert add_change(first, 111, 9, 8, RETENTION) == [UsageChange(101, 5, 9), UsageChange(111, 8, 9)]


def test_the_old_is_dropped() -> None:
    changes = add_change([UsageChange(100, 1, 50)], 100 + RETENTION + 1, 9, 8, RETENTION)
    assert changes == [UsageChange(100 + RETENTION + 1, 8, 9)]
    assert recent_range(changes, 8, changes[0].at + RETENTION + 1, RETENTION) == (8, 8)


def test_a_clock_that_is_a_little_ahead_loses_nothing() -> None:
    """Two hosts may differ by some seconds."""
    changes = [UsageChange(155, 5, 9)]
    assert recent_range(changes, 9, 150, RETENTION) == (5, 9)
    assert add_change(changes, 150, 9, 11, RETENTION) == [UsageChange(150, 5, 11)]


def test_a_clock_that_was_far_ahead_is_forgotten() -> None:
    """Else its entries would count until that time has come."""
    changes = [UsageChange(100, 5, 7), UsageChange(10**6, 5, 250)]
    assert recent_range(changes, 7, 150, RETENTION) == (5, 7)
    assert add_change(changes, 150, 7, 8, RETENTION) == [UsageChange(100, 5, 7), UsageChange(150, 7, 8)]
