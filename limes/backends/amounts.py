"""Quota as backends enforce it: an amount, or no limit."""

import enum

from limes.kernel.units import MAX_AMOUNT


class Unlimited(enum.Enum):
    """A backend's quota that is no number: the type of the one value `UNLIMITED`. Compare with `is`."""

    UNLIMITED = "unlimited"

    def __repr__(self) -> str:
        return "unlimited"


UNLIMITED = Unlimited.UNLIMITED

BackendQuota = int | Unlimited
"""What a backend enforces: an amount in the resource's unit, or `UNLIMITED`."""

_STORED_UNLIMITED = -1


def limited(number: int) -> BackendQuota:
    """Returns what a backend means by a number from 0: those such as 2^63-1 mean "unlimited"."""
    return UNLIMITED if number > MAX_AMOUNT else number


def to_stored(quota: BackendQuota) -> int:
    """Returns the number that stands for the quota in the database."""
    return _STORED_UNLIMITED if isinstance(quota, Unlimited) else quota


def is_forbidden(max_backend_quota: int | None) -> bool:
    """Returns whether the largest quota that the backend accepts (None: unknown) forbids the project the resource."""
    return max_backend_quota == 0
