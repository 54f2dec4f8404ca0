"""The search step by step, for requests whose slots demand something of each other."""

from collections.abc import Iterator, Sequence

from limes.placement.search.matching import TraitTest
from limes.placement.search.model import Provider
from limes.placement.search.rules import Assignment, Options, Rules

PAUSE_AFTER = 500
"""Steps without a result, after which a search offers to let others have their turn."""


class Descent:
    """A depth-first search that keeps what is taken so far, and gives up a prefix as soon as it cannot work."""

    def __init__(self, rules: Rules, options: Options, wanted: TraitTest | None, *, crowded: bool) -> None:
        """`crowded` tells whether a provider can run out of something. `wanted` as in `Rules.accepts`."""
        self._rules = rules
        self._options = options
        self._wanted = wanted
        self._crowded = crowded
        # the slots with the fewest options first, so that dead ends show near the top
        self._order = sorted(range(len(options)), key=lambda slot: len(options[slot]))
        self._chosen: list[Provider | None] = [None] * len(options)
        self._taken: dict[tuple[int, str], int] = {}
        self._isolated: set[int] = set()
        self._idle = 0

    def run(self, depth: int = 0) -> Iterator[Assignment | None]:
        """The assignments, and None after every `PAUSE_AFTER` steps that led to none."""
        if depth == len(self._order):
            chosen = tuple(provider for provider in self._chosen if provider is not None)
            if self._rules.accepts(chosen, self._wanted):
                self._idle = 0
                yield chosen
            return
        slot = self._order[depth]
        for provider in self._options[slot]:
            if self._may_take(slot, provider):
                self._take(slot, provider)
                yield from self.run(depth + 1)
                self._release(slot, provider)
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
        return all([self._can_be_subtree(slots, slot, provider) for slots in rules.subtrees_of[slot]])

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

    def _can_be_subtree(self, slots: Sequence[int], slot: int, provider: Provider) -> bool:
        """Whether, with `provider` in `slot`, one provider of `slots` is or still can be at or above all the others."""
        chosen = [known for other in slots if (known := self._chosen[other]) is not None]
        if not chosen:
            return True
        above = provider.lineage.intersection(*[known.lineage for known in chosen])
        if provider.id in above or any([known.id in above for known in chosen]):
            return True
        still_open = [other for other in slots if other != slot and self._chosen[other] is None]
        return any(option.id in above for other in still_open for option in self._options[other])
