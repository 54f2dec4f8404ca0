"""Storage pools, as the schedulers of Cinder and Manila report them."""

from collections.abc import Iterable, Mapping
from typing import Any

from limes.backends import UNKNOWN_AZ, BackendError

_CLOSED = ("drain", "reserved")
"""States of pools in which nothing new is put."""


def zones_of(services: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The AZ of each `host@backend`."""
    return {str(one.get("host")): str(one.get("zone") or UNKNOWN_AZ) for one in services}


def capabilities_of(pool: Any) -> Mapping[str, Any]:
    """What a pool says of itself. Raises `BackendError` if it is none."""
    capabilities = pool.get("capabilities") if isinstance(pool, dict) else None
    if not isinstance(capabilities, dict) or not isinstance(pool.get("name"), str):
        raise BackendError("an entry of the scheduler's pools has no name or no capabilities")
    return capabilities


def subcapacity(pool: Mapping[str, Any], zones: Mapping[str, str], state_name: str, state: Any) -> dict[str, Any]:
    """The pool as a subcapacity. It is left out of sums if it has an `exclusion_reason`.

    `state` is whether new volumes or shares are put there, by the service's name for it.
    """
    capabilities = capabilities_of(pool)
    capacity, used, reason = 0, 0, ""
    try:
        capacity = int(float(capabilities.get("total_capacity_gb", "missing")))
        used = int(float(capabilities.get("allocated_capacity_gb") or 0))
    except (ValueError, OverflowError, TypeError):
        reason = f"total_capacity_gb is {capabilities.get('total_capacity_gb')!r}"
    if state in _CLOSED:
        reason = f"{state_name} is {state!r}"
    return {
        "pool_name": pool["name"],
        "az": zones.get(pool["name"].partition("#")[0], UNKNOWN_AZ),
        "capacity_gib": capacity,
        "usage_gib": used,
        "exclusion_reason": reason,
    }
