"""Random small clouds and requests, for hypothesis."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from limes.placement.search.request import CandidatesRequest, Group
from limes.placement.search.values import Aggregates, Traits
from tests.placement.search.brute_force import SHARES
from tests.placement.search.clouds import Node, identity

CLASSES = ["VCPU", "MEMORY_MB", "DISK_GB"]
TRAITS = ["HW_SSE", "HW_AVX", "CUSTOM_A"]
AGGREGATES = ["a", "b"]


@st.composite
def inventories(draw: DrawFn) -> dict[Any, Any]:
    total = draw(st.integers(1, 6))
    return {
        "total": total,
        "used": draw(st.integers(0, 2)),
        "min_unit": draw(st.sampled_from([1, 1, 1, 2])),
        "max_unit": draw(st.sampled_from([total, total, 2, 100])),
        "step_size": draw(st.sampled_from([1, 1, 1, 2])),
    }


@st.composite
def clouds(draw: DrawFn) -> list[Node]:
    nodes = []
    for number in range(draw(st.integers(1, 6))):
        parent = draw(st.sampled_from([None, *(one.name for one in nodes)]))
        traits = draw(st.lists(st.sampled_from([*TRAITS, SHARES]), unique=True))
        aggregates = draw(st.lists(st.sampled_from(AGGREGATES), unique=True))
        amounts = draw(st.dictionaries(st.sampled_from(CLASSES), inventories()))
        nodes.append(Node(f"p{number}", amounts, parent, traits, aggregates))
    return nodes


def names_of(names: list[Any]) -> SearchStrategy[Any]:
    return st.sets(st.sampled_from(names), min_size=1, max_size=2).map(frozenset)


def seldom(strategy: SearchStrategy[Any], otherwise: object) -> SearchStrategy[Any]:
    """One draw in five: else hardly any request that has several groups could be met."""
    return st.integers(0, 4).flatmap(lambda number: strategy if number == 4 else st.just(otherwise))


traits = seldom(
    st.builds(
        Traits,
        st.lists(names_of(TRAITS), max_size=2).map(tuple),
        st.sets(st.sampled_from(TRAITS), max_size=1).map(frozenset),
    ),
    Traits(),
)
aggregates = seldom(
    st.builds(
        Aggregates,
        st.lists(names_of([identity(name) for name in AGGREGATES]), max_size=2).map(tuple),
        st.sets(st.sampled_from([identity(name) for name in AGGREGATES]), max_size=1).map(frozenset),
    ),
    Aggregates(),
)
amounts = st.dictionaries(st.sampled_from(CLASSES), st.integers(1, 3), min_size=1, max_size=3)


@st.composite
def requests(draw: DrawFn) -> CandidatesRequest:
    suffixes = draw(st.sampled_from([[""], ["", "1"], ["1"], ["1", "2"], ["", "1", "2"], ["1", "2", "3"]]))
    groups = []
    for suffix in suffixes:
        resourceless = suffix not in ("", "1") and draw(st.booleans())
        in_tree = draw(st.sampled_from([None, None, None, identity("p0"), identity("p3")]))
        given = {} if resourceless else draw(amounts)
        groups.append(Group(suffix, given, draw(traits), draw(aggregates), in_tree))
    suffixed = [suffix for suffix in suffixes if suffix]
    subtrees = draw(st.lists(names_of(suffixed), max_size=2)) if len(suffixed) > 1 else []
    return CandidatesRequest(
        tuple(groups),
        isolate=draw(st.booleans()),
        root_traits=draw(traits),
        same_subtrees=tuple(names for names in subtrees if len(names) > 1),
        nested=draw(st.sampled_from([True, True, False])),
    )


@st.composite
def device_trees(draw: DrawFn) -> list[Node]:
    """One or two trees of devices that hold little, without traits and aggregates."""
    nodes = []
    for number in range(draw(st.integers(2, 7))):
        parent = draw(st.sampled_from([one.name for one in nodes] or [None]))
        if number == 5 and draw(st.booleans()):
            parent = None
        amounts = draw(st.dictionaries(st.sampled_from(CLASSES[:2]), st.integers(1, 2)))
        nodes.append(Node(f"p{number}", amounts, parent))
    return nodes


@st.composite
def tied_requests(draw: DrawFn) -> CandidatesRequest:
    """Suffixed groups of one class or none, tied by `same_subtree`, isolated or not."""
    suffixes = ["1", "2", "3", "4"][: draw(st.integers(2, 4))]
    some = st.sampled_from([{CLASSES[0]: 1}, {CLASSES[1]: 1}, {CLASSES[0]: 2}])
    groups = [Group("1", draw(some)), *(Group(s, draw(st.one_of(some, st.just({})))) for s in suffixes[1:])]
    if draw(st.booleans()):
        groups.insert(0, Group("", draw(some)))
    subtrees = draw(st.lists(st.sets(st.sampled_from(suffixes), min_size=2).map(frozenset), min_size=1, max_size=2))
    return CandidatesRequest(tuple(groups), isolate=draw(st.booleans()), same_subtrees=tuple(subtrees))
