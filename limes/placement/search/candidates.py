"""All candidates of a request, from all roots in turn, until there are enough."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from limes.placement.search.assignment import assignments
from limes.placement.search.descent import PAUSE_AFTER
from limes.placement.search.matching import RequestTest, Slot
from limes.placement.search.model import Cloud
from limes.placement.search.request import CandidatesRequest
from limes.placement.search.rules import Assignment, Rules

DEFAULT_MAX_CANDIDATES = 100_000
_STEPS_PER_CANDIDATE = 20


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates, each with one provider for each of `slots`."""

    slots: tuple[Slot, ...]
    candidates: list[Assignment]
    complete: bool
    """False when the search ended at its bound, before the client's limit was reached."""


Shuffle = Callable[[list[Any]], None]


def search(
    request: CandidatesRequest,
    cloud: Cloud,
    max_candidates: int = DEFAULT_MAX_CANDIDATES,
    shuffle: Shuffle | None = None,
) -> Found:
    """Looks for candidates until all are found, or `request.limit`, or `max_candidates`.

    The order is the same each time: every root gives its first candidate, in the order of ids, then every root its
    second, and so on. So a limit gives a choice of roots, and no root can take the room of the others. Unless `shuffle`
    is given, which is applied to the roots first and to the candidates at last.
    """
    test = RequestTest(request, cloud)
    most = min(request.limit or max_candidates, max_candidates)
    candidates: list[Assignment] = []
    complete = _collect(_in_turn(test, cloud, shuffle), candidates, most, max_candidates, bool(cloud.sharing))
    if shuffle is not None:
        shuffle(candidates)
    return Found(test.slots, candidates, complete or len(candidates) == request.limit)


def _collect(
    found: Iterable[Assignment | None], candidates: list[Assignment], most: int, max_candidates: int, sharing: bool
) -> bool:
    """Takes up to `most` candidates, each once, and answers whether these were all."""
    seen: set[tuple[int, ...]] = set()
    idle_left = max_candidates * _STEPS_PER_CANDIDATE // PAUSE_AFTER
    for one in found:
        if one is None:
            idle_left -= 1
            if idle_left <= 0:
                return False
            continue
        if sharing and all(provider.shares for provider in one):
            # what only sharing providers serve is found again at each root that they are shared with
            key = tuple(provider.id for provider in one)
            if key in seen:
                continue
            seen.add(key)
        candidates.append(one)
        if len(candidates) >= most:
            return False
    return True


def _in_turn(test: RequestTest, cloud: Cloud, shuffle: Shuffle | None) -> Iterator[Assignment | None]:
    rules = Rules(test)
    width = len(test.slots)
    waiting: list[Iterator[Assignment | None]] = []
    trees = list(test.trees())
    if shuffle is not None:
        shuffle(trees)
    for tree in trees:
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
