"""Depth-first search for requests whose slots demand something of each other."""

from collections.abc import Iterator

from limes.placement.search.matching import TraitTest
from limes.placement.search.model import Provider
from limes.placement.search.rules import Assignment, Options, Rules
from limes.placement.search.subtrees import Choices, Subtrees

PAUSE_AFTER = 500
"""After this many steps without a result, a search lets others have their turn."""


class Backtracking:
    """Assigns slot by slot, keeps track of what is taken, and backtracks as soon as no assignment can follow."""

    def __init__(self, rules: Rules, options: Options, wanted: TraitTest | None, *, crowded: bool) -> None:
        """`crowded` says whether a provider can run out of something; `wanted` is as in `Rules.accepts`."""
        self._rules = rules
        self._options = options
        self._wanted = wanted
        self._crowded = crowded
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
        """Yields the assignments, and None after every `PAUSE_AFTER` steps that led to none."""
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
        if state is not None and self._subtrees is not None and self._subtrees.tied[slot]:
            options = self._subtrees.providers_for(slot, state)
        for provider in options:
            if self._may_take(slot, provider):
                self._take(slot, provider)
                after = self._choices_after(state, slot, provider)
                if after is not None or state is None:
                    yield from self._search_from(depth + 1, after)
                self._release(slot, provider)
            self._idle += 1
            if self._idle >= PAUSE_AFTER:
                self._idle = 0
                yield None

    def _choices_after(self, state: Choices | None, slot: int, provider: Provider) -> Choices | None:
        if state is None or self._subtrees is None:
            return None
        return self._subtrees.choices_after(state, slot, provider, self._may_take, self._taken)

    def _may_take(self, slot: int, provider: Provider) -> bool:
        rules = self._rules
        if rules.isolate and rules.suffixed[slot] and provider.id in self._isolated:
            return False
        if self._crowded:
            for name, amount in rules.shared[slot]:
                if self._taken.get((provider.id, name), 0) + amount > provider.inventories[name].limit:
                    return False
        return True

    def _take(self, slot: int, provider: Provider) -> None:
        self._chosen[slot] = provider
        if self._crowded:
            self._add(slot, provider, 1)
        if self._rules.isolate and self._rules.suffixed[slot]:
            self._isolated.add(provider.id)

    def _release(self, slot: int, provider: Provider) -> None:
        self._chosen[slot] = None
        if self._crowded:
            self._add(slot, provider, -1)
        if self._rules.isolate and self._rules.suffixed[slot]:
            self._isolated.discard(provider.id)

    def _add(self, slot: int, provider: Provider, sign: int) -> None:
        for name, amount in self._rules.shared[slot]:
            key = (provider.id, name)
            self._taken[key] = self._taken.get(key, 0) + sign * amount
