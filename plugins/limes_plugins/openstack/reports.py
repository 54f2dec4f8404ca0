"""What several plugins do alike: lists that are kept for a moment, parts of reports, Nova's host aggregates.

What one request (or one list) says of all projects at once is kept, so that a round through thousands of projects costs
requests in proportion to the pages of the list. A scrape that comes within `max_age` seconds after the list was asked
for takes its part of it; the figures are no older than that.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct, structs

from limes import backends
from limes_plugins.openstack.client import ServiceClient

T = TypeVar("T")


class Snapshot(Generic[T]):
    """Safe to use from many threads: one of them loads, the others wait for what it gets."""

    def __init__(self, load: Callable[[], T], max_age: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`max_age` in seconds; with 0 each call loads again."""
        self._load = load
        self._max_age = max_age
        self._clock = clock
        self._lock = threading.Lock()
        self._loaded: tuple[float, T] | None = None

    def get(self, at_most: float | None = None) -> T:
        """Returns what was loaded not more than `max_age` seconds ago, or `at_most` seconds if that is less. Errors of
        `load` go to the caller, and are not kept."""
        max_age = self._max_age if at_most is None else min(self._max_age, at_most)
        if max_age <= 0:
            return self._load()
        with self._lock:
            started = self._clock()
            if self._loaded is None or started - self._loaded[0] > max_age:
                self._loaded = None
                self._loaded = (started, self._load())
            return self._loaded[1]


_CLOSED = ("drain", "reserved")
"""States of pools in which nothing new is put."""


class FixedService(backends.QuotaBackend):
    """A service that is fully described by the configuration."""

    def __init__(
        self, context: backends.BackendContext, area: str, definitions: Iterable[backends.ResourceDef]
    ) -> None:
        self._service = backends.ServiceDef(context.name, area, {each.name: each for each in definitions})

    def describe(self) -> backends.ServiceDef:
        return self._service


class Counted(Struct, frozen=True):
    """One resource, and what the service calls it."""

    definition: backends.ResourceDef
    key: str
    """The service's name for it, in its quotas."""


class CountedService(FixedService):
    """A service that counts what a project has of each resource."""

    def __init__(
        self,
        context: backends.BackendContext,
        area: str,
        counted: Iterable[Counted],
        billed: Mapping[str, tuple[str, ...]],
        others: Iterable[backends.ResourceDef] = (),
    ) -> None:
        """`billed` has the resources with subresources, by name, with the attributes that their price may depend on."""
        self._resources: dict[str, Counted] = {}
        for resource in counted:
            name = resource.definition.name
            definition = structs.replace(resource.definition, billed_attributes=billed.get(name, ()))
            self._resources[name] = Counted(definition, resource.key)
        super().__init__(context, area, [*(each.definition for each in self._resources.values()), *others])

    def _report(
        self,
        usage: Mapping[str, int],
        quotas: Mapping[str, backends.BackendQuota],
        subresources: Mapping[str, Sequence[Mapping[str, Any]]],
    ) -> backends.UsageReport:
        """`usage` and `quotas` are by the service's names, and complete; `subresources` by the names of resources."""
        resources = {}
        for name, resource in self._resources.items():
            az = backends.AZUsage(usage[resource.key], subresources=tuple(subresources.get(name, ())))
            resources[name] = backends.ResourceUsage({backends.ANY_AZ: az}, quotas[resource.key])
        return backends.UsageReport(resources)


def within(total: int, used: Mapping[str, int], rest_in: str = backends.UNKNOWN_AZ) -> dict[str, int]:
    """Returns the parts, so that their sum is the total: what they don't explain is in the AZ `rest_in`. If they are
    more than the total, those in `rest_in` count last."""
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
    return {str(service.get("host")): str(service.get("zone") or backends.UNKNOWN_AZ) for service in services}


def capabilities_of(pool: Any) -> Mapping[str, Any]:
    """Returns what a pool says of itself. Raises `BackendError` if it is none."""
    capabilities = pool.get("capabilities") if isinstance(pool, dict) else None
    if not isinstance(capabilities, dict) or not isinstance(pool.get("name"), str):
        raise backends.BackendError("an entry of the scheduler's pools has no name or no capabilities")
    return capabilities


def subcapacity(pool: Mapping[str, Any], zones: Mapping[str, str], state_name: str, state: Any) -> dict[str, Any]:
    """Returns the pool as a subcapacity. It is left out of sums if it has an `exclusion_reason`. `state` is whether new
    volumes or shares are put there, by the service's name for it."""
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


class HostAggregate(Struct, frozen=True):
    name: str
    uuid: str
    """Also that of the aggregate in Placement, into which Nova puts the providers of its hosts. Empty if Nova is asked
    below microversion 2.41."""
    az: str
    """Empty if it makes no AZ."""
    hosts: frozenset[str]


def host_aggregates(client: ServiceClient) -> list[HostAggregate]:
    """Returns all of them, by one request. Raises `BackendError`."""
    aggregates = client.get("/os-aggregates").get("aggregates")
    if not isinstance(aggregates, list) or not all(_has_hosts(aggregate) for aggregate in aggregates):
        raise backends.BackendError("GET /os-aggregates: expected a list 'aggregates' of objects with 'hosts'")
    return [
        HostAggregate(
            str(aggregate.get("name")),
            str(aggregate.get("uuid") or ""),
            str(aggregate.get("availability_zone") or ""),
            frozenset(map(str, aggregate["hosts"])),
        )
        for aggregate in aggregates
    ]


def _has_hosts(aggregate: Any) -> bool:
    return isinstance(aggregate, dict) and isinstance(aggregate.get("hosts"), list)
