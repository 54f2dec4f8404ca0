"""A backend's quota: a number or "unlimited", which is a value of its own type and not a magic number."""

import enum


class Unlimited(enum.Enum):
    """The type of the one value `UNLIMITED`. Compare with `is`."""

    UNLIMITED = "unlimited"

    def __repr__(self) -> str:
        return "unlimited"


UNLIMITED = Unlimited.UNLIMITED

BackendQuota = int | Unlimited
"""What a backend enforces: an amount in the resource's unit, or `UNLIMITED`."""

_STORED_UNLIMITED = -1


def to_stored(quota: BackendQuota) -> int:
    """The number that stands for the quota in the database."""
    return _STORED_UNLIMITED if isinstance(quota, Unlimited) else quota


def from_stored(number: int) -> BackendQuota:
    """The quota for which a number in the database stands."""
    return UNLIMITED if number < 0 else number
