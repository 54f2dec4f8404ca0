"""What trees gave before is used again, and only where it is still true."""

import dataclasses
import random
import threading
import weakref
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec import structs

from limes.placement.search.candidates import search
from limes.placement.search.matching import RequestTest
from limes.placement.search.memory import MOST_QUERIES, AnswerMemory
from limes.placement.search.model import Cloud, Provider
from limes.placement.search.render import render as parts_of
from tests.placement.search.clouds import CLASSES, TRAITS, cloud_of, find, node, providers_of
from tests.placement.search.strategies import clouds, requests

QUERY = "resources=DISK_GB:10,VCPU:1"


def hosts(count: int, **amounts: Any) -> list[Any]:
    """Compute nodes with a cell each."""
    return [
        one
        for n in range(count)
        for one in (node(f"cn{n}", DISK_GB=100), node(f"cell{n}", f"cn{n}", **({"VCPU": 8} | amounts)))
    ]


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The names of the roots whose trees are looked through."""
    names = []
    plain = RequestTest.options

    def options(self: Any, tree: Any, shared: Any) -> list[list[Provider]] | None:
        names.append(tree.root.name)
        return plain(self, tree, shared)

    monkeypatch.setattr(RequestTest, "options", options)
    return names


def with_use(cloud: Cloud, name: str, used: int) -> Cloud:
    """The cloud after so much of the cell's VCPU was taken."""
    [after] = [one for one in providers_of(hosts(5, VCPU=(8, used))) if one.name == name]
    return cloud.replace([after])


class TestTreesThatStayed:
    def test_are_not_looked_at_again(self, looked_at: list[Any]) -> None:
        cloud, memory = cloud_of(*hosts(5)), AnswerMemory()
        first = find(cloud, QUERY, memory=memory.of("query"))
        assert looked_at == [f"cn{n}" for n in range(5)]
        assert find(cloud, QUERY, memory=memory.of("query")).candidates == first.candidates
        assert len(looked_at) == 5

    def test_only_the_tree_that_changed_is_looked_at(self, looked_at: list[Any]) -> None:
        cloud, memory = cloud_of(*hosts(5)), AnswerMemory()
        before = find(cloud, QUERY, memory=memory.of("query")).candidates
        looked_at.clear()
        full = with_use(cloud, "cell3", 8)
        assert find(full, QUERY, memory=memory.of("query")).candidates == before[:3] + before[4:]
        assert looked_at == ["cn3"]
        free = with_use(full, "cell3", 0)
        assert len(find(free, QUERY, memory=memory.of("query")).candidates) == 5
        assert find(cloud, QUERY, memory=memory.of("query")).candidates == before, "somebody still has the old cloud"

    def test_another_query_looks_for_itself(self, looked_at: list[Any]) -> None:
        cloud, memory = with_use(cloud_of(*hosts(5)), "cell3", 6), AnswerMemory()
        assert len(find(cloud, QUERY, memory=memory.of("query")).candidates) == 5
        more = find(cloud, "resources=DISK_GB:10,VCPU:3", memory=memory.of("another")).candidates
        assert [cell.name for _, cell in more] == ["cell0", "cell1", "cell2", "cell4"]
        assert looked_at == [f"cn{n}" for n in range(5)] * 2

    def test_a_tree_that_may_use_what_others_share_is_looked_at_each_time(self, looked_at: list[Any]) -> None:
        nodes = [node("cn", VCPU=8, aggregates=["a"]), node("cell", "cn", DISK_GB=1), node("far", DISK_GB=100)]
        share = node("nfs", DISK_GB=100, aggregates=["a"], traits=["MISC_SHARES_VIA_AGGREGATE"])
        memory = AnswerMemory()
        assert find(cloud_of(*nodes), QUERY, memory=memory.of("query")).candidates == []
        cloud = cloud_of(*nodes, share)
        for _ in range(2):
            assert len(find(cloud, QUERY, memory=memory.of("query")).candidates) == 1
        assert looked_at == ["cn", "cn", "cn"]


def render(*what: Any) -> bytes:
    """The whole body."""
    return b"".join(parts_of(*what))


