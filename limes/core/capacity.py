"""Capacity: from what a backend has to what may be given out."""

from collections.abc import Iterable
from fractions import Fraction


def effective(raw_capacity: int, overcommit_factor: float) -> int:
    """The raw capacity times the overcommit factor (0: no overcommit), rounded down."""
    if not overcommit_factor:
        return raw_capacity
    return int(raw_capacity * Fraction(str(overcommit_factor)))


def effective_total(raw_capacities: Iterable[int], overcommit_factor: float) -> int:
    """The total over AZs. The raw sum is what is rounded, so it can exceed the sum of the AZs' rounded values.

    Source: the original (100 and 101 times 1.5 are shown as 150 and 151, in total 301).
    """
    return effective(sum(raw_capacities), overcommit_factor)
