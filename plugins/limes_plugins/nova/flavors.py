"""What Nova knows of its flavors: what a server of each takes from its host."""

from collections.abc import Mapping, Sequence
from typing import Any

from limes.backends import BackendError
from limes_plugins.nova.packing import PackedFlavor
from limes_plugins.nova.params import FlavorSelection, PackedFlavorParams
from limes_plugins.openstack.amounts import whole_number
from limes_plugins.openstack.client import ServiceClient

CORES, RAM, DISK = "VCPU", "MEMORY_MB", "DISK_GB"

_RESOURCES, _TRAITS = "resources:", "trait:"
_MIB = 1024

Flavor = Mapping[str, Any]


def all_flavors(client: ServiceClient, deadline: float) -> list[Flavor]:
    """Flavors of all projects: a request for each page."""
    return list(client.pages("/flavors/detail", "flavors", {"is_public": "None", "limit": "1000"}, deadline))


def largest_disk(flavors: Sequence[Flavor], selection: FlavorSelection) -> int:
    """The most GiB that any of the selected flavors takes on the disks of its host; 0 if there is none that does."""
    return max((_disk(flavor) for flavor in flavors if selection.accepts(_extra_specs(flavor))), default=0)


def packed(flavors: Sequence[Flavor], wanted: Mapping[str, PackedFlavorParams]) -> list[PackedFlavor]:
    """The wanted flavors. Raises `BackendError` if Nova does not have one, or if one takes nothing."""
    by_name = {str(flavor.get("name")): flavor for flavor in flavors}
    found = []
    for name, params in wanted.items():
        flavor = next((by_name[known] for known in (name, *params.aliases) if known in by_name), None)
        if flavor is None:
            raise BackendError(f"Nova has no flavor {name!r}, nor one of its aliases (see flavors in the params)")
        found.append(_packed(name, flavor))
    return found


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
