"""Capacity of Nova's hypervisors, from their inventories in Placement.

Requests for one report: one for aggregates, one for each page of hypervisors and of flavors, two for each hypervisor in
a matching aggregate, and with `required_traits` or `with_subcapacities` one more for each.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from limes import backends
from limes_plugins.compute.params import flavor_resource
from limes_plugins.nova import hypervisors as nova
from limes_plugins.nova.hypervisors import CORES, DISK, RAM, Hypervisor, PackedFlavor, Room, pack
from limes_plugins.nova.params import NovaParams
from limes_plugins.openstack.client import ServiceClient, whole_number
from limes_plugins.placement.uses import placement_client


class _Stock(Struct, frozen=True):
    """What one hypervisor has, and what is used of it, by resource class."""

    hypervisor: Hypervisor
    capacity: Mapping[str, int]
    used: Mapping[str, int]
    traits: tuple[str, ...]


class NovaCapacity(backends.CapacityBackend):
    """Cores, RAM and instances. The user of Limes has to be an administrator in Nova and Placement."""

    def __init__(self, params: NovaParams, context: backends.BackendContext) -> None:
        self._params = params
        self._names = (params.pooled_cores_resource, params.pooled_instances_resource, params.pooled_ram_resource)
        # hypervisors have UUIDs since 2.53, flavors their extra specs since 2.61; running_vms is gone in 2.88
        self._nova = ServiceClient(
            context, params, name="Nova", service_type="compute", major=2, microversion="2.87", at_least="2.61"
        )
        self._placement = placement_client(params.placement, context)
        self._with_traits = params.with_subcapacities or bool(
            params.hypervisor_selection.required_traits or params.flavors
        )

    def needs_demand(self) -> Collection[backends.Ref]:
        """That for the flavors which are counted by themselves, and for what shares the hypervisors with them."""
        return self.resources() if self._params.flavors else ()

    def report_capacity(self) -> backends.CapacityReport:
        """As if nothing was demanded."""
        return self.report_capacity_for(backends.NO_DEMAND)

    def report_capacity_for(self, demand: backends.Demand) -> backends.CapacityReport:
        deadline = self._nova.deadline()
        hypervisors = nova.matching(self._nova, self._params.hypervisor_selection, deadline)
        flavors = list(self._nova.pages("/flavors/detail", "flavors", nova.ALL_FLAVORS, deadline))
        disk = nova.largest_disk(flavors, self._params.flavor_selection)
        by_az: dict[str, list[_Stock]] = defaultdict(list)
        for stock in self._placement.map(self._stock, hypervisors, deadline):
            if self._params.hypervisor_selection.accepts(stock.traits):
                by_az[stock.hypervisor.az].append(stock)
        zones = sorted(by_az.items())
        separate = nova.packed(flavors, self._params.flavors)
        counts = {az: self._pack(az, stocks, separate, demand) for az, stocks in zones}
        cores, instances, ram = self._names
        resources = {
            cores: {az: self._sum(stocks, CORES) for az, stocks in zones},
            instances: {az: self._instances(stocks, disk) for az, stocks in zones},
            ram: {az: self._sum(stocks, RAM) for az, stocks in zones},
        }
        for name in self._params.flavors:
            of_flavor = {az: backends.AZCapacity(count[name]) for az, count in counts.items()}
            resources[flavor_resource(name)] = of_flavor
        return backends.CapacityReport({self._params.service: resources})

    def resources(self) -> Collection[backends.Ref]:
        """Cores, instances and RAM, by their configured names, and those of single flavors."""
        return [(self._params.service, name) for name in (*self._names, *map(flavor_resource, self._params.flavors))]

    def _sum(self, stocks: list[_Stock], class_: str) -> backends.AZCapacity:
        return backends.AZCapacity(
            sum(stock.capacity.get(class_, 0) for stock in stocks),
            sum(stock.used.get(class_, 0) for stock in stocks),
            self._subcapacities(stocks, lambda stock: (stock.capacity.get(class_, 0), stock.used.get(class_, 0))),
        )

    def _instances(self, stocks: list[_Stock], disk: int) -> backends.AZCapacity:
        """Returns how many instances the AZ's aggregates may have, bounded by how often the largest flavor fits on the
        disks."""
        running = [stock.hypervisor.instances for stock in stocks]
        most = self._params.max_instances_per_aggregate
        return backends.AZCapacity(
            _fitting(stocks, disk, most * len({stock.hypervisor.aggregate for stock in stocks})),
            None if None in running else sum(count or 0 for count in running),
            self._subcapacities(stocks, lambda stock: (_fitting([stock], disk, most), stock.hypervisor.instances)),
        )

    def _subcapacities(
        self, stocks: list[_Stock], figures: Callable[[_Stock], tuple[int, int | None]]
    ) -> tuple[Mapping[str, Any], ...]:
        if not self._params.with_subcapacities:
            return ()
        return tuple(_subcapacity(stock, *figures(stock)) for stock in stocks)

    def _stock(self, hypervisor: Hypervisor) -> _Stock:
        where = f"hypervisor {hypervisor.name}"
        inventories = self._ask(hypervisor, "inventories")
        capacity = {class_: _capacity(one, f"{where}, {class_}") for class_, one in inventories.items()}
        usages = self._ask(hypervisor, "usages")
        used = {class_: whole_number(one, f"{where}: the usage of {class_}") for class_, one in usages.items()}
        traits = tuple(sorted(self._ask(hypervisor, "traits"))) if self._with_traits else ()
        return _Stock(hypervisor, capacity, used, traits)

    def _ask(self, hypervisor: Hypervisor, key: str) -> Any:
        path = f"/resource_providers/{hypervisor.uuid}/{key}"
        document = self._placement.find(path)
        if document is None:
            raise backends.BackendError(
                f"hypervisor {hypervisor.name} has no resource provider {hypervisor.uuid} in Placement"
            )
        if not isinstance(document.get(key), list if key == "traits" else dict):
            raise backends.BackendError(f"GET {path}: Placement's answer has no {key!r}")
        return document[key]

    def _pack(
        self, az: str, stocks: Sequence[_Stock], flavors: Sequence[PackedFlavor], demand: backends.Demand
    ) -> Mapping[str, int]:
        cores, _, ram = self._names
        pooled = {CORES: self._demand(demand, cores), RAM: self._demand(demand, ram)}
        wanted = {flavor.name: _demand_in(az, self._demand(demand, flavor_resource(flavor.name))) for flavor in flavors}
        # the demand for cores and RAM has that of the separate flavors in it
        others = {
            class_: _demand_in(az, pool).total
            - sum(wanted[each.name].total * each.needs.get(class_, 0) for each in flavors)
            for class_, pool in pooled.items()
        }
        # with cores and RAM overcommitted as Limes is configured to
        factors = {class_: pool.overcommit_factor or 1 for class_, pool in pooled.items()}
        rooms = [
            Room({name: int(amount * factors.get(name, 1)) for name, amount in stock.capacity.items()}, stock.traits)
            for stock in stocks
        ]
        return pack(rooms, flavors, wanted, others)

    def _demand(self, demand: backends.Demand, resource: str) -> backends.ResourceDemand:
        return demand.get((self._params.service, resource), backends.ResourceDemand())


def _fitting(stocks: list[_Stock], disk: int, most: int) -> int:
    """Hypervisors without disks of their own (their servers boot from volumes) set no bound."""
    disks = [stock.capacity[DISK] for stock in stocks if DISK in stock.capacity]
    return min(most, sum(disks) // disk) if disk and len(disks) == len(stocks) else most


def _capacity(inventory: Any, where: str) -> int:
    """Without the reserved part and without Placement's allocation ratio: overcommit is a matter of Limes."""
    if not isinstance(inventory, dict):
        raise backends.BackendError(f"{where}: this is no inventory: {inventory!r}")
    total = whole_number(inventory.get("total"), f"{where}: the total")
    return max(0, total - whole_number(inventory.get("reserved"), f"{where}: the reserved part"))


def _subcapacity(stock: _Stock, capacity: int, usage: int | None) -> Mapping[str, Any]:
    attributes = {
        "service_host": stock.hypervisor.host,
        "hypervisor_hostname": stock.hypervisor.name,
        "az": stock.hypervisor.az,
        "aggregate": stock.hypervisor.aggregate,
        "capacity": capacity,
        "usage": usage,
        "traits": list(stock.traits),
    }
    return {key: value for key, value in attributes.items() if value is not None}


def _demand_in(az: str, demand: backends.ResourceDemand) -> backends.AZDemand:
    return demand.per_az.get(az, backends.AZDemand())
