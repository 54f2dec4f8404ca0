"""Queries that would take minutes if everything were tried: a better order finds out soon, and a bound ends the rest."""

import itertools
from collections.abc import Callable, Mapping, Sequence

import pytest

from limes.placement.search.candidates import SearchResult, search
from limes.placement.search.model import Cloud
from limes.placement.search.request import parse
from limes.placement.search.values import parse_pairs
from tests.placement.search.clouds import cloud_of, node

FOURS = ((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12))
INTERLEAVED = ((1, 4, 7, 10), (2, 5, 8, 11), (3, 6, 9, 12))
OVERLAPPING = ((1, 2, 3, 4), (4, 5, 6, 7), (8, 9, 10, 12))


def trees(root: Mapping[str, int], child: Mapping[str, int], traits: Sequence[str] = ()) -> Cloud:
    """Three trees of forty children."""
    nodes = []
    for number in range(3):
        nodes.append(node(f"root{number}", traits=traits, **root))
        nodes += [node(f"child{number}-{one}", f"root{number}", **child) for one in range(40)]
    return cloud_of(*nodes)


def query(sets: Sequence[Sequence[int]], policy: str, resources: Callable[[int], str]) -> str:
    """Twelve groups."""
    groups = [resources(number) for number in range(1, 13)]
    tied = ["same_subtree=" + ",".join(f"_{number}" for number in numbers) for numbers in sets]
    return "&".join([*groups, *tied, f"group_policy={policy}"])


def one_core(number: int) -> str:
    return f"resources_{number}=VCPU:1"


def core_or_disk(number: int) -> str:
    return f"resources_{number}=" + ("VCPU:1" if number % 2 else "DISK_GB:1")


def fourth_without_resources(number: int) -> str:
    return f"required_{number}=HW_SSE" if number % 4 == 0 else one_core(number)


def run(cloud: Cloud, text: str, steps: float, limit: int | None = None) -> SearchResult:
    """Searches for as long as it takes to look at its clock `steps` times."""
    looks = itertools.count()
    pairs = parse_pairs(text if limit is None else f"{text}&limit={limit}")
    request = parse(pairs, 39, cloud)
    return search(request, cloud, time_is_over=lambda: next(looks) >= steps)


@pytest.mark.parametrize("sets", [FOURS, INTERLEAVED, OVERLAPPING])
@pytest.mark.parametrize(
    ("root", "child", "policy", "resources"),
    [
        # all four of a set have to be at one child, or one of them at the root, which is too small for all three sets
        ({"VCPU": 8}, {"VCPU": 8}, "isolate", one_core),
        ({"VCPU": 1}, {"VCPU": 1}, "none", one_core),
        ({"VCPU": 1}, {"VCPU": 3}, "none", one_core),
        ({}, {"VCPU": 3}, "none", one_core),
        ({"VCPU": 3}, {"VCPU": 3}, "none", lambda number: f"resources_{number}=VCPU:2"),
        ({}, {"VCPU": 8}, "isolate", one_core),
    ],
)
def test_that_there_are_none_is_seen_soon(
    sets: Sequence[Sequence[int]],
    root: Mapping[str, int],
    child: Mapping[str, int],
    policy: str,
    resources: Callable[[int], str],
) -> None:
    found = run(trees(root, child), query(sets, policy, resources), steps=500)
    assert (found.candidates, found.complete) == ([], True)


def test_that_two_classes_of_a_root_are_too_few_for_three_sets() -> None:
    both = {"VCPU": 1, "DISK_GB": 1}
    found = run(trees(both, both), query(FOURS, "none", core_or_disk), steps=500)
    assert (found.candidates, found.complete) == ([], True)


@pytest.mark.parametrize("sets", [FOURS, INTERLEAVED, OVERLAPPING])
@pytest.mark.parametrize(
    ("root", "child", "resources"),
    [({"VCPU": 3}, {"VCPU": 1}, one_core), ({}, {"VCPU": 7}, one_core), ({}, {"VCPU": 1}, fourth_without_resources)],
)
def test_some_are_found_without_many_dead_ends(
    sets: Sequence[Sequence[int]], root: Mapping[str, int], child: Mapping[str, int], resources: Callable[[int], str]
) -> None:
    found = run(trees(root, child, ["HW_SSE"]), query(sets, "none", resources), steps=20_000, limit=1000)
    assert len(found.candidates) == 1000
    assert len(set(found.candidates)) == 1000
    assert found.complete


class TestTheBoundOnTime:
    cloud = trees({"VCPU": 3}, {"VCPU": 1})
    text = query(FOURS, "none", one_core)

    def test_what_was_found_until_then_is_the_answer(self) -> None:
        cut = run(self.cloud, self.text, steps=1000)
        assert 0 < len(cut.candidates) < 83_000
        assert (cut.complete, cut.in_time) == (False, False)
        more = run(self.cloud, self.text, steps=2000)
        assert more.candidates[: len(cut.candidates)] == cut.candidates

    def test_nothing_may_have_been_found(self) -> None:
        cut = run(self.cloud, self.text, steps=0)
        assert (cut.candidates, cut.complete, cut.in_time) == ([], False, False)

    def test_a_limit_that_was_reached_is_all_that_was_asked_for(self) -> None:
        enough = run(self.cloud, self.text, steps=1000, limit=5)
        assert (len(enough.candidates), enough.complete, enough.in_time) == (5, True, True)

    def test_many_plain_candidates_and_many_trees_end_as_well(self) -> None:
        cloud = cloud_of(*(node(f"host{number}", VCPU=1) for number in range(1000)))
        assert len(run(cloud, "resources=VCPU:1", steps=4).candidates) < 1000
        assert not run(cloud, "resources=VCPU:2", steps=2).candidates
        wide = cloud_of(node("root"), *(node(f"gpu{number}", "root", CUSTOM_GPU=9) for number in range(30)))
        groups = "&".join(f"resources{number}=CUSTOM_GPU:1" for number in range(1, 10)) + "&group_policy=none"
        assert 0 < len(run(wide, groups, steps=20).candidates) < 10_000
