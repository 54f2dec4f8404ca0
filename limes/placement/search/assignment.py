"""All ways to give each slot of a request one provider, within one tree: lazily, and leaving dead ends early.

Where the slots demand nothing of each other, the assignments are the plain product of the options, which the standard
library makes fastest. A small product is made and filtered. Otherwise backtracking finds them, unless the sum
of all resources shows that there are none.
"""

from collections.abc import Iterator
from itertools import product
from math import prod

from limes.placement.search.matching import Assignment, Options, Rules, TraitTest
from limes.placement.search.model import Provider
from limes.placement.search.subtrees import Choices, Subtrees

SMALL = 64
"""Up to this many combinations it is faster to look at all of them than to leave dead ends early."""


def assignments(rules: Rules, options: Options) -> Iterator[Assignment | None]:
    """Yields the assignments of one tree in a fixed order; None after each long stretch without a result."""
    wanted = rules.traits
    if wanted is not None and _surely_has(wanted, rules, options):
        wanted = None
    if wanted is not None:
        at_best, at_least = _traits_of(rules, options)
        if not wanted.has_required(at_best):
            return iter(())
        if wanted.has_required(at_least):
            wanted = None
    crowded = not _has_plenty(rules, options)
    if crowded or (rules.stepwise and prod(map(len, options)) > SMALL):
        if not _has_room(rules, options):
            return iter(())
        return Backtracking(rules, options, wanted, crowded=crowded).run()
    if wanted is None and not rules.flat and not rules.stepwise:
        return product(*options)
    return _filtered(rules, options, wanted)


def _filtered(rules: Rules, options: Options, wanted: TraitTest | None) -> Iterator[Assignment | None]:
    idle = 0
    for chosen in product(*options):
        if rules.accepts(chosen, wanted):
            idle = 0
            yield chosen
            continue
        idle += 1
        if idle >= PAUSE_AFTER:
            idle = 0
            yield None


def _surely_has(wanted: TraitTest, rules: Rules, options: Options) -> bool:
    """Returns whether the only provider for some slot has all the traits, as most trees' roots do."""
    return any(
        len(options[slot]) == 1 and wanted.has_required(options[slot][0].traits.set) for slot in rules.unsuffixed
    )


def _traits_of(rules: Rules, options: Options) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the traits that the unsuffixed group can have at best, and the ones that it has with any providers."""
    of_slots = [[provider.traits.set for provider in options[slot]] for slot in rules.unsuffixed]
    at_best = frozenset[str]().union(*(names for of_slot in of_slots for names in of_slot))
    at_least = frozenset[str]().union(*(frozenset.intersection(*of_slot) for of_slot in of_slots))
    return at_best, at_least


def _has_plenty(rules: Rules, options: Options) -> bool:
    """Returns whether each provider alone has enough for all slots together, so that none can run out of anything."""
    for name, total in rules.totals.items():
        for slot in rules.takers[name]:
            for provider in options[slot]:
                if provider.inventories[name].limit < total:
                    return False
    return True


def _has_room(rules: Rules, options: Options) -> bool:
    """Returns whether the possible providers together have enough: five free devices cannot serve six groups of one."""
    for name, total in rules.totals.items():
        limits = {p.id: p.inventories[name].limit for slot in rules.takers[name] for p in options[slot]}
        if total > sum(limits.values()):
            return False
    if rules.isolate:
        return _can_isolate([providers for providers, own in zip(options, rules.suffixed, strict=True) if own])
    return True


def _can_isolate(options: Options) -> bool:
    """Returns whether each of these slots can have a provider of its own: a bipartite matching by augmenting paths."""
    holder: dict[int, int] = {}

    def assign(slot: int, seen: set[int]) -> bool:
        for provider in options[slot]:
            if provider.id not in seen:
                seen.add(provider.id)
                if provider.id not in holder or assign(holder[provider.id], seen):
                    holder[provider.id] = slot
                    return True
        return False

    return all(assign(slot, set()) for slot in range(len(options)))


PAUSE_AFTER = 500
"""After this many steps without a result, a search lets others have their turn."""


class Backtracking:
    """Assigns slot by slot, keeps track of what is taken, and backtracks as soon as no assignment can follow."""

    def __init__(self, rules: Rules, options: Options, wanted: TraitTest | None, *, crowded: bool) -> None:
        """`crowded` says whether a provider can run out of something; `wanted` is as in `Rules.accepts`."""
        self._rules, self._options, self._wanted, self._crowded = rules, options, wanted, crowded
        self._subtrees = Subtrees(rules, options, crowded=crowded) if rules.subtrees else None
        # the slots with the fewest options first, so that dead ends show near the top
        self._order = (
            self._subtrees.order()
            if self._subtrees
            else sorted(range(len(options)), key=lambda slot: len(options[slot]))
        )
        self._chosen: list[Provider | None] = [None] * len(options)
        self._taken: dict[tuple[int, str], int] = {}
        self._isolated: set[int] = set()
        self._idle = 0

    def run(self) -> Iterator[Assignment | None]:
        if self._subtrees is None:
            return self._search_from(0, None)
        state = self._subtrees.initial_choices()
        return iter(()) if state is None else self._search_from(0, state)

    def _search_from(self, depth: int, state: Choices | None) -> Iterator[Assignment | None]:
        if depth == len(self._order):
            chosen = tuple(provider for provider in self._chosen if provider is not None)
            if self._rules.accepts(chosen, self._wanted):
                self._idle = 0
                yield chosen
            return
        slot = self._order[depth]
        options = self._options[slot]
        subtrees = self._subtrees
        if state is not None and subtrees is not None and subtrees.tied[slot]:
            options = subtrees.providers_for(slot, state)
        after = None
        for provider in options:
            if self._may_take(slot, provider):
                self._take(slot, provider, 1)
                if state is not None and subtrees is not None:
                    after = subtrees.choices_after(state, slot, provider, self._may_take, self._taken)
                if after is not None or state is None:
                    yield from self._search_from(depth + 1, after)
                self._take(slot, provider, -1)
            self._idle += 1
            if self._idle >= PAUSE_AFTER:
                self._idle = 0
                yield None

    def _may_take(self, slot: int, provider: Provider) -> bool:
        rules = self._rules
        if rules.isolate and rules.suffixed[slot] and provider.id in self._isolated:
            return False
        if self._crowded:
            for name, amount in rules.shared[slot]:
                if self._taken.get((provider.id, name), 0) + amount > provider.inventories[name].limit:
                    return False
        return True

    def _take(self, slot: int, provider: Provider, sign: int) -> None:
        """With `sign` -1 gives back what was taken."""
        rules = self._rules
        self._chosen[slot] = provider if sign > 0 else None
        if self._crowded:
            for name, amount in rules.shared[slot]:
                key = (provider.id, name)
                self._taken[key] = self._taken.get(key, 0) + sign * amount
        if rules.isolate and rules.suffixed[slot]:
            if sign > 0:
                self._isolated.add(provider.id)
            else:
                self._isolated.discard(provider.id)