def test_threads_that_meet_leave_the_memory_in_order() -> None:
    memory, failures = AnswerMemory().of("query"), []

    def run(seed: int) -> None:
        chance = random.Random(seed)
        cloud = cloud_of(*hosts(5))
        for _ in range(150):
            cloud = with_use(cloud, f"cell{chance.randrange(5)}", chance.randrange(9))
            found = find(cloud, QUERY, memory=memory)
            if render(found, cloud, 39, memory) != render(find(cloud, QUERY), cloud, 39):
                failures.append(seed)

    threads = [threading.Thread(target=run, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    kept = [one for _, candidates in memory.trees.values() for one in candidates]
    assert set(memory.texts) == set(kept)
    written = sum(len(text or "") for text in memory.texts.values())
    with_candidates = sum(bool(candidates) for _, candidates in memory.trees.values())
    assert memory.bytes == written + 300 * len(memory.trees) + 2000 * with_candidates + (280 + 2 * 8) * len(kept)


class TestSize:
    def test_the_oldest_queries_are_forgotten(self, looked_at: list[Any]) -> None:
        cloud, memory = cloud_of(*hosts(5)), AnswerMemory(most=3 * 12_980 + 6_500)  # 12,980 for each query
        for name in ("one", "two", "three", "one", "four"):
            find(cloud, QUERY, memory=memory.of(name))
        assert len(looked_at) == 4 * 5
        looked_at.clear()
        for name in ("four", "one", "three"):
            find(cloud, QUERY, memory=memory.of(name))
        assert len(looked_at) == 0, "two is the oldest"
        find(cloud, QUERY, memory=memory.of("two"))
        assert len(looked_at) == 5

    def test_queries_that_come_at_once_share_the_room(self) -> None:
        """Each search has its memory from the beginning, and all go on at the same time."""
        cloud, memory = cloud_of(*hosts(20)), AnswerMemory(most=100_000)
        kept = [memory.of(number) for number in range(8)]
        found = [find(cloud, QUERY, memory=one) for one in kept]
        bodies = {render(one, cloud, 39, own) for one, own in zip(found, kept, strict=True)}
        assert bodies == {render(find(cloud, QUERY), cloud, 39)}
        assert 50_000 < memory.bytes == sum(one.bytes for one in kept) <= 100_000
        forgotten = [one for one in kept if one.is_forgotten]
        assert forgotten == kept[: len(forgotten)] != []
        assert all((one.bytes, one.trees, one.texts) == (0, {}, {}) for one in forgotten)

    def test_queries_that_find_nothing_are_forgotten_too(self, looked_at: list[Any]) -> None:
        cloud, memory = cloud_of(*hosts(5)), AnswerMemory()
        first = memory.of("one")
        find(cloud, QUERY, memory=first)
        for number in range(MOST_QUERIES - 1):
            find(cloud, "resources=VCPU:100", memory=memory.of(number))
        assert memory.of("one") is first
        for number in range(MOST_QUERIES):
            find(cloud, "resources=VCPU:100", memory=memory.of(number))
        assert memory.of("one") is not first

    def test_what_a_changed_tree_gave_before_does_not_pile_up(self) -> None:
        cloud, memory = cloud_of(*hosts(5)), AnswerMemory()
        sizes = set()
        for used in range(7):
            cloud = with_use(cloud, "cell3", used)
            kept = memory.of("query")
            for _ in range(2):
                body = render(find(cloud, QUERY, memory=kept), cloud, 39, kept)
            texts = sum(len(text or "") for text in kept.texts.values())
            assert texts == len(body.split(b'],"provider_summaries"')[0]) - len(b'{"allocation_requests":[') - len(
                ",,,,"
            )
            sizes.add(kept.bytes)
        assert sizes == {texts + 12_980}

    def test_trees_that_are_gone_are_not_kept_alive(self) -> None:
        cloud, memory = cloud_of(*hosts(5)), AnswerMemory()
        find(cloud, QUERY, memory=memory.of("query"))
        old = weakref.ref(cloud.trees[1])
        cloud = with_use(cloud, "cell0", 1)
        assert old() is None

    def test_a_tree_that_has_grown_is_forgotten(self) -> None:
        memory = AnswerMemory().of("query")
        two = "resources1=CUSTOM_GPU:1&resources2=CUSTOM_GPU:1&group_policy=none"
        for count, found in ((4, 12), (5, 20)):
            cloud = cloud_of(node("cn"), *(node(f"gpu{n}", "cn", CUSTOM_GPU=1) for n in range(count)))
            assert len(find(cloud, two, memory=memory).candidates) == found
        assert (memory.bytes, memory.trees, memory.texts) == (0, {}, {})

    def test_trees_that_are_gone_make_room_for_others(self, looked_at: list[Any]) -> None:
        cloud, memory = cloud_of(*hosts(60)), AnswerMemory(most=100_000)  # enough for 29 hosts
        find(cloud, QUERY, memory=memory.of("query"))
        cloud = cloud.replace(gone=range(1, 81))
        looked_at.clear()
        for _ in range(2):
            assert len(find(cloud, QUERY, memory=memory.of("query")).candidates) == 20
        assert looked_at == [f"cn{n}" for n in range(40, 60)]

    def test_the_json_of_wide_candidates_is_kept_as_far_as_there_is_room(self) -> None:
        cloud, memory = cloud_of(*hosts(20)), AnswerMemory(most=40_000).of("query")
        groups = "&".join(f"resources_{'x' * 50}{n}=DISK_GB:1" for n in range(20))
        for _ in range(2):
            found = find(cloud, f"{groups}&group_policy=none", memory=memory)
            assert render(found, cloud, 39, memory) == render(found, cloud, 39)
        assert 38_000 < memory.bytes <= 40_000

    def test_three_quarters_of_it_are_for_candidates(self) -> None:
        cloud, memory = cloud_of(*hosts(50)), AnswerMemory(most=100_000)
        for _ in range(2):
            kept = memory.of("query")
            found = find(cloud, QUERY, memory=kept)
            assert render(found, cloud, 39, kept) == render(find(cloud, QUERY), cloud, 39)
        assert len(found.candidates) == 50
        assert 75_000 < kept.bytes < 95_000

    def test_trees_with_many_candidates_are_not_kept(self) -> None:
        cloud = cloud_of(node("cn"), *(node(f"gpu{n}", "cn", CUSTOM_GPU=1) for n in range(5)))
        memory = AnswerMemory()
        two = "resources1=CUSTOM_GPU:1&resources2=CUSTOM_GPU:1&group_policy=none"
        assert len(find(cloud, two, memory=memory.of("query")).candidates) == 20
        assert memory.of("query").bytes == 0


@st.composite
def stories(draw: DrawFn) -> list[Any]:
    """A few states of one cloud: of each provider, by its place, what it is like, or None where there is none.

    From one state to the next, providers change, move to other trees, come and go.
    """
    states = [draw(clouds())]
    for _ in range(draw(st.integers(1, 3))):
        before, drawn = states[-1], draw(clouds())
        after = [*before, *drawn[len(before) :]]
        for place, new in enumerate(drawn[: len(before)]):
            after[place] = draw(st.sampled_from([before[place], before[place], new, None]))
        present = {one.name for one in after if one is not None}
        orphans = [one is not None and one.parent not in present for one in after]
        states.append(
            [dataclasses.replace(one, parent=None) if o else one for one, o in zip(after, orphans, strict=True)]
        )
    return states


def providers_in(state: Any) -> dict[Any, Any]:
    """The providers of a state by id: a provider that comes again has the id that it had."""
    nodes = [one or node(f"p{place}") for place, one in enumerate(state)]
    made = providers_of(nodes)
    return {provider.id: provider for provider, one in zip(made, state, strict=True) if one is not None}


@settings(max_examples=300, deadline=None)
@given(stories(), st.lists(requests(), min_size=1, max_size=2), st.sampled_from([39, 33, 28, 11]), st.randoms())
def test_with_memory_and_without_the_same(
    states: list[Any], wanted: list[Any], minor: int, chance: random.Random
) -> None:
    """Takes some seconds, for 300 stories."""
    memory = AnswerMemory()
    cloud = Cloud(dict.fromkeys(TRAITS), dict.fromkeys(CLASSES))
    before, known = [], {}
    for state in states:
        providers = providers_in(state)
        same = {
            key
            for key, (old, new) in enumerate(zip(before, state, strict=False), 1)
            if old is new and old is not None and known[key].root_id == providers[key].root_id
        }
        changed = [provider for key, provider in providers.items() if key not in same]
        cloud = cloud.replace(changed, known.keys() - providers.keys())
        before, known = state, providers
        for number, request in enumerate(wanted):
            request = structs.replace(request, limit=chance.choice([None, 1, 3]))
            plain = search(request, cloud)
            kept = None if any(group.in_tree for group in request.groups) else memory.of((number, minor))
            found = search(request, cloud, memory=kept)
            assert (found.candidates, found.complete) == (plain.candidates, plain.complete)
            assert render(found, cloud, minor, kept) == render(plain, cloud, minor)
