"""The cloud as the search sees it: immutable providers, grouped in immutable trees.

A `Cloud` is never changed. `Cloud.replace` makes a new one that shares everything that stayed the same, so any number
of threads can search one while another thread makes the next.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

T = TypeVar("T")

SHARING_TRAIT = "MISC_SHARES_VIA_AGGREGATE"


class Inventory:
    """One resource class of one provider: what it has, what is used, and the shape that a request must have."""

    __slots__ = ("capacity", "limit", "max_unit", "min_unit", "step_size", "used")

    def __init__(self, capacity: int, used: int, min_unit: int, max_unit: int, step_size: int) -> None:
        """`capacity` is `int((total - reserved) * allocation_ratio)`; `used` is the sum of all allocations."""
        self.capacity = capacity
        self.used = used
        self.min_unit = min_unit
        self.max_unit = max_unit
        self.step_size = step_size
        self.limit = min(max_unit, capacity - used)
        """The most that one consumer can get here, over all groups of its request."""

    def fits(self, amount: int) -> bool:
        """Returns whether one group can take `amount` here."""
        return self.min_unit <= amount <= self.limit and amount % self.step_size == 0


@dataclass(frozen=True, slots=True)
class TraitList:
    """The traits of a provider, in listing order and as a set. Providers with equal traits share one."""

    names: tuple[str, ...] = ()
    set: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *names: str) -> "TraitList":
        return cls(names, frozenset(names))


@dataclass(eq=False, slots=True)
class Provider:
    """A resource provider. Not to be changed once it is in a `Cloud` (the caches fill themselves)."""

    id: int
    uuid: str
    name: str
    root_id: int
    parent_id: int | None = None
    generation: int = 0
    inventories: Mapping[str, Inventory] = field(default_factory=dict)
    traits: TraitList = field(default_factory=TraitList)
    aggregates: frozenset[str] = frozenset()
    updated_at: float = 0.0
    """Seconds since the epoch."""
    root_uuid: str = ""
    parent_uuid: str | None = None
    lineage: frozenset[int] = frozenset()
    """The ids of this provider and of all its ancestors. Like the two above, it is set by the provider's tree."""
    cache: dict[object, bytes] = field(default_factory=dict)
    """Rendered forms of this provider, kept by its renderers."""

    def with_parent(self, parent: "Provider | None", root_uuid: str) -> "Provider":
        """This provider below `parent` in the tree of `root_uuid`: itself if it is there already, else a copy."""
        lineage = (parent.lineage if parent else frozenset[int]()) | {self.id}
        parent_uuid = parent.uuid if parent else None
        if (self.lineage, self.parent_uuid, self.root_uuid) == (lineage, parent_uuid, root_uuid):
            return self
        return replace(self, lineage=lineage, parent_uuid=parent_uuid, root_uuid=root_uuid, cache={})

    @property
    def shares(self) -> bool:
        """Whether all members of its aggregates may use its inventory."""
        return SHARING_TRAIT in self.traits.set

    def fits(self, resources: Mapping[str, int]) -> bool:
        """Returns whether one group can take all of `resources` here."""
        inventories = self.inventories
        for name, amount in resources.items():
            inventory = inventories.get(name)
            if (
                inventory is None
                or amount > inventory.limit
                or amount < inventory.min_unit
                or amount % inventory.step_size
            ):
                return False
        return True


class Tree:
    """A root and all its descendants, parents before children."""

    def __init__(self, providers: Iterable[Provider]) -> None:
        """Takes the providers of one tree in any order; those that have moved are copied."""
        by_id = {provider.id: provider for provider in providers}
        children: dict[int | None, list[Provider]] = {}
        for provider in by_id.values():
            # a parent outside of the tree does not count: the provider becomes a root
            parent_id = provider.parent_id if provider.parent_id in by_id else None
            children.setdefault(parent_id, []).append(provider)
        waiting = sorted(children.get(None, ()), key=lambda provider: provider.id)
        root_uuid = waiting[0].uuid
        placed: dict[int | None, Provider] = {}
        for provider in waiting:
            placed[provider.id] = provider.with_parent(placed.get(provider.parent_id), root_uuid)
            waiting.extend(sorted(children.get(provider.id, ()), key=lambda child: child.id))
        self.providers = tuple(placed.values())
        self.root = self.providers[0]
        self.single = self.root if len(self.providers) == 1 else None
        self.aggregates = frozenset[str]().union(*(provider.aggregates for provider in self.providers))
        self.sharing = tuple(provider for provider in self.providers if provider.shares)
        self.summaries: bytes | None = None
        """Rendered once, when first needed."""


