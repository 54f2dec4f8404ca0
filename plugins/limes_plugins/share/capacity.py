"""Capacity of Manila's pools. Source of the formulas: the original's capacitor."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from limes import backends
from limes_plugins.openstack.reports import capabilities_of, resource_name, subcapacity, zones_of
from limes_plugins.share.params import ManilaCapacityParams, ShareType, manila_client
from limes_plugins.share.service import KEYS


class ManilaCapacity(backends.CapacityBackend):
    """One request for each share type, and two for where pools are and how many share networks there are."""

    def __init__(self, params: ManilaCapacityParams, context: backends.BackendContext) -> None:
        self._params = params
        self._client = manila_client(params, context)

    def resources(self) -> Collection[backends.Ref]:
        """Returns those of the configured types."""
        return [(self._params.service, self._name(kind, type_)) for type_ in self._params.share_types for kind in KEYS]

    def report_capacity(self) -> backends.CapacityReport:
        """Returns sums over pools, which are split between shares and snapshots by `capacity_balance`."""
        services = self._client.get("/services", {"binary": "manila-share"}).get("services") or []
        zones = zones_of(services)
        query = {"all_tenants": "1", "limit": 1000}
        networks = len(self._client.offset_pages("/share-networks/detail", "share_networks", query))
        resources: dict[str, Mapping[str, backends.AZCapacity]] = {}
        for type_ in self._params.share_types:
            pools = self._pools(type_, zones)
            counted = sum(not pool["exclusion_reason"] for pool in pools)
            by_az: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for pool in pools:
                by_az[pool["az"]].append(pool)
            for kind in KEYS:
                resources[self._name(kind, type_)] = {
                    az: self._of_az(kind, some, networks / counted if counted else 0)
                    for az, some in sorted(by_az.items())
                }
        return backends.CapacityReport({self._params.service: resources})

    def _of_az(self, kind: str, pools: list[dict[str, Any]], networks_per_pool: float) -> backends.AZCapacity:
        counted = [pool for pool in pools if not pool["exclusion_reason"]]
        # each share network takes the place of a share
        shares = max(0, math.floor(len(counted) * (self._params.shares_per_pool - networks_per_pool)))
        if kind == "shares":
            return backends.AZCapacity(shares)
        if kind == "share_snapshots":
            return backends.AZCapacity(shares * self._params.snapshots_per_share)
        balance = self._params.capacity_balance
        part = (1 if kind == "share_capacity" else balance) / (1 + balance)
        shown = [
            pool
            | {"capacity_gib": math.floor(pool["capacity_gib"] * part)}
            | {"usage_gib": math.ceil(pool["usage_gib"] * part)}
            for pool in pools
        ]
        total = math.floor(sum(pool["capacity_gib"] for pool in counted) * part)
        used = math.ceil(sum(pool["usage_gib"] for pool in counted) * part)
        return backends.AZCapacity(total, used, tuple(shown) if self._params.with_subcapacities else ())

    def _pools(self, share_type: ShareType, zones: Mapping[str, str]) -> list[dict[str, Any]]:
        """Returns the pools for shares of a type, as subcapacities; each once, whatever it is called there."""
        pools: dict[str, dict[str, Any]] = {}
        for name in sorted(share_type.manila_names):
            document = self._client.get("/scheduler-stats/pools/detail", {"share_type": name})
            for pool in document.get("pools") or []:
                state = capabilities_of(pool).get("hardware_state")
                shown = subcapacity(pool, zones, "hardware_state", state)
                pools[shown["pool_name"]] = shown
        return [pools[name] for name in sorted(pools)]

    def _name(self, kind: str, share_type: ShareType) -> str:
        return resource_name(kind, share_type.name, is_first=share_type == self._params.share_types[0])
