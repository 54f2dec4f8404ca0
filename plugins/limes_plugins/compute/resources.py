"""The resources that the plugin has, and what of them is where."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from limes.backends import AZUsage, ResourceDef, Unit
from limes_plugins.compute.params import ComputeParams, flavor_resource
from limes_plugins.compute.servers import Server
from limes_plugins.openstack.reports import within

_BILLED = ("flavor", "vcpu", "ram", "disk", "os_type", "hypervisor")
"""The attributes of servers that a price may depend on."""


@dataclass(frozen=True, slots=True)
class ByServer:
    """A resource of which each server uses something."""

    definition: ResourceDef
    uses: Callable[[Server], int]
    """How much of it; 0 for servers that don't count."""
    lists_servers: bool = False
    """Whether the servers that count are its subresources."""


_BASE = (
    ByServer(ResourceDef("cores", az_aware=True), lambda server: server.cores),
    ByServer(ResourceDef("instances", az_aware=True), lambda server: 1, lists_servers=True),
    ByServer(ResourceDef("ram", Unit.MIB, az_aware=True), lambda server: server.ram),
)
"""Those whose totals are in Nova's quota sets."""


def resources_of(params: ComputeParams) -> list[ByServer]:
    """All of them: the last ones are counted from the servers alone, of configured flavors and sizes."""
    resources = [*_BASE, *(_of_flavor(name, params) for name in params.flavors)]
    if params.bigvm_min_memory is not None:
        resources += [_of_size(base, big, params.bigvm_min_memory) for base in _BASE for big in (False, True)]
    return [_billed(resource) for resource in resources] if params.with_subresources else resources


def _of_flavor(name: str, params: ComputeParams) -> ByServer:
    flavor, resource = params.flavors[name], flavor_resource(name)
    names = {name, *flavor.aliases}
    limited = resource in params.quota.limit_names
    definition = ResourceDef(
        resource,
        category=flavor.category,
        contained_in="" if limited else "instances",
        tracks_quota=limited,
        az_aware=True,
    )
    return ByServer(definition, lambda server: int(server.flavor in names), lists_servers=True)


def _of_size(base: ByServer, big: bool, limit: int) -> ByServer:
    name = base.definition.name
    definition = ResourceDef(
        f"{name}_{'bigvm' if big else 'regular'}",
        base.definition.unit,
        contained_in=name,
        tracks_quota=False,
        az_aware=True,
    )
    return ByServer(definition, lambda server: base.uses(server) if (server.ram >= limit) is big else 0)


def _billed(resource: ByServer) -> ByServer:
    if not resource.lists_servers:
        return resource
    return replace(resource, definition=replace(resource.definition, billed_attributes=_BILLED))


def per_az(resource: ByServer, servers: Iterable[Server], total: int | None) -> dict[str, AZUsage]:
    """Returns usage by AZ.

    If Nova has a `total`, this is the sum: what the servers don't explain is in `unknown`, and if they use more than
    Nova counts (such as shelved ones, with unified limits), those that are nowhere count last.
    """
    used: dict[str, int] = defaultdict(int)
    attributes: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for server in servers:
        amount = resource.uses(server)
        used[server.az] += amount
        if amount and resource.lists_servers and server.attributes is not None:
            attributes[server.az].append(server.attributes)
    parts = used if total is None else within(total, used)
    return {
        az: AZUsage(amount, subresources=tuple(attributes[az]))
        for az, amount in parts.items()
        if amount or attributes[az]
    }
