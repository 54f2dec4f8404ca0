"""Quota: what a backend enforces, what a project may use with bursting, the tag of all quotas, and preset sizes."""

import enum
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import orjson

from limes.core.catalog import Ref
from limes.core.units import MAX_AMOUNT


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
    """Returns the quota that a backend means by a number from 0. Numbers such as 2^63-1 mean "unlimited"."""
    return UNLIMITED if number > MAX_AMOUNT else number


def to_stored(quota: BackendQuota) -> int:
    """Returns the number that stands for the quota in the database."""
    return _STORED_UNLIMITED if isinstance(quota, Unlimited) else quota


def is_forbidden(max_backend_quota: int | None) -> bool:
    """Returns whether the largest quota that the backend accepts (None: unknown) forbids the project the resource."""
    return max_backend_quota == 0


# -- bursting ----------------------------------------------------------------------------------------------------------


def usable_quota(quota: int, multiplier: float) -> int:
    """Returns the quota with bursting, which the backend is told: (1 + multiplier) times the quota.

    Rounded down, and at most the largest amount. The multiplier is 0 without bursting. Source: the API document, "Quota
    bursting".
    """
    if not multiplier:
        return quota
    # as written in the configuration: in binary floating point 1.1 * 10 would be below 11 for some values
    return min(int((1 + Fraction(str(multiplier))) * quota), MAX_AMOUNT)


def burst_usage(usage: int, quota: int) -> int:
    """Returns the part of the usage that exceeds the granted quota."""
    return max(usage - quota, 0)


# -- the tag -----------------------------------------------------------------------------------------------------------


def quota_tag(
    quotas: Mapping[Ref, int],
    *,
    bursting: bool | None = None,
    bounds: Mapping[Ref, tuple[int | None, int | None, bool]] | None = None,
) -> str:
    """Returns a short name of all quotas and bursting of a domain or project, by which clients notice a change.

    For quota that grows by itself, `bounds` are what counts: its largest and smallest value, and whether growth is
    forbidden.

    Equal for equal quotas and bursting, different for different ones. Usage and scrapes do not change it.

    It is made from the values, and not from a counter of changes, so it cannot drift, and a restored database cannot
    show an old tag for new quotas. `bursting` is None on the level of domains.
    """
    values: list[object] = [bursting, *([*ref, quotas[ref]] for ref in sorted(quotas))]
    values += [[*ref, *found] for ref, found in sorted((bounds or {}).items())]
    return hashlib.blake2b(orjson.dumps(values), digest_size=12).hexdigest()


# -- preset sizes ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuotaSet:
    """One size. Domains and projects have the same ones."""

    name: str
    description: str
    quotas: Mapping[Ref, int]
    """In the units of the resources."""
