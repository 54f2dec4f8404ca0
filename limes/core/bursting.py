"""Quota bursting: how far a project may go above its quota for a while.

Source: the API document, "Quota bursting": usable_quota = (1 + bursting_multiplier) * quota.
"""

from fractions import Fraction

from limes.core.units import MAX_AMOUNT


def usable_quota(quota: int, multiplier: float) -> int:
    """What the backend is told: the quota, raised by the multiplier (0 without bursting), rounded down. Not more than
    the largest amount there is."""
    if not multiplier:
        return quota
    # as written in the configuration: in binary floating point 1.1 * 10 would be below 11 for some values
    return min(int((1 + Fraction(str(multiplier))) * quota), MAX_AMOUNT)


def burst_usage(usage: int, quota: int) -> int:
    """The part of the usage that exceeds the granted quota."""
    return max(usage - quota, 0)
