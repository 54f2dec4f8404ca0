"""The cloud as the search sees it: immutable providers, grouped in immutable trees.

A `Cloud` is never changed. `Cloud.replace` makes a new one that shares everything that stayed the same, so any number
of threads can search one while another thread makes the next.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import Struct, field, structs

from limes.placement.search.pieces import IdMap, TextMap

SHARING_TRAIT = "MISC_SHARES_VIA_AGGREGATE"


class Inventory:
    """One resource class of one provider: what it has, what is used, and the shape that a request must have."""

    __slots__ = ("capacity", "limit", "max_unit", "min_unit", "step_size", "used")

    def __init__(self, capacity: int, used: int, min_unit: int, max_unit: int, step_size: int) -> None:
        """`capacity` is `int((total - reserved) * allocation_ratio)`; `used` is the sum of all allocations."""
        self.capacity, self.used = capacity, used
        self.min_unit, self.max_unit, self.step_size = min_unit, max_unit, step_size
        self.limit = min(max_unit, capacity - used)
        """The most that one consumer can get here, over all groups of its request."""

    def fits(self, amount: int) -> bool:
        """Returns whether one group can take `amount` here."""
        return self.min_unit <= amount <= self.limit and amount % self.step_size == 0


class TraitList(Struct, frozen=True):
    """The traits of a provider, in listing order and as a set. Providers with equal traits share one."""

    names: tuple[str, ...] = ()
    set: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *names: str) -> "TraitList":
        return cls(names, frozenset(names))


class Provider(Struct, eq=False):
    """A resource provider. Not to be changed once it is in a `Cloud`."""

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
    stamp: int = 0
    """Differs between two states of a provider, if it comes from a database."""
    root_uuid: str = ""
    parent_uuid: str | None = None
    lineage: tuple[int, ...] = ()
    """The ids of all its ancestors, from the root on, and its own. Like the two above, it is set by the provider's
    tree."""

    def with_parent(self, parent: "Provider | None", root_uuid: str) -> "Provider":
        """This provider below `parent` in the tree of `root_uuid`: itself if new or there already, or a copy."""
        lineage = (*parent.lineage, self.id) if parent else (self.id,)
        parent_uuid = parent.uuid if parent else None
        if not self.lineage:
            self.lineage, self.parent_uuid, self.root_uuid = lineage, parent_uuid, root_uuid
        if (self.lineage, self.parent_uuid, self.root_uuid) == (lineage, parent_uuid, root_uuid):
            return self
        return structs.replace(self, lineage=lineage, parent_uuid=parent_uuid, root_uuid=root_uuid)

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

    __slots__ = ("__weakref__", "aggregates", "providers", "root", "sharing", "single", "summaries")

    def __init__(self, providers: Iterable[Provider]) -> None:
        """Takes the providers of one tree in any order; ones that have moved are copied."""
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


Groups = TextMap[IdMap[Tree]]
"""Trees by the id of their root, by something that they have in common."""


class Cloud:
    """All trees at one moment, with the names that exist."""

    __slots__ = (
        *("_sharing_trees", "by_aggregate", "by_class", "by_id", "ids"),
        *("ceilings", "classes", "sharing", "traits", "trees"),
    )

    def __init__(self, traits: Mapping[str, object] | None = None, classes: Mapping[str, object] | None = None) -> None:
        """An empty cloud. `traits` and `classes` have the names that exist as their keys."""
        self.traits = traits or {}
        self.classes = classes or {}
        self.trees = IdMap[Tree]()
        """By the root's id, in ascending order: the order of all answers."""
        self.by_id = IdMap[Provider]()
        """In ascending order, too."""
        self.ids = TextMap[int]()
        """By UUID. It knows ids only, so that it stays as it is when a provider changes."""
        self.by_class = Groups()
        """For each resource class the trees that have inventory of it."""
        self.by_aggregate = Groups()
        """For each aggregate, by its UUID, the trees that have a member of it."""
        self.sharing: Mapping[str, tuple[Provider, ...]] = {}
        """The sharing providers of each aggregate, by its UUID."""
        self._sharing_trees = IdMap[Tree]()
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
        """Returns the same cloud with new or changed providers, and without those with the ids `gone`. This takes as
        long as there are changes, however large the cloud is."""
        cloud = Cloud(self.traits if traits is None else traits, self.classes if classes is None else classes)
        fresh = {provider.id: provider for provider in changed}
        leaving = {key: known for key in {*fresh, *gone} if (known := self.by_id.get(key)) is not None}
        roots = {provider.root_id for provider in (*leaving.values(), *fresh.values())}
        before = {root_id: tree for root_id in roots if (tree := self.trees.get(root_id)) is not None}
        members: dict[int, list[Provider]] = {root_id: [] for root_id in roots}
        for root_id, tree in before.items():
            members[root_id] = [provider for provider in tree.providers if provider.id not in leaving]
        for provider in fresh.values():
            members[provider.root_id].append(provider)
        trees = {root_id: Tree(providers) for root_id, providers in sorted(members.items()) if providers}
        placed = {provider.id: provider for tree in trees.values() for provider in tree.providers}
        cloud.trees = self.trees.replace(trees, roots)
        cloud.by_id = self.by_id.replace(placed, leaving)
        cloud.ids = self.ids.replace(
            {provider.uuid: key for key, provider in placed.items() if key not in self.by_id},
            [provider.uuid for key, provider in leaving.items() if key not in placed],
        )
        cloud.by_class = _regrouped(
            self.by_class, before, trees, lambda tree: {name for one in tree.providers for name in one.inventories}
        )
        cloud.by_aggregate = _regrouped(self.by_aggregate, before, trees, lambda tree: tree.aggregates)
        cloud.ceilings = self.ceilings.copy()
        for provider in fresh.values():
            for name, inventory in provider.inventories.items():
                cloud.ceilings[name] = max(inventory.limit, cloud.ceilings.get(name, 0))
        cloud._sharing_trees, cloud.sharing = self._sharing_trees, self.sharing
        sharing = {root_id: tree for root_id, tree in trees.items() if tree.sharing}
        if sharing or any(root_id in self._sharing_trees for root_id in roots):
            cloud._sharing_trees = self._sharing_trees.replace(sharing, roots)
            cloud.sharing = cloud._sharing_by_aggregate()
        return cloud

    def _sharing_by_aggregate(self) -> Mapping[str, tuple[Provider, ...]]:
        sharing: dict[str, list[Provider]] = {}
        for tree in self._sharing_trees.values():
            for provider in tree.sharing:
                for aggregate in provider.aggregates:
                    sharing.setdefault(aggregate, []).append(provider)
        return {aggregate: tuple(providers) for aggregate, providers in sharing.items()}

    def tree_of(self, uuid: str) -> Tree | None:
        provider = self.provider_of(uuid)
        return self.trees.get(provider.root_id) if provider else None

    def provider_of(self, uuid: str) -> Provider | None:
        key = self.ids.get(uuid)
        return None if key is None else self.by_id.get(key)

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


def _regrouped(
    groups: Groups, before: Mapping[int, Tree], after: Mapping[int, Tree], names_of: Callable[[Tree], Collection[str]]
) -> Groups:
    """Returns the groups with the trees `after` in place of those `before`, each in the groups that `names_of` says."""
    left: dict[str, list[int]] = {}
    joined: dict[str, dict[int, Tree]] = {}
    for root_id, tree in before.items():
        for name in names_of(tree):
            left.setdefault(name, []).append(root_id)
    for root_id, tree in after.items():
        for name in names_of(tree):
            joined.setdefault(name, {})[root_id] = tree
    new = {
        name: (groups.get(name) or IdMap[Tree]()).replace(joined.get(name, {}), left.get(name, ()))
        for name in left.keys() | joined.keys()
    }
    return groups.replace({name: trees for name, trees in new.items() if trees}, new)
