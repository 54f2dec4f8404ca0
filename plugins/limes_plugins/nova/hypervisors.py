"""What Nova knows of its hypervisors (aggregates, AZs) and flavors (what a server takes from its host), and how many
servers of some flavors fit, all at the same time.

What is demanded is placed first: what runs, then what is committed to, then what waits to be confirmed; of each, the
largest flavors first, on the hypervisors where the fewest fit. The rest of the room is shared out in proportion to the
demand, except what other servers on the same hypervisors demand.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from msgspec import Struct

from limes.backends import UNKNOWN_AZ, AZDemand, BackendError
from limes_plugins.nova.params import FlavorSelection, HypervisorSelection, PackedFlavorParams
from limes_plugins.openstack.client import ServiceClient, whole_number
from limes_plugins.openstack.reports import host_aggregates

CORES, RAM, DISK = "VCPU", "MEMORY_MB", "DISK_GB"
_RESOURCES, _TRAITS = "resources:", "trait:"
_MIB = 1024
Flavor = Mapping[str, Any]
ALL_FLAVORS = {"is_public": "None", "limit": "1000"}
"""The query for those of all projects."""
_STEPS = 8
"""Into how many parts each flavor's share of the rest is cut: more make it fairer, and slower."""


class PackedFlavor(Struct, frozen=True):
    """What each server of a flavor takes, by resource class, and where it may be."""

    name: str
    needs: Mapping[str, int]
    required_traits: Set[str] = frozenset()
    forbidden_traits: Set[str] = frozenset()

    def may_be_on(self, traits: Set[str]) -> bool:
        return self.required_traits <= traits and not self.forbidden_traits & traits


class Room:
    def __init__(self, free: Mapping[str, int], traits: Iterable[str] = ()) -> None:
        """`free` by resource class. Without disks of its own its servers boot from volumes."""
        self.free = dict(free)
        self._traits = frozenset(traits)

    def fits(self, flavor: PackedFlavor) -> int:
        needs = [(class_, need) for class_, need in flavor.needs.items() if class_ != DISK or DISK in self.free]
        if not needs or not flavor.may_be_on(self._traits):
            return 0
        return min(self.free.get(class_, 0) // need for class_, need in needs)

    def take(self, flavor: PackedFlavor, count: int) -> None:
        for class_, need in flavor.needs.items():
            if class_ in self.free:
                self.free[class_] -= need * count


class Hypervisor(Struct, frozen=True):
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
    hypervisors. Raises `BackendError`, also if one is in two matching aggregates."""
    aggregates = host_aggregates(client)
    azs = {host: aggregate.az for aggregate in aggregates if aggregate.az for host in aggregate.hosts}
    chosen = [aggregate for aggregate in aggregates if selection.has_name(aggregate.name)]
    hypervisors: list[Hypervisor] = []
    for entry in client.pages("/os-hypervisors/detail", "hypervisors", {"limit": "1000"}, deadline):
        if not selection.has_type(str(entry.get("hypervisor_type"))):
            continue
        service = entry.get("service")
        if not isinstance(service, dict) or not isinstance(service.get("host"), str):
            raise BackendError(f"GET /os-hypervisors/detail: hypervisor {entry.get('id')} has no service.host")
        name, host = str(entry.get("hypervisor_hostname")), service["host"]
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


# -- packing: numbers in, numbers out ----------------------------------------------------------------------------------


def pack(
    rooms: Sequence[Room], flavors: Sequence[PackedFlavor], demand: Mapping[str, AZDemand], others: Mapping[str, int]
) -> dict[str, int]:
    """Returns how many servers of each flavor there can be, by name: the running ones and the ones that still fit.
    `demand` is by flavor; `others` is what other servers demand, by resource class. Fills the rooms."""
    largest_first = sorted(flavors, key=lambda flavor: (-_share(flavor, rooms), flavor.name))
    nothing = AZDemand()
    running = {flavor.name: demand.get(flavor.name, nothing).usage for flavor in flavors}
    counts = dict(running)
    for flavor in largest_first:
        _place(rooms, flavor, running[flavor.name])  # servers that don't fit as we see it run nevertheless
    for stage in ("unused_commitments", "pending_commitments"):
        for flavor in largest_first:
            counts[flavor.name] += _place(rooms, flavor, getattr(demand.get(flavor.name, nothing), stage))
    for name, count in _share_out(rooms, largest_first, demand, others).items():
        counts[name] += count
    return counts


def _share_out(
    rooms: Sequence[Room], flavors: Sequence[PackedFlavor], demand: Mapping[str, AZDemand], others: Mapping[str, int]
) -> Counter[str]:
    """Places servers until none fits. It is the turn of the flavor that has got the smallest part of its demand."""
    weights = {flavor.name: max(1, demand.get(flavor.name, AZDemand()).total) for flavor in flavors}
    steps = _STEPS * sum(weights.values())
    given: Counter[str] = Counter()
    left = list(flavors)
    while left:
        flavor = min(left, key=lambda candidate: given[candidate.name] / weights[candidate.name])
        spare = _spare(rooms, flavor, others)
        placed = _place(rooms, flavor, min(spare, max(1, spare * weights[flavor.name] // steps)))
        given[flavor.name] += placed
        if not placed:
            left.remove(flavor)
    return given


def _spare(rooms: Sequence[Room], flavor: PackedFlavor, others: Mapping[str, int]) -> int:
    """Returns how many more fit so that there is enough left for others."""
    bounds = [sum(room.fits(flavor) for room in rooms)]
    for class_, amount in others.items():
        if need := flavor.needs.get(class_):
            bounds.append((sum(room.free.get(class_, 0) for room in rooms) - max(0, amount)) // need)
    return max(0, min(bounds))


def _place(rooms: Sequence[Room], flavor: PackedFlavor, count: int) -> int:
    placed = 0
    for fitting, room in sorted(((room.fits(flavor), room) for room in rooms), key=lambda pair: pair[0]):
        taken = min(fitting, count - placed)
        room.take(flavor, taken)
        placed += taken
    return placed


def _share(flavor: PackedFlavor, rooms: Sequence[Room]) -> float:
    """Returns how large a flavor is: the largest part that it takes of all there is of one class."""
    totals = {class_: sum(room.free.get(class_, 0) for room in rooms) for class_ in flavor.needs}
    return max((need / totals[class_] for class_, need in flavor.needs.items() if totals[class_]), default=0.0)
