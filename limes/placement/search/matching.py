"""Which providers of a tree may serve which part of a request, each judged on its own.

A request consists of *slots*. The unsuffixed group gives one slot for each of its resource classes, because each may
come from another provider; a suffixed group is one slot, because one provider serves all of it. A candidate is one
provider for each slot.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from limes.placement.search import pieces, values
from limes.placement.search.model import Cloud, Provider, Tree
from limes.placement.search.request import CandidatesRequest, Group


class Slot(Struct, frozen=True):
    suffix: str
    resources: Mapping[str, int]


class TraitTest:
    """Whether a set of traits has what is required and nothing that is forbidden."""

    __slots__ = ("all_of", "any_of", "forbidden", "wanted")

    def __init__(self, traits: values.Traits) -> None:
        self.all_of, self.any_of, self.forbidden = traits.all_of, traits.any_of, traits.forbidden
        self.wanted = bool(traits.required)

    def has_required(self, names: frozenset[str]) -> bool:
        return self.all_of <= names and not any(choice.isdisjoint(names) for choice in self.any_of)

    def allows(self, names: frozenset[str]) -> bool:
        return self.forbidden.isdisjoint(names)

    def accepts(self, names: frozenset[str]) -> bool:
        return self.allows(names) and self.has_required(names)


class GroupTest:
    """One request group, prepared for testing many providers."""

    def __init__(self, group: Group, cloud: Cloud) -> None:
        self.group = group
        self.traits = TraitTest(group.traits)
        self.member_of = group.aggregates.member_of
        self.forbidden_aggregates = group.aggregates.forbidden
        tree = cloud.tree_of(group.in_tree) if group.in_tree else None
        self.in_tree = tree.root.root_id if tree else None
        self.impossible = bool(group.in_tree) and tree is None
        self.restricts = bool(
            group.traits.required or group.traits.forbidden or group.aggregates or self.in_tree is not None
        )

    def accepts(self, provider: Provider) -> bool:
        """Returns whether the provider alone has the traits, aggregates and tree that a suffixed group asks for."""
        if not self.restricts:
            return True
        return (
            self.traits.accepts(provider.traits.set)
            and (self.in_tree is None or provider.root_id == self.in_tree)
            and self._is_member(provider.aggregates)
            and self.forbidden_aggregates.isdisjoint(provider.aggregates)
        )

    def accepts_in(self, provider: Provider, root: Provider) -> bool:
        """Returns the same for the unsuffixed group, for a provider in the tree of `root`. Required traits may come
        from another provider of the candidate, and the aggregates of the root count for its whole tree."""
        return (
            self.traits.allows(provider.traits.set)
            and (self.in_tree is None or provider.root_id == self.in_tree)
            and (self._is_member(provider.aggregates) or self._is_member(root.aggregates))
            and self.forbidden_aggregates.isdisjoint(provider.aggregates)
            and self.forbidden_aggregates.isdisjoint(root.aggregates)
        )

    def _is_member(self, aggregates: frozenset[str]) -> bool:
        return not any(choice.isdisjoint(aggregates) for choice in self.member_of)


class RequestTest:
    """A whole request, prepared for testing many trees."""

    def __init__(self, request: CandidatesRequest, cloud: Cloud) -> None:
        self.request = request
        self.cloud = cloud
        slots: list[Slot] = []
        for group in request.groups:
            if group.suffix:
                slots.append(Slot(group.suffix, group.resources))
            else:
                slots.extend(Slot("", {name: amount}) for name, amount in group.resources.items())
        self.slots = tuple(slots)
        """Those of the unsuffixed group first, then the suffixed groups in their order."""
        self.groups = tuple(GroupTest(group, cloud) for group in request.groups)
        self.root_traits = TraitTest(request.root_traits)
        self.tests_root = bool(request.root_traits.required or request.root_traits.forbidden)
        suffixed = sum(1 for group in request.groups if group.suffix)
        self.isolate = request.isolate and suffixed > 1
        """Whether each suffixed group needs a provider of its own."""
        self.totals: dict[str, int] = {}
        for group in request.groups:
            for name, amount in group.resources.items():
                self.totals[name] = self.totals.get(name, 0) + amount
        self.summed = len(request.groups) > 1

    def trees(self) -> Iterable[Tree]:
        """Returns the trees that may have candidates, by `in_tree`, classes, aggregates and the largest inventories."""
        if any(group.impossible for group in self.groups) or not self._fits_somewhere():
            return ()
        for group in self.groups:
            tree = self.cloud.trees.get(group.in_tree) if group.in_tree is not None else None
            if tree is not None and not tree.sharing:
                return (tree,)
        return self._smallest_group().values()

    def _smallest_group(self) -> pieces.IdMap[Tree]:
        """Returns the smallest known set of trees such that no other tree has candidates. Where a provider is shared,
        other trees may use it as well: then these are all."""
        cloud = self.cloud
        smallest = cloud.trees
        if cloud.sharing:
            return smallest
        for test in self.groups:
            groups = [cloud.by_class.get(name) for name in test.group.resources]
            # the members of several aggregates would have to be sorted first
            groups += [cloud.by_aggregate.get(uuid) for uuids in test.member_of if len(uuids) == 1 for uuid in uuids]
            smallest = min([smallest, *(trees or pieces.IdMap() for trees in groups)], key=len)
        return smallest

    def _fits_somewhere(self) -> bool:
        ceilings = self.cloud.ceilings
        return all(
            amount <= ceilings.get(name, 0) for group in self.request.groups for name, amount in group.resources.items()
        )

    def fits_alone(self, provider: Provider) -> bool:
        """Returns whether a provider that is a whole tree, with nothing shared with it, can serve the whole request."""
        if self.isolate or (self.tests_root and not self.root_traits.accepts(provider.traits.set)):
            return False
        for test in self.groups:
            if not provider.fits(test.group.resources) or not test.accepts(provider):
                return False
        if self.summed:
            inventories = provider.inventories
            return all(amount <= inventories[name].limit for name, amount in self.totals.items())
        return True

    def options(self, tree: Tree, shared: list[Provider]) -> list[list[Provider]] | None:
        """Returns, for each slot, the providers that may take it; None if a slot has none."""
        if self.tests_root and not self.root_traits.accepts(tree.root.traits.set):
            return None
        providers = [*tree.providers, *shared]
        options: list[list[Provider]] = []
        for test in self.groups:
            group = test.group
            if group.suffix:
                fitting = [p for p in providers if p.fits(group.resources) and test.accepts(p)]
                if not fitting:
                    return None
                options.append(fitting)
                continue
            for name, amount in group.resources.items():
                fitting = [p for p in providers if (has := p.inventories.get(name)) is not None and has.fits(amount)]
                if test.restricts:
                    fitting = [p for p in fitting if test.accepts_in(p, self._root_of(p, tree))]
                if not fitting:
                    return None
                options.append(fitting)
        return options

    def _root_of(self, provider: Provider, tree: Tree) -> Provider:
        return tree.root if provider.root_id == tree.root.root_id else self.cloud.trees[provider.root_id].root


Assignment = tuple[Provider, ...]
"""One provider for each slot, in the order of the slots."""
Options = Sequence[Sequence[Provider]]
"""For each slot the providers that may take it."""
Amounts = tuple[tuple[str, int], ...]


class DeadlinePassed(Exception):
    """Ends a search from within. Only `limes.placement.search.candidates` sees it."""


class Rules:
    """The rules of one request that are about more than one slot."""

    def __init__(self, test: RequestTest, check_time: Callable[[], None]) -> None:
        """`check_time` raises `DeadlinePassed` when it is time to stop."""
        slots = test.slots
        self.check_time = check_time
        self.suffixed = [bool(slot.suffix) for slot in slots]
        self.isolate = test.isolate
        self.subtrees = [
            [index for index, slot in enumerate(slots) if slot.suffix in suffixes]
            for suffixes in dict.fromkeys(test.request.same_subtrees)
        ]
        classes = [name for slot in slots for name in slot.resources]
        repeated = {name for name in classes if classes.count(name) > 1}
        self.shared: list[Amounts] = [
            tuple((name, amount) for name, amount in slot.resources.items() if name in repeated) for slot in slots
        ]
        """For each slot the amounts that it takes of resource classes that other slots take as well."""
        self.totals: dict[str, int] = dict.fromkeys(sorted(repeated), 0)
        """How much all slots together take of each of these classes."""
        for amounts in self.shared:
            for name, amount in amounts:
                self.totals[name] += amount
        self.takers = {
            name: [slot for slot, amounts in enumerate(self.shared) if name in dict(amounts)] for name in self.totals
        }
        """For each of these classes the slots that take it."""
        self.stepwise = self.isolate or bool(self.subtrees)
        """Whether rules can be broken even if every provider has plenty."""
        self.unsuffixed = [index for index, suffixed in enumerate(self.suffixed) if not suffixed]
        tests = [group.traits for group in test.groups if not group.group.suffix]
        self.traits: TraitTest | None = next((traits for traits in tests if traits.wanted), None)
        """What the providers of the unsuffixed group have to have together."""
        self.flat = not test.request.nested

    def accepts(self, chosen: Sequence[Provider], wanted: TraitTest | None) -> bool:
        """Returns whether a whole assignment keeps all rules. No provider may be asked for more than it has. `wanted`
        is `traits`, or None if the assignment is known to have them."""
        if wanted is not None:
            names = frozenset[str]().union(*[chosen[slot].traits.set for slot in self.unsuffixed])
            if not wanted.has_required(names):
                return False
        for slots in self.subtrees:
            if not _is_subtree([chosen[slot] for slot in slots]):
                return False
        if self.isolate:
            served = [provider.id for provider, own in zip(chosen, self.suffixed, strict=True) if own]
            if len(set(served)) < len(served):
                return False
        return not (self.flat and len({p.id for p in chosen}) > len({p.root_id for p in chosen}))


def _is_subtree(providers: Sequence[Provider]) -> bool:
    """Returns whether one of the providers is at or above all of them."""
    for top in providers:
        for provider in providers:
            if top.id not in provider.lineage:
                break
        else:
            return True
    return False
