"""Capacity of the flavors whose servers are counted by themselves."""

from collections.abc import Iterable, Mapping, Sequence

from limes.backends import AZCapacity, AZDemand, Demand, ResourceDemand
from limes_plugins.compute.params import flavor_resource
from limes_plugins.nova.flavors import CORES, RAM, Flavor, packed
from limes_plugins.nova.packing import PackedFlavor, Room, pack
from limes_plugins.nova.params import NovaParams

Stock = tuple[Mapping[str, int], Iterable[str]]
"""What a hypervisor has, by resource class, and its traits."""


class SeparateFlavors:
    """The configured ones."""

    def __init__(self, params: NovaParams) -> None:
        self._params = params
        self._pooled = {CORES: params.pooled_cores_resource, RAM: params.pooled_ram_resource}
        self.resources = tuple(map(flavor_resource, params.flavors))
        """Their names in Limes."""

    def capacity(
        self, stocks: Mapping[str, Sequence[Stock]], flavors: Sequence[Flavor], demand: Demand
    ) -> dict[str, dict[str, AZCapacity]]:
        """By resource and AZ, of all hypervisors by AZ. `flavors` are Nova's. Raises `BackendError`."""
        separate = packed(flavors, self._params.flavors)
        counts = {az: self._pack(az, some, separate, demand) for az, some in stocks.items()}
        return {
            flavor_resource(flavor.name): {az: AZCapacity(count[flavor.name]) for az, count in counts.items()}
            for flavor in separate
        }

    def _pack(
        self, az: str, stocks: Sequence[Stock], flavors: Sequence[PackedFlavor], demand: Demand
    ) -> Mapping[str, int]:
        pooled = {class_: self._demand(demand, name) for class_, name in self._pooled.items()}
        wanted = {one.name: _in(az, self._demand(demand, flavor_resource(one.name))) for one in flavors}
        # the demand for cores and RAM has that of the separate flavors in it
        others = {
            class_: _in(az, one).total - sum(wanted[each.name].total * each.needs.get(class_, 0) for each in flavors)
            for class_, one in pooled.items()
        }
        rooms = [Room(_effective(capacity, pooled), traits) for capacity, traits in stocks]
        return pack(rooms, flavors, wanted, others)

    def _demand(self, demand: Demand, resource: str) -> ResourceDemand:
        return demand.get((self._params.service, resource), ResourceDemand())


def _in(az: str, demand: ResourceDemand) -> AZDemand:
    return demand.per_az.get(az, AZDemand())


def _effective(capacity: Mapping[str, int], pooled: Mapping[str, ResourceDemand]) -> dict[str, int]:
    """With cores and RAM overcommitted as Limes is configured to."""
    factors = {class_: one.overcommit_factor or 1 for class_, one in pooled.items()}
    return {class_: int(amount * factors.get(class_, 1)) for class_, amount in capacity.items()}
