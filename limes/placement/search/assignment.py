"""All ways to give each slot of a request one provider, within one tree: lazily, and leaving dead ends early.

Where the slots demand nothing of each other, these are the plain product of the options, which the standard library
makes fastest. Otherwise they are looked for step by step, unless a count of the whole tells that there are none.
"""

from collections.abc import Iterator
from itertools import product

from limes.placement.search.descent import Descent
from limes.placement.search.rules import Assignment, Options, Rules


def assignments(rules: Rules, options: Options) -> Iterator[Assignment | None]:
    """The assignments of one tree in a fixed order; None where the search was long without result."""
    wanted = rules.traits
    if wanted is not None:
        at_best, at_least = _traits_of(rules, options)
        if not wanted.has_required(at_best):
            return iter(())
        if wanted.has_required(at_least):
            wanted = None
    crowded = not _has_plenty(rules, options)
    if rules.stepwise or crowded:
        if not _has_room(rules, options):
            return iter(())
        return Descent(rules, options, wanted, crowded=crowded).run()
    if wanted is None and not rules.flat:
        return product(*options)
    return (chosen if rules.accepts(chosen, wanted) else None for chosen in product(*options))


def _traits_of(rules: Rules, options: Options) -> tuple[frozenset[str], frozenset[str]]:
    """The traits that the unsuffixed group can have, and those that it has whichever providers are chosen."""
    of_slots = [[provider.traits.set for provider in options[slot]] for slot in rules.unsuffixed]
    at_best = frozenset[str]().union(*(names for of_slot in of_slots for names in of_slot))
    at_least = frozenset[str]().union(*(frozenset.intersection(*of_slot) for of_slot in of_slots))
    return at_best, at_least


def _limits(rules: Rules, options: Options, name: str) -> dict[int, int]:
    """How much of a resource class each provider has, of those that may be asked for it. By id."""
    return {
        provider.id: provider.inventories[name].limit
        for amounts, providers in zip(rules.shared, options, strict=True)
        if any(name == wanted for wanted, _ in amounts)
        for provider in providers
    }


def _has_plenty(rules: Rules, options: Options) -> bool:
    """Whether each provider alone has enough for all slots together, so that no choice can crowd it."""
    return all(total <= min(_limits(rules, options, name).values()) for name, total in rules.totals.items())


def _has_room(rules: Rules, options: Options) -> bool:
    """Whether the providers that come into question have enough, taken together.

    This is what finds out at once that five free devices cannot serve six groups of one.
    """
    if any(total > sum(_limits(rules, options, name).values()) for name, total in rules.totals.items()):
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
