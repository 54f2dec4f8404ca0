"""A backend's quota: a number or "unlimited", which is a value of its own type and not a magic number."""

import enum

from limes.core.units import MAX_AMOUNT


class Unlimited(enum.Enum):
    """The type of the one value `UNLIMITED`. Compare with `is`."""

    UNLIMITED = "unlimited"

    def __repr__(self) -> str:
        return "unlimited"


UNLIMITED = Unlimited.UNLIMITED

BackendQuota = int | Unlimited
"""What a backend enforces: an amount in the resource's unit, or `UNLIMITED`."""

_STORED_UNLIMITED = -1


def limited(number: int) -> BackendQuota:
    """The quota that a backend means by a number from 0: 2^63-1 and the like say that there is none."""
    return UNLIMITED if number > MAX_AMOUNT else number


def to_stored(quota: BackendQuota) -> int:
    """The number that stands for the quota in the database."""
    return _STORED_UNLIMITED if isinstance(quota, Unlimited) else quota


def from_stored(number: int) -> BackendQuota:
    """The quota for which a number in the database stands."""
    return UNLIMITED if number < 0 else number


def is_forbidden(max_backend_quota: int | None) -> bool:
    """Whether a backend with this largest quota (None: it does not say) does not let the project have the resource."""
    return max_backend_quota == 0
