"""Capacity of Cinder's pools."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from limes import backends
from limes_plugins.openstack.client import ServiceClient
from limes_plugins.openstack.reports import capabilities_of, subcapacity, zones_of
from limes_plugins.volume.service import CinderCapacityParams, resource_name


class CinderCapacity(backends.CapacityBackend):
    """Two requests: the pools, and the services, which say in which AZ a pool is."""

    def __init__(self, params: CinderCapacityParams, context: backends.BackendContext) -> None:
        self._params = params
        self._client = ServiceClient(context, params, name="Cinder", service_type="block-storage")
        self._names = {
            resource_name("capacity", type_, is_first=volume_type.default): volume_type.volume_backend_name
            for type_, volume_type in params.volume_types.items()
        }

    def resources(self) -> Collection[backends.Ref]:
        """Returns those of the configured types."""
        return [(self._params.service, name) for name in self._names]

    def report_capacity(self) -> backends.CapacityReport:
        """Returns sums over pools. A type without any pool has no capacity."""
        zones = self._zones()
        pools = list(self._client.pages("/scheduler-stats/get_pools", "pools", {"detail": "true"}))
        resources = {}
        for name, backend in self._names.items():
            per_az: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for pool in pools:
                if capabilities_of(pool).get("volume_backend_name") == backend:
                    shown = _subcapacity(pool, zones)
                    per_az[shown["az"]].append(shown)
            resources[name] = {az: self._sum(shown) for az, shown in sorted(per_az.items())}
        return backends.CapacityReport({self._params.service: resources})

    def _sum(self, pools: list[dict[str, Any]]) -> backends.AZCapacity:
        counted = [pool for pool in pools if not pool["exclusion_reason"]]
        return backends.AZCapacity(
            sum(pool["capacity_gib"] for pool in counted),
            sum(pool["usage_gib"] for pool in counted),
            tuple(pools) if self._params.with_subcapacities else (),
        )

    def _zones(self) -> Mapping[str, str]:
        """Returns the AZ of each `host@backend`."""
        services = self._client.pages("/os-services", "services", {"binary": "cinder-volume"})
        return zones_of(services)


def _subcapacity(pool: Mapping[str, Any], zones: Mapping[str, str]) -> dict[str, Any]:
    attributes = capabilities_of(pool).get("custom_attributes") or {}
    return subcapacity(pool, zones, "cinder_state", attributes.get("cinder_state"))
