"""Capacity: from the raw capacity of a backend to what may be given out."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from limes.core.catalog import Ref
from limes.core.units import Unit


def effective(raw_capacity: int, overcommit_factor: float) -> int:
    """Returns the raw capacity times the overcommit factor (0: no overcommit), rounded down."""
    if not overcommit_factor:
        return raw_capacity
    return int(raw_capacity * Fraction(str(overcommit_factor)))


def effective_total(raw_capacities: Iterable[int], overcommit_factor: float) -> int:
    """Returns the total over AZs. The raw sum is what is rounded, so it can exceed the sum of the AZs' rounded values.
    Source: the original (100 and 101 times 1.5 are shown as 150 and 151, in total 301)."""
    return effective(sum(raw_capacities), overcommit_factor)


def falls(kept: Mapping[str, int], reported: Mapping[str, int], tolerated: int) -> bool:
    """Returns whether capacity by AZ is missing where there was some, or has become less by more than so many percent.
    Each AZ counts by itself: what is missing in one is not made up for by more in another one."""
    least = 100 - tolerated
    return any(amount and (az not in reported or 100 * reported[az] < least * amount) for az, amount in kept.items())


def beyond_capacity(ref: Ref, unit: Unit, domains_quota: int, capacity: int) -> str | None:
    """Returns the warning where all domains together have more quota than there is capacity (0: none is known)."""
    if not capacity or domains_quota <= capacity:
        return None
    return (
        f"the quotas of all domains for {ref[0]}/{ref[1]} add up to {unit.render(domains_quota)}, but the capacity is"
        f" {unit.render(capacity)}: not all of it can be used at the same time"
    )
