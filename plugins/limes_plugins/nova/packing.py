"""How many servers of some flavors fit on hypervisors, all at the same time. Pure: numbers in, numbers out.

What is demanded is placed first: what runs, then what is committed to, then what waits to be confirmed; of each, the
largest flavors first, on the hypervisors where the fewest fit. The rest of the room is shared out in proportion to the
demand, except what other servers on the same hypervisors demand.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from limes.backends import AZDemand

_DISK = "DISK_GB"
_STEPS = 8
"""Into how many parts each flavor's share of the rest is cut: more make it fairer, and slower."""


@dataclass(frozen=True, slots=True)
class PackedFlavor:
    """What each server of a flavor takes, by resource class, and where it may be."""

    name: str
    needs: Mapping[str, int]
    required_traits: Set[str] = frozenset()
    forbidden_traits: Set[str] = frozenset()

    def may_be_on(self, traits: Set[str]) -> bool:
        """Returns whether servers of this flavor may be on a hypervisor with these traits."""
        return self.required_traits <= traits and not self.forbidden_traits & traits


class Room:
    """What is free on one hypervisor."""

    def __init__(self, free: Mapping[str, int], traits: Iterable[str] = ()) -> None:
        """`free` by resource class. Without disks of its own its servers boot from volumes."""
        self.free = dict(free)
        self._traits = frozenset(traits)

    def fits(self, flavor: PackedFlavor) -> int:
        """Returns how many more servers of that flavor fit."""
        needs = [(class_, need) for class_, need in flavor.needs.items() if class_ != _DISK or _DISK in self.free]
        if not needs or not flavor.may_be_on(self._traits):
            return 0
        return min(self.free.get(class_, 0) // need for class_, need in needs)

    def take(self, flavor: PackedFlavor, count: int) -> None:
        """Places `count` servers of the flavor."""
        for class_, need in flavor.needs.items():
            if class_ in self.free:
                self.free[class_] -= need * count


def pack(
    rooms: Sequence[Room], flavors: Sequence[PackedFlavor], demand: Mapping[str, AZDemand], others: Mapping[str, int]
) -> dict[str, int]:
    """Returns how many servers of each flavor there can be, by name: those that run and those for which there is room.

    `demand` is by flavor; `others` is what other servers demand, by resource class. Fills the rooms.
    """
    largest_first = sorted(flavors, key=lambda flavor: (-_share(flavor, rooms), flavor.name))
    nothing = AZDemand()
    running = {flavor.name: demand.get(flavor.name, nothing).usage for flavor in flavors}
    counts = dict(running)
    for flavor in largest_first:
        _place(rooms, flavor, running[flavor.name])  # those that don't fit as we see it run nevertheless
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
    """Places up to `count`, where the fewest fit first. Returns how many."""
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
