"""What the slots of one candidate demand of each other, the same for all trees; and when the search for them ends."""

from collections.abc import Callable, Sequence

from limes.placement.search.matching import RequestTest, TraitTest
from limes.placement.search.model import Provider

Assignment = tuple[Provider, ...]
"""One provider for each slot, in the order of the slots."""
Options = Sequence[Sequence[Provider]]
"""For each slot the providers that may take it."""
Amounts = tuple[tuple[str, int], ...]


class DeadlinePassed(Exception):
    """Ends a search from within. Only `limes.placement.search.candidates` sees it."""


class Deadline:
    """When one search has to end. There is no clock here: whoever starts the search says whether its time is over."""

    __slots__ = ("_passed",)

    def __init__(self, passed: Callable[[], bool] = lambda: False) -> None:
        self._passed = passed

    def check(self) -> None:
        """Raises `DeadlinePassed` if it is time to stop."""
        if self._passed():
            raise DeadlinePassed


class Rules:
    """The rules of one request that are about more than one slot."""

    def __init__(self, test: RequestTest, deadline: Deadline) -> None:
        slots = test.slots
        self.deadline = deadline
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
        """Returns whether a whole assignment keeps all rules. No provider may be asked for more than it has.

        `wanted` is `traits`, or None if the assignment is known to have them.
        """
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
