"""All candidates of a request, from all roots in turn, until there are enough."""

from collections.abc import Iterator
from dataclasses import dataclass

from limes.placement.search.assignment import PAUSE_AFTER, Assignment, Rules, assignments
from limes.placement.search.matching import RequestTest, Slot
from limes.placement.search.model import Cloud
from limes.placement.search.request import CandidatesRequest

DEFAULT_MAX_CANDIDATES = 100_000
_STEPS_PER_CANDIDATE = 20


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates, each with one provider for each of `slots`."""

    slots: tuple[Slot, ...]
    candidates: list[Assignment]
    complete: bool
    """False when the search ended at its bound, before the client's limit was reached."""


def search(request: CandidatesRequest, cloud: Cloud, max_candidates: int = DEFAULT_MAX_CANDIDATES) -> Found:
    """Looks for candidates until all are found, or `request.limit`, or `max_candidates`.

    The order is the same each time: every root gives its first candidate, in the order of ids, then every root its
    second, and so on. So a limit gives a choice of roots, and no root can take the room of the others.
    """
    test = RequestTest(request, cloud)
    most = min(request.limit or max_candidates, max_candidates)
    candidates: list[Assignment] = []
    seen: set[tuple[int, ...]] = set()
    idle_left = max_candidates * _STEPS_PER_CANDIDATE // PAUSE_AFTER
    for found in _in_turn(test, cloud):
        if found is None:
            idle_left -= 1
            if idle_left <= 0:
                return Found(test.slots, candidates, complete=False)
            continue
        if cloud.sharing and all(provider.shares for provider in found):
            # what only sharing providers serve is found again at each root that they are shared with
            key = tuple(provider.id for provider in found)
            if key in seen:
                continue
            seen.add(key)
        candidates.append(found)
        if len(candidates) >= most:
            return Found(test.slots, candidates, complete=most == request.limit)
    return Found(test.slots, candidates, complete=True)


def _in_turn(test: RequestTest, cloud: Cloud) -> Iterator[Assignment | None]:
    rules = Rules(test)
    width = len(test.slots)
    waiting: list[Iterator[Assignment | None]] = []
    for tree in test.trees():
        shared = cloud.shared_with(tree) if cloud.sharing else []
        if tree.single is not None and not shared:
            if test.fits_alone(tree.single):
                yield (tree.single,) * width
            continue
        options = test.options(tree, shared)
        if options is None:
            continue
        rest = assignments(rules, options)
        for first in rest:
            yield first
            waiting.append(rest)
            break
    while waiting:
        still: list[Iterator[Assignment | None]] = []
        for rest in waiting:
            for found in rest:
                yield found
                still.append(rest)
                break
        waiting = still