class Cloud:
    """All trees at one moment, with the names that exist."""

    __slots__ = ("by_id", "by_uuid", "ceilings", "classes", "sharing", "traits", "trees")

    def __init__(self, traits: Mapping[str, object] | None = None, classes: Mapping[str, object] | None = None) -> None:
        """An empty cloud. `traits` and `classes` have the names that exist as their keys."""
        self.traits = traits or {}
        self.classes = classes or {}
        self.trees: dict[int, Tree] = {}
        """By the root's id, in ascending order: the order of all answers."""
        self.by_id: dict[int, Provider] = {}
        """In ascending order, too."""
        self.by_uuid: dict[str, Provider] = {}
        self.sharing: Mapping[str, tuple[Provider, ...]] = {}
        """The sharing providers of each aggregate, by its UUID."""
        self.ceilings: dict[str, int] = {}
        """For each resource class an upper bound of all inventories' `limit`. It may be too high."""

    def replace(
        self,
        changed: Iterable[Provider] = (),
        gone: Iterable[int] = (),
        *,
        traits: Mapping[str, object] | None = None,
        classes: Mapping[str, object] | None = None,
    ) -> "Cloud":
        """Returns the same cloud with new or changed providers, and without those with the ids `gone`."""
        cloud = Cloud(
            self.traits if traits is None else traits,
            self.classes if classes is None else classes,
        )
        fresh = {provider.id: provider for provider in changed}
        leaving = {key for key in {*fresh, *gone} if key in self.by_id}
        roots = {self.by_id[key].root_id for key in leaving} | {provider.root_id for provider in fresh.values()}
        members: dict[int, list[Provider]] = {root_id: [] for root_id in roots}
        for root_id in roots & self.trees.keys():
            members[root_id] = [p for p in self.trees[root_id].providers if p.id not in leaving]
        for provider in fresh.values():
            members[provider.root_id].append(provider)
        cloud._copy(self, leaving, roots)
        cloud._raise_ceilings(fresh.values())
        cloud._add_trees({root_id: Tree(providers) for root_id, providers in sorted(members.items()) if providers})
        touched = [*(self.trees[root_id] for root_id in roots & self.trees.keys())]
        touched += [cloud.trees[root_id] for root_id in roots & cloud.trees.keys()]
        cloud.sharing = cloud._sharing_by_aggregate() if any(tree.sharing for tree in touched) else self.sharing
        return cloud

    def _copy(self, other: "Cloud", leaving: set[int], roots: set[int]) -> None:
        self.trees = other.trees.copy()
        self.by_id = other.by_id.copy()
        self.by_uuid = other.by_uuid.copy()
        self.ceilings = other.ceilings.copy()
        for key in leaving:
            del self.by_uuid[self.by_id.pop(key).uuid]
        for root_id in roots:
            if root_id in self.trees and not any(p.id in self.by_id for p in self.trees[root_id].providers):
                del self.trees[root_id]

    def _raise_ceilings(self, providers: Iterable[Provider]) -> None:
        for provider in providers:
            for name, inventory in provider.inventories.items():
                if inventory.limit > self.ceilings.get(name, 0):
                    self.ceilings[name] = inventory.limit

    def _add_trees(self, trees: Mapping[int, Tree]) -> None:
        self.trees = _merged(self.trees, trees)
        providers = {provider.id: provider for tree in trees.values() for provider in tree.providers}
        self.by_id = _merged(self.by_id, dict(sorted(providers.items())))
        self.by_uuid.update((provider.uuid, provider) for provider in providers.values())

    def _sharing_by_aggregate(self) -> Mapping[str, tuple[Provider, ...]]:
        sharing: dict[str, list[Provider]] = {}
        for tree in self.trees.values():
            for provider in tree.sharing:
                for aggregate in provider.aggregates:
                    sharing.setdefault(aggregate, []).append(provider)
        return {aggregate: tuple(providers) for aggregate, providers in sharing.items()}

    def tree_of(self, uuid: str) -> Tree | None:
        """Returns the tree of the provider with this UUID, or None if there is no such provider."""
        provider = self.by_uuid.get(uuid)
        return self.trees.get(provider.root_id) if provider else None

    def shared_with(self, tree: Tree) -> list[Provider]:
        """Sharing providers of other trees that have an aggregate in common with a member of this tree, by id."""
        sharing = self.sharing
        if not sharing or not tree.aggregates:
            return []
        by_id = {
            provider.id: provider
            for aggregate in tree.aggregates
            for provider in sharing.get(aggregate, ())
            if provider.root_id != tree.root.root_id
        }
        return [by_id[key] for key in sorted(by_id)]


def _merged(known: dict[int, T], new: Mapping[int, T]) -> dict[int, T]:
    """`known` with the values of `new`, both in ascending order. Changes `known`. New ids are mostly the highest."""
    highest = next(reversed(known), 0)
    in_order = all(key > highest or key in known for key in new)
    known.update(new)
    return known if in_order else dict(sorted(known.items()))
