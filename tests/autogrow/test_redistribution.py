"""Which computed quotas are written at once, and which wait."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limes.autogrow.redistribution import Proposal, capped, choose_changes, cover, split
from limes.autogrow.rules import ProjectBounds
from limes.catalog.catalog import AutogrowRule
from limes.kernel.units import MAX_AMOUNT

RULE = AutogrowRule(growth_multiplier=1.2, minor_change=0.05, minor_change_interval=3600)
NOW = 10_000.0
PLENTY = {"one": 10**6, "two": 10**6}


def proposal(old: int, new: int, **other: Any) -> Proposal:
    """Of quota in one AZ, changed just before."""
    other = {"id": 1, "needed": {}, "changed_at": NOW - 60, **other}
    return Proposal(old={"one": old}, new={"one": new}, **other)


def is_written(each: Proposal, capacity: Mapping[str, int] = PLENTY) -> bool:
    return choose_changes(capacity, [each], RULE, NOW) == [each]


def test_small_changes_wait() -> None:
    assert not is_written(proposal(100, 104))
    assert not is_written(proposal(100, 96))
    assert is_written(proposal(100, 105))
    assert is_written(proposal(100, 95))
    assert is_written(proposal(0, 1))
    assert is_written(proposal(100, 104, changed_at=NOW - 3600))
    assert not is_written(proposal(100, 104, changed_at=NOW + 60))
    assert is_written(proposal(100, 104, changed_at=NOW + 10**7)), "from a clock that was ahead"


def test_what_is_needed_does_not_wait() -> None:
    assert is_written(proposal(100, 104, needed={"one": 101}))
    assert not is_written(proposal(100, 104, needed={"one": 100}))
    moved = Proposal(1, old={"one": 90, "two": 10}, new={"one": 85, "two": 16}, needed={"two": 11}, changed_at=NOW)
    assert is_written(moved)


def test_bounds_do_not_wait() -> None:
    assert is_written(proposal(100, 98, bounds=ProjectBounds(maximum=98)))
    assert not is_written(proposal(100, 98, bounds=ProjectBounds(maximum=100)))
    assert is_written(proposal(100, 102, bounds=ProjectBounds(minimum=102)))
    assert is_written(proposal(100, 98, needed={"one": 98}, bounds=ProjectBounds(forbids_growth=True)))
    assert not is_written(proposal(100, 101, needed={"one": 100}, bounds=ProjectBounds(forbids_growth=True)))


def test_what_makes_room_does_not_wait() -> None:
    """100 in all: the first one has to give 3 to the second one, whose 20 more do not wait."""
    first, second = proposal(70, 67), proposal(10, 33, id=2)
    assert choose_changes({"one": 100}, [first, second], RULE, NOW) == [first, second]
    assert choose_changes({"one": 103}, [first, second], RULE, NOW) == [second]
    small = proposal(30, 31, id=2)
    assert choose_changes({"one": 100}, [first, small], RULE, NOW) == []


def test_room_in_one_az() -> None:
    first = Proposal(1, old={"one": 70, "two": 30}, new={"one": 67, "two": 32}, needed={}, changed_at=NOW)
    second = proposal(10, 33, id=2)
    assert choose_changes({"one": 100, "two": 100}, [first, second], RULE, NOW) == [first, second]
    assert choose_changes({"one": 103, "two": 100}, [first, second], RULE, NOW) == [second]


def test_nothing_is_written_where_nothing_differs() -> None:
    assert choose_changes(PLENTY, [proposal(5, 5), Proposal(2, old={}, new={}, needed={})], RULE, NOW) == []


amounts = st.fixed_dictionaries({"one": st.integers(0, 40), "two": st.integers(0, 40), "any": st.integers(0, 10)})


@given(
    st.lists(st.tuples(amounts, amounts, st.integers(0, 7200)), max_size=12),
    st.fixed_dictionaries({"one": st.integers(0, 400), "two": st.integers(0, 400)}),
    st.randoms(use_true_random=False),
)
def test_never_more_than_computed_or_there_is(made: Any, capacity: dict[str, int], dice: Any) -> None:
    rule = AutogrowRule(growth_multiplier=1.2, minor_change=0.3, minor_change_interval=3600)
    proposals = [
        Proposal(number, *({az: amount for az, amount in each.items() if amount} for each in quotas), {}, NOW - ago)
        for number, (*quotas, ago) in enumerate(made)
    ]
    chosen = {each.id: each for each in choose_changes(capacity, proposals, rule, NOW)}
    final = [(each.new if each.id in chosen else each.old) for each in proposals]
    for az, there_is in capacity.items():
        computed = sum(each.new.get(az, 0) for each in proposals)
        assert sum(each.get(az, 0) for each in final) <= max(there_is, computed)
    in_all = sum(sum(each.new.values()) for each in proposals)
    assert sum(sum(each.values()) for each in final) <= max(sum(capacity.values()), in_all)
    shuffled = dice.sample(proposals, len(proposals))
    assert {each.id for each in choose_changes(capacity, shuffled, rule, NOW)} == set(chosen)


@pytest.mark.parametrize(
    ("quotas", "expected"),
    [
        ({"a": 5}, {"a": 5}),
        ({"a": 5, "b": MAX_AMOUNT}, {"b": MAX_AMOUNT}),
        ({"a": MAX_AMOUNT, "b": 7}, {"a": MAX_AMOUNT - 7, "b": 7}),
    ],
)
def test_largest_amounts(quotas: dict[str, int], expected: dict[str, int]) -> None:
    assert capped(quotas) == expected


@pytest.mark.parametrize(
    ("present", "needed", "expected"),
    [
        ({"one": 5}, {"one": 3}, {"one": 5}),
        ({"one": 5}, {"one": 7, "two": 1}, {"one": 7, "two": 1}),
        ({"any": 10}, {"one": 3}, {"any": 7, "one": 3}),
        ({"any": 10}, {"one": 3, "any": 8}, {"any": 8, "one": 3}),
        ({"any": 10}, {"one": 12}, {"one": 12}),
        ({"any": 10, "one": 2}, {"one": 1, "any": 12}, {"any": 12, "one": 2}),
        ({}, {"one": 0}, {}),
    ],
)
def test_cover(present: dict[str, int], needed: dict[str, int], expected: dict[str, int]) -> None:
    assert cover(present, needed) == expected


# -- pieces ------------------------------------------------------------------------------------------------------------


def ids(pieces: Iterable[list[Proposal]]) -> list[list[int]]:
    return [[each.id for each in piece] for piece in pieces]


def test_what_makes_room_comes_first() -> None:
    changes = [proposal(10, 30, id=1), proposal(60, 50, id=2), proposal(20, 22, id=3), proposal(10, 0, id=4)]
    assert ids(split({"one": 100}, changes, changes, 2)) == [[2, 4], [3, 1]]
    assert ids(split({"one": 100}, changes, changes, 3)) == [[2, 4, 3], [1]]
    assert ids(split({"one": 100}, changes, [], 3)) == []


def test_what_does_not_fit_yet_comes_later() -> None:
    """2 gets more in all, but it makes the room that 1 needs."""
    first = Proposal(1, {"two": 10}, {"one": 10}, {})
    second = Proposal(2, {"one": 10}, {"three": 15}, {})
    assert ids(split({"one": 10, "two": 10, "three": 20}, [first, second], [first, second], 1)) == [[2], [1]]


def test_what_can_only_change_together() -> None:
    first, second = Proposal(1, {"one": 10}, {"two": 10}, {}), Proposal(2, {"two": 10}, {"one": 10}, {})
    full = {"one": 10, "two": 10}
    assert ids(split(full, [first, second], [first, second], 1)) == [[1, 2]]
    assert ids(split({"one": 20, "two": 10}, [first, second], [first, second], 1)) == [[2], [1]]


AMOUNTS = st.dictionaries(st.sampled_from(["one", "two", "any"]), st.integers(1, 9), max_size=3)


@given(
    st.lists(st.tuples(AMOUNTS, AMOUNTS), max_size=12),
    st.dictionaries(st.sampled_from(["one", "two", "any"]), st.integers(0, 40)),
    st.integers(1, 4),
    st.sets(st.integers(0, 11)),
)
def test_no_piece_gives_more_than_there_is(
    quotas: list[tuple[dict[str, int], dict[str, int]]], capacity: dict[str, int], size: int, waiting: set[int]
) -> None:
    proposals = [Proposal(id_, old, new, {}) for id_, (old, new) in enumerate(quotas)]
    changes = [each for each in proposals if each.id not in waiting]
    present = {each.id: each.old for each in proposals}
    final = {each.id: each.old if each.id in waiting else each.new for each in proposals}

    def in_sum(state: Mapping[int, Mapping[str, int]], az: str) -> int:
        return sum(each.get(az, 0) for each in state.values())

    computed = {each.id: each.new for each in proposals}
    azs = ("one", "two")
    limits = {az: max(capacity.get(az, 0), *(in_sum(each, az) for each in (computed, present, final))) for az in azs}
    totals = [sum(sum(each.values()) for each in state.values()) for state in (computed, present, final)]
    in_all = max(sum(capacity.values()), *totals)
    written: list[int] = []
    for piece in split(capacity, proposals, changes, size):
        for each in piece:
            present[each.id] = each.new
            written.append(each.id)
        assert all(in_sum(present, az) <= limits[az] for az in azs)
        assert sum(sum(each.values()) for each in present.values()) <= in_all
    assert sorted(written) == [each.id for each in changes]
    assert present == final
