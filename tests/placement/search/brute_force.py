"""The rules of allocation candidates, said as directly as possible and with no thought of speed.

Everything is tried: each anchor tree, with each provider for each slot. Nothing here uses the search's own tests.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import product

from limes.placement.search.request import CandidatesRequest, Group
from tests.placement.search.clouds import Node, identity

SHARES = "MISC_SHARES_VIA_AGGREGATE"


class BruteForce:
    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = {one.name: one for one in nodes}

    def path(self, name: str) -> list[str]:
        """The provider, its parent, ... up to the root."""
        parent = self.nodes[name].parent
        return [name, *(self.path(parent) if parent else [])]

    def root(self, name: str) -> str:
        return self.path(name)[-1]

    def usable_at(self, anchor: str) -> list[str]:
        """The members of a tree, and who shares with one of them."""
        tree = [name for name in self.nodes if self.root(name) == anchor]
        near = {aggregate for name in tree for aggregate in self.nodes[name].aggregates}
        return tree + [
            name
            for name, one in self.nodes.items()
            if name not in tree and SHARES in one.traits and near & set(one.aggregates)
        ]

    def candidates(self, request: CandidatesRequest) -> set[tuple[tuple[str, str, str], ...]]:
        """Each candidate as the sorted (suffix, resource class, provider) of all its parts; "" for no class."""
        slots: list[tuple[Group, dict[str, int]]] = []
        for group in request.groups:
            if group.suffix:
                slots.append((group, dict(group.resources)))
            else:
                slots += [(group, {name: amount}) for name, amount in group.resources.items()]
        found = set()
        for anchor in {self.root(name) for name in self.nodes}:
            traits = set(self.nodes[anchor].traits)
            if request.root_traits.forbidden & traits or any(not s & traits for s in request.root_traits.required):
                continue
            for chosen in product(self.usable_at(anchor), repeat=len(slots)):
                parts = list(zip(slots, chosen, strict=True))
                if all(self.slot_fits(*slot, name) for slot, name in parts) and self.all_fits(request, parts):
                    found.add(
                        tuple(sorted((g.suffix, rc, name) for (g, given), name in parts for rc in (given or [""])))
                    )
        return found

    def slot_fits(self, group: Group, amounts: dict[str, int], name: str) -> bool:
        one = self.nodes[name]
        inventories = one.inventories()
        for rc, amount in amounts.items():
            if rc not in inventories:
                return False
            inventory = inventories[rc]
            if inventory.used + amount > inventory.capacity or amount % inventory.step_size:
                return False
            if not inventory.min_unit <= amount <= inventory.max_unit:
                return False
        if group.in_tree and group.in_tree not in {identity(n) for n in self.nodes if self.root(n) == self.root(name)}:
            return False
        if set(one.traits) & group.traits.forbidden:
            return False
        own = {identity(aggregate) for aggregate in one.aggregates}
        of_root = {identity(aggregate) for aggregate in self.nodes[self.root(name)].aggregates}
        if group.suffix:
            if any(not choice & set(one.traits) for choice in group.traits.required):
                return False
            of_root = own
        if any(not choice & own for choice in group.aggregates.member_of) and any(
            not choice & of_root for choice in group.aggregates.member_of
        ):
            return False
        return not group.aggregates.forbidden & (own | of_root)

    def all_fits(self, request: CandidatesRequest, parts: list[tuple[tuple[Group, dict[str, int]], str]]) -> bool:
        sums: Counter[tuple[str, str]] = Counter()
        for (_, amounts), name in parts:
            for rc, amount in amounts.items():
                sums[name, rc] += amount
        for (name, rc), amount in sums.items():
            inventory = self.nodes[name].inventories()[rc]
            if inventory.used + amount > inventory.capacity or amount > inventory.max_unit:
                return False
        for (group, _), _ in parts:
            if not group.suffix:
                gathered = {t for (g, _), name in parts if not g.suffix for t in self.nodes[name].traits}
                if any(not choice & gathered for choice in group.traits.required):
                    return False
        suffixed = [name for (group, _), name in parts if group.suffix]
        if request.isolate and len(set(suffixed)) < len(suffixed):
            return False
        for suffixes in request.same_subtrees:
            names = [name for (group, _), name in parts if group.suffix in suffixes]
            if not any(all(top in self.path(name) for name in names) for top in names):
                return False
        providers = {name for _, name in parts}
        return request.nested or len({self.root(name) for name in providers}) == len(providers)
