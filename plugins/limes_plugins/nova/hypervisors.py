"""What Nova knows of its hypervisors (their aggregates and AZs) and flavors (what a server takes from its host)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from limes.backends import UNKNOWN_AZ, BackendError
from limes_plugins.nova.packing import PackedFlavor
from limes_plugins.nova.params import FlavorSelection, HypervisorSelection, PackedFlavorParams
from limes_plugins.openstack.client import ServiceClient, whole_number
from limes_plugins.openstack.reports import host_aggregates

CORES, RAM, DISK = "VCPU", "MEMORY_MB", "DISK_GB"
_RESOURCES, _TRAITS = "resources:", "trait:"
_MIB = 1024
Flavor = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Hypervisor:
    """One that counts, as far as its traits are not looked at."""

    uuid: str
    """Also that of its resource provider."""
    name: str
    host: str
    """The name of its service."""
    aggregate: str
    az: str
    instances: int | None
    """How many run on it, if Nova says so."""


def matching(client: ServiceClient, selection: HypervisorSelection, deadline: float) -> list[Hypervisor]:
    """Returns the hypervisors in matching aggregates, by name: a request for aggregates, one for each page of
    hypervisors.

    Raises `BackendError`, also if one is in two matching aggregates.
    """
    aggregates = host_aggregates(client)
    azs = {host: aggregate.az for aggregate in aggregates if aggregate.az for host in aggregate.hosts}
    chosen = [aggregate for aggregate in aggregates if selection.has_name(aggregate.name)]
    hypervisors: list[Hypervisor] = []
    for entry in client.pages("/os-hypervisors/detail", "hypervisors", {"limit": "1000"}, deadline):
        if not selection.has_type(str(entry.get("hypervisor_type"))):
            continue
        name, host = str(entry.get("hypervisor_hostname")), _host(entry)
        names = [aggregate.name for aggregate in chosen if host in aggregate.hosts]
        if len(names) > 1:
            raise BackendError(f"hypervisor {name} is in two aggregates that match: {', '.join(names)}")
        if names:
            running = entry.get("running_vms")
            instances = None if running is None else whole_number(running, f"hypervisor {name}: running_vms")
            hypervisors.append(
                Hypervisor(str(entry.get("id")), name, host, names[0], azs.get(host, UNKNOWN_AZ), instances)
            )
    return sorted(hypervisors, key=lambda hypervisor: (hypervisor.name, hypervisor.uuid))


def _host(entry: Mapping[str, Any]) -> str:
    service = entry.get("service")
    if not isinstance(service, dict) or not isinstance(service.get("host"), str):
        raise BackendError(f"GET /os-hypervisors/detail: hypervisor {entry.get('id')} has no service.host")
    return str(service["host"])


def all_flavors(client: ServiceClient, deadline: float) -> list[Flavor]:
    """Returns flavors of all projects: a request for each page."""
    return list(client.pages("/flavors/detail", "flavors", {"is_public": "None", "limit": "1000"}, deadline))


def largest_disk(flavors: Sequence[Flavor], selection: FlavorSelection) -> int:
    """Returns the most GiB that any of the selected flavors takes on the disks of its host; 0 if none does."""
    return max((_disk(flavor) for flavor in flavors if selection.accepts(_extra_specs(flavor))), default=0)


def packed(flavors: Sequence[Flavor], wanted: Mapping[str, PackedFlavorParams]) -> list[PackedFlavor]:
    """Returns the wanted flavors. Raises `BackendError` if Nova does not have one, or if one takes nothing."""
    by_name = {str(flavor.get("name")): flavor for flavor in flavors}
    packed_flavors = []
    for name, params in wanted.items():
        flavor = next((by_name[known] for known in (name, *params.aliases) if known in by_name), None)
        if flavor is None:
            raise BackendError(f"Nova has no flavor {name!r}, nor one of its aliases (see flavors in the params)")
        packed_flavors.append(_packed(name, flavor))
    return packed_flavors


def _packed(name: str, flavor: Flavor) -> PackedFlavor:
    where = f"flavor {flavor.get('name')}"
    swap = whole_number(flavor.get("swap") or 0, f"{where}: the swap")
    needs = {
        CORES: whole_number(flavor.get("vcpus"), f"{where}: the number of cores"),
        RAM: whole_number(flavor.get("ram"), f"{where}: the RAM"),
        DISK: _disk(flavor) + -(-swap // _MIB),
    }
    traits: dict[str, set[str]] = {"required": set(), "forbidden": set()}
    for key, value in _extra_specs(flavor).items():
        if key.startswith(_RESOURCES):
            if not str(value).isdecimal():
                raise BackendError(f"{where}: the extra spec {key} is {value!r}, expected a whole number from 0")
            needs[key.removeprefix(_RESOURCES)] = int(value)
        elif key.startswith(_TRAITS) and value in traits:
            traits[value].add(key.removeprefix(_TRAITS))
    needs = {class_: need for class_, need in needs.items() if need}
    if not needs:
        raise BackendError(f"{where}: its servers take nothing, so any number would fit")
    return PackedFlavor(name, needs, frozenset(traits["required"]), frozenset(traits["forbidden"]))


def _extra_specs(flavor: Flavor) -> Mapping[str, Any]:
    return flavor.get("extra_specs") or {}


def _disk(flavor: Flavor) -> int:
    where = f"flavor {flavor.get('name')}: the disk"
    return whole_number(flavor.get("disk"), where) + whole_number(flavor.get("OS-FLV-EXT-DATA:ephemeral"), where)
