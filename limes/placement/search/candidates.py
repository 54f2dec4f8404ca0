"""All candidates of a request, from all roots in turn, until there are enough."""

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

from msgspec import Struct

from limes.placement.search.assignment import PAUSE_AFTER, assignments
from limes.placement.search.matching import Assignment, DeadlinePassed, RequestTest, Rules, Slot
from limes.placement.search.memory import QueryMemory
from limes.placement.search.model import Cloud, Provider, Tree
from limes.placement.search.request import CandidatesRequest

DEFAULT_MAX_CANDIDATES = 100_000
_STEPS_PER_CANDIDATE = 20
_AMOUNTS_PER_CANDIDATE = 10
"""A request for more amounts than this gets proportionally fewer candidates: the answer's size has to be bounded."""
_CHECKED_EVERY = 128
"""After this many candidates, or trees, the search checks whether its time is over."""
_FEW = 16
"""Up to this many combinations of a tree are all looked at and remembered, even if fewer are asked for."""


class SearchResult(Struct, frozen=True):
    """The candidates, each with one provider for each of `slots`."""

    slots: tuple[Slot, ...]
    candidates: list[Assignment]
    complete: bool
    """False if the search ended at a bound, before the client's limit was reached."""
    in_time: bool = True
    """False if that was the bound on its time."""


Shuffle = Callable[[list[Any]], None]


def search(
    request: CandidatesRequest,
    cloud: Cloud,
    max_candidates: int = DEFAULT_MAX_CANDIDATES,
    shuffle: Shuffle | None = None,
    memory: QueryMemory | None = None,
    time_is_over: Callable[[], bool] = lambda: False,
) -> SearchResult:
    """Looks for candidates until all are found, or `request.limit`, or `max_candidates`, or `time_is_over()`.

    The order is the same each time: every root gives its first candidate, in the order of ids, then every root its
    second, and so on. So a limit gives a choice of roots, and no root can push out the others. `shuffle`, if given, is
    applied to the roots before the search and to the candidates after it. `memory` belongs to this request with any
    limit. A request that names a tree has none: what a tree gives for it does not depend on that tree alone.
    """
    test = RequestTest(request, cloud)
    amounts = sum(len(slot.resources) or 1 for slot in test.slots)
    bound = min(max_candidates, max_candidates * _AMOUNTS_PER_CANDIDATE // max(amounts, 1))
    most = min(request.limit or bound, bound)
    candidates: list[Assignment] = []

    def check_time() -> None:
        if time_is_over():
            raise DeadlinePassed

    in_time = True
    try:
        complete = _Search(test, memory, check_time).collect(candidates, most, max_candidates, shuffle)
    except DeadlinePassed:
        complete = in_time = False
    if shuffle is not None:
        shuffle(candidates)
    return SearchResult(test.slots, candidates, complete or len(candidates) == request.limit, in_time)


class _Search:
    def __init__(self, test: RequestTest, memory: QueryMemory | None, check_time: Callable[[], None]) -> None:
        self._test, self._memory, self._check_time = test, memory, check_time
        self._rules = Rules(test, check_time)
        self._width = len(test.slots)

    def collect(self, candidates: list[Assignment], most: int, max_candidates: int, shuffle: Shuffle | None) -> bool:
        """Takes up to `most` candidates, each once, and returns whether these were all. Raises `DeadlinePassed`."""
        seen: set[tuple[int, ...]] = set()
        idle_left = max_candidates * _STEPS_PER_CANDIDATE // PAUSE_AFTER
        sharing = bool(self._test.cloud.sharing)
        for assignment in self.take_turns(shuffle):
            if assignment is None:
                self._check_time()
                idle_left -= 1
                if idle_left <= 0:
                    return False
                continue
            if sharing and all(provider.shares for provider in assignment):
                # a candidate of sharing providers alone turns up at each root that they are shared with
                key = tuple(provider.id for provider in assignment)
                if key in seen:
                    continue
                seen.add(key)
            candidates.append(assignment)
            if len(candidates) >= most:
                return False
            if not len(candidates) % _CHECKED_EVERY:
                self._check_time()
        return True

    def take_turns(self, shuffle: Shuffle | None) -> Iterator[Assignment | None]:
        """Yields the candidates of all trees; None after each long stretch without a result."""
        cloud = self._test.cloud
        known = {} if self._memory is None else self._memory.trees
        trees = self._test.trees()
        if shuffle is not None:
            trees = list(trees)
            shuffle(trees)
        waiting: list[Iterator[Assignment | None]] = []
        for number, tree in enumerate(trees):
            if not number % _CHECKED_EVERY:
                self._check_time()
            if cloud.sharing and (shared := cloud.shared_with(tree)):
                assignments = self._with_shared(tree, shared)
            elif (kept := known.get(tree.root.id)) is not None and kept[0]() is tree:
                assignments = iter(kept[1])
            else:
                assignments = self._unshared(tree)
            for first in assignments:
                yield first
                waiting.append(assignments)
                break
        while waiting:
            still: list[Iterator[Assignment | None]] = []
            for assignments in waiting:
                for assignment in assignments:
                    yield assignment
                    still.append(assignments)
                    break
            waiting = still

    def _unshared(self, tree: Tree) -> Iterator[Assignment | None]:
        candidates: list[Assignment] = []
        if tree.single is not None:
            if self._test.fits_alone(tree.single):
                candidates.append((tree.single,) * self._width)
        elif (options := self._test.options(tree, [])) is not None:
            in_order = assignments(self._rules, options)
            if prod(map(len, options)) > _FEW:
                if self._memory is not None:
                    self._memory.forget(tree)
                return in_order
            candidates = [assignment for assignment in in_order if assignment is not None]
        if self._memory is not None:
            self._memory.keep(tree, candidates)
        return iter(candidates)

    def _with_shared(self, tree: Tree, shared: list[Provider]) -> Iterator[Assignment | None]:
        """Yields the candidates of a tree and providers shared with it, which may change when the tree does not."""
        options = self._test.options(tree, shared)
        return iter(()) if options is None else assignments(self._rules, options)
