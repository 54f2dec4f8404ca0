"""Parts of reports that several plugins make alike."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from limes import backends

_CLOSED = ("drain", "reserved")
"""States of pools in which nothing new is put."""


class FixedService(backends.QuotaBackend):
    """A service of which the configuration says everything."""

    def __init__(
        self, context: backends.BackendContext, area: str, definitions: Iterable[backends.ResourceDef]
    ) -> None:
        self._service = backends.ServiceDef(
            context.name, area, {definition.name: definition for definition in definitions}
        )

    def describe(self) -> backends.ServiceDef:
        """Returns the resources, which are always the same."""
        return self._service


@dataclass(frozen=True, slots=True)
class Counted:
    """One resource, and what the service calls it."""

    definition: backends.ResourceDef
    key: str
    """The service's name for it, in its quotas."""


def by_name(resources: Iterable[Counted], billed: Mapping[str, tuple[str, ...]]) -> dict[str, Counted]:
    """Returns the resources by their names in Limes. `billed` has those with subresources, by the same names, with the
    attributes that their price may depend on."""
    return {
        (name := resource.definition.name): Counted(
            replace(resource.definition, billed_attributes=billed.get(name, ())), resource.key
        )
        for resource in resources
    }


def report(
    resources: Mapping[str, Counted],
    usage: Mapping[str, int],
    quotas: Mapping[str, backends.BackendQuota],
    subresources: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> backends.UsageReport:
    """Returns a report from usage and quota by the service's names, which have to be complete. `subresources` are by
    the names of resources."""
    listed = subresources or {}
    return backends.UsageReport(
        {
            name: backends.ResourceUsage(
                {backends.ANY_AZ: backends.AZUsage(usage[resource.key], subresources=tuple(listed.get(name, ())))},
                quotas[resource.key],
            )
            for name, resource in resources.items()
        }
    )


def within(total: int, used: Mapping[str, int], rest_in: str = backends.UNKNOWN_AZ) -> dict[str, int]:
    """Returns the parts, so that their sum is the total: what they don't explain is in the AZ `rest_in`.

    If they are more than the total, those in `rest_in` count last.
    """
    remaining = total
    parts: dict[str, int] = {}
    for az in sorted(used, key=lambda az: (az == rest_in, az)):
        parts[az] = min(used[az], remaining)
        remaining -= parts[az]
    if remaining:
        parts[rest_in] = parts.get(rest_in, 0) + remaining
    return parts


def resource_name(kind: str, type_: str, *, is_first: bool) -> str:
    """Such as `shares` and, for other types than the first one, `shares_ssd`."""
    return kind if is_first else f"{kind}_{type_}"


def zones_of(services: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Returns the AZ of each `host@backend`."""
    return {str(service.get("host")): str(service.get("zone") or backends.UNKNOWN_AZ) for service in services}


def capabilities_of(pool: Any) -> Mapping[str, Any]:
    """Returns what a pool says of itself. Raises `BackendError` if it is none."""
    capabilities = pool.get("capabilities") if isinstance(pool, dict) else None
    if not isinstance(capabilities, dict) or not isinstance(pool.get("name"), str):
        raise backends.BackendError("an entry of the scheduler's pools has no name or no capabilities")
    return capabilities


def subcapacity(pool: Mapping[str, Any], zones: Mapping[str, str], state_name: str, state: Any) -> dict[str, Any]:
    """Returns the pool as a subcapacity. It is left out of sums if it has an `exclusion_reason`.

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
        "az": zones.get(pool["name"].partition("#")[0], backends.UNKNOWN_AZ),
        "capacity_gib": capacity,
        "usage_gib": used,
        "exclusion_reason": reason,
    }
