"""All ways to give each slot of a request one provider, within one tree: lazily, and leaving dead ends early.

`Rules` says what the slots of one candidate demand of each other; it is the same for all trees. Where they demand
nothing, the candidates are the plain product of the options, which the standard library makes fastest.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from limes.placement.search.matching import RequestTest, TraitTest
from limes.placement.search.model import Provider

Assignment = tuple[Provider, ...]
"""One provider for each slot, in the order of the slots."""
Options = Sequence[Sequence[Provider]]

PAUSE_AFTER = 500
"""Steps without a result, after which a search offers to let others have their turn."""


class Rules:
    """What the slots of one candidate demand of each other."""

    def __init__(self, test: RequestTest) -> None:
        slots = test.slots
        self.resources = [tuple(slot.resources.items()) for slot in slots]
        self.suffixed = [bool(slot.suffix) for slot in slots]
        self.isolate = not test.alone
        self.subtrees = [
            [index for index, slot in enumerate(slots) if slot.suffix in suffixes]
            for suffixes in test.request.same_subtrees
        ]
        classes = [name for resources in self.resources for name, _ in resources]
        self.repeated = frozenset(name for name in classes if classes.count(name) > 1)
        """Resource classes of which one provider may be asked by more than one slot."""
        self.unsuffixed = [index for index, suffixed in enumerate(self.suffixed) if not suffixed]
        unsuffixed_traits = [group.traits for group in test.groups if not group.group.suffix]
        self.traits: TraitTest | None = next((traits for traits in unsuffixed_traits if traits.wanted), None)
        self.independent = not (self.isolate or self.subtrees or self.repeated)
        self.flat = not test.request.nested

    def accepts(self, chosen: Sequence[Provider], wanted: TraitTest | None) -> bool:
        """The rules that need all slots: traits of the unsuffixed group, and below 1.29 one provider a tree."""
        if wanted is not None:
            names = frozenset[str]().union(*(chosen[index].traits.set for index in self.unsuffixed))
            if not wanted.has_required(names):
                return False
        return not (self.flat and len({p.id for p in chosen}) > len({p.root_id for p in chosen}))


def assignments(rules: Rules, options: Options) -> Iterator[Assignment | None]:
    """The assignments of one tree in a fixed order; None where the search was long without result."""
    wanted = rules.traits
    if wanted is not None:
        at_best, at_least = _traits_of(rules, options)
        if not wanted.has_required(at_best):
            return iter(())
        if wanted.has_required(at_least):
            wanted = None
    if not rules.independent:
        return _Descent(rules, options, wanted).run() if _has_room(rules, options) else iter(())
    if wanted is None and not rules.flat:
        return product(*options)
    return (chosen if rules.accepts(chosen, wanted) else None for chosen in product(*options))


def _traits_of(rules: Rules, options: Options) -> tuple[frozenset[str], frozenset[str]]:
    """The traits that the unsuffixed group can have, and those that it has whichever providers are chosen."""
    of_slots = [[provider.traits.set for provider in options[slot]] for slot in rules.unsuffixed]
    at_best = frozenset[str]().union(*(names for of_slot in of_slots for names in of_slot))
    at_least = frozenset[str]().union(*(frozenset.intersection(*of_slot) for of_slot in of_slots))
    return at_best, at_least


def _has_room(rules: Rules, options: Options) -> bool:
    """Whether the providers that come into question have enough of each repeated class, taken together.

    This is what finds out at once that five free devices cannot serve six groups of one.
    """
    for name in rules.repeated:
        demand = 0
        room: dict[int, int] = {}
        for resources, providers in zip(rules.resources, options, strict=True):
            amount = dict(resources).get(name)
            if amount is not None:
                demand += amount
                room.update((provider.id, provider.inventories[name].limit) for provider in providers)
        if demand > sum(room.values()):
            return False
    if rules.isolate:
        return _can_isolate([providers for providers, own in zip(options, rules.suffixed, strict=True) if own])
    return True


def _can_isolate(options: Options) -> bool:
    """Whether each of these slots can have a provider of its own: a bipartite matching by augmenting paths."""
    holder: dict[int, int] = {}

    def place(slot: int, seen: set[int]) -> bool:
        for provider in options[slot]:
            if provider.id not in seen:
                seen.add(provider.id)
                if provider.id not in holder or place(holder[provider.id], seen):
                    holder[provider.id] = slot
                    return True
        return False

    return all(place(slot, set()) for slot in range(len(options)))


class _Descent:
    """A depth-first search that keeps what is taken so far, and gives up a prefix as soon as it cannot work."""

    def __init__(self, rules: Rules, options: Options, wanted: TraitTest | None) -> None:
        self._rules = rules
        self._wanted = wanted
        self._options = options
        # the slots with the fewest options first, so that dead ends show near the top
        self._order = sorted(range(len(options)), key=lambda slot: len(options[slot]))
        self._chosen: list[Provider | None] = [None] * len(options)
        self._taken: dict[tuple[int, str], int] = {}
        self._isolated: set[int] = set()
        self._idle = 0

    def run(self, depth: int = 0) -> Iterator[Assignment | None]:
        if depth == len(self._order):
            chosen = tuple(provider for provider in self._chosen if provider is not None)
            if self._rules.accepts(chosen, self._wanted):
                self._idle = 0
                yield chosen
            return
        slot = self._order[depth]
        for provider in self._options[slot]:
            if self._take(slot, provider):
                yield from self.run(depth + 1)
                self._release(slot, provider)
            self._idle += 1
            if self._idle >= PAUSE_AFTER:
                self._idle = 0
                yield None

    def _take(self, slot: int, provider: Provider) -> bool:
        rules = self._rules
        isolated = rules.isolate and rules.suffixed[slot]
        if isolated and provider.id in self._isolated:
            return False
        for name, amount in rules.resources[slot]:
            if name in rules.repeated:
                taken = self._taken.get((provider.id, name), 0)
                if taken + amount > provider.inventories[name].limit:
                    return False
        self._chosen[slot] = provider
        if rules.subtrees and not all(self._can_be_subtree(slots) for slots in rules.subtrees if slot in slots):
            self._chosen[slot] = None
            return False
        if isolated:
            self._isolated.add(provider.id)
        self._add(slot, provider, 1)
        return True

    def _release(self, slot: int, provider: Provider) -> None:
        self._chosen[slot] = None
        self._isolated.discard(provider.id) if self._rules.suffixed[slot] else None
        self._add(slot, provider, -1)

    def _add(self, slot: int, provider: Provider, sign: int) -> None:
        for name, amount in self._rules.resources[slot]:
            if name in self._rules.repeated:
                key = (provider.id, name)
                self._taken[key] = self._taken.get(key, 0) + sign * amount

    def _can_be_subtree(self, slots: Sequence[int]) -> bool:
        """Whether some provider of these slots is, or still can be, at or above all that are chosen so far."""
        chosen = [provider for slot in slots if (provider := self._chosen[slot]) is not None]
        above = frozenset.intersection(*(provider.lineage for provider in chosen))
        if any(provider.id in above for provider in chosen):
            return True
        open_slots = [slot for slot in slots if self._chosen[slot] is None]
        return any(provider.id in above for slot in open_slots for provider in self._options[slot])
