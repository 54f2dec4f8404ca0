"""How many servers of some flavors fit on hypervisors."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from limes_plugins.nova.hypervisors import PackedFlavor, Room, pack

from limes.backends import AZDemand

BIG = PackedFlavor("big", {"VCPU": 8, "MEMORY_MB": 800})
SMALL = PackedFlavor("small", {"VCPU": 1, "MEMORY_MB": 100})


def hosts(count: int, cores: int = 10, **more: Any) -> list[Any]:
    return [Room({"VCPU": cores, "MEMORY_MB": 100 * cores, **more}) for _ in range(count)]


@pytest.mark.parametrize(
    ("rooms", "demand", "others", "expected"),
    [
        # 3 hosts of 10 cores: one big server each, and two small ones beside it
        (hosts(3), {"big": AZDemand(3)}, {}, {"big": 3, "small": 6}),
        # the demand is placed before the rest is shared out, in which big servers find no host with 8 free cores
        (hosts(1), {"small": AZDemand(1, 1, 1)}, {}, {"big": 0, "small": 10}),
        # large ones first, so that small ones don't block all hosts
        (hosts(2), {"big": AZDemand(0, 2), "small": AZDemand(0, 4)}, {}, {"big": 2, "small": 4}),
        # what runs goes before what is committed to, and that before what waits
        (hosts(1), {"small": AZDemand(3), "big": AZDemand(0, 1)}, {}, {"small": 10, "big": 0}),
        (hosts(1), {"small": AZDemand(0, 3), "big": AZDemand(0, 0, 1)}, {}, {"small": 10, "big": 0}),
        # what runs is there, whatever we make of it
        (hosts(1), {"big": AZDemand(5)}, {}, {"big": 5, "small": 2}),
        # room for other servers is left
        (hosts(3), {"big": AZDemand(1)}, {"VCPU": 22}, {"big": 1, "small": 0}),
        (hosts(3), {"big": AZDemand(1)}, {"VCPU": 20, "MEMORY_MB": -5}, {"big": 1, "small": 2}),
        ([], {"big": AZDemand(0, 5)}, {}, {"big": 0, "small": 0}),
    ],
)
def test_what_fits(
    rooms: list[Any], demand: dict[str, AZDemand], others: dict[str, Any], expected: dict[str, int]
) -> None:
    assert pack(rooms, [SMALL, BIG], demand, others) == expected


def test_the_rest_is_shared_out_in_proportion_to_the_demand() -> None:
    same = [PackedFlavor(name, {"VCPU": 1}) for name in ("a", "b")]
    counts = pack([Room({"VCPU": 1000})], same, {"a": AZDemand(30), "b": AZDemand(10)}, {})
    assert sum(counts.values()) == 1000
    assert 2 < counts["a"] / counts["b"] < 4


def test_disks_count_where_a_host_has_some() -> None:
    flavor = PackedFlavor("f", {"VCPU": 1, "DISK_GB": 50})
    rooms = [Room({"VCPU": 10, "DISK_GB": 100}), Room({"VCPU": 3})]
    assert pack(rooms, [flavor], {}, {}) == {"f": 2 + 3}


def test_traits_decide_which_hosts_will_do() -> None:
    flavor = PackedFlavor("f", {"VCPU": 1}, frozenset({"CUSTOM_GPU"}), frozenset({"CUSTOM_OLD"}))
    rooms = [Room({"VCPU": 1}, traits) for traits in ((), ("CUSTOM_GPU",), ("CUSTOM_GPU", "CUSTOM_OLD"))]
    assert pack(rooms, [flavor], {}, {}) == {"f": 1}


def test_a_class_that_a_host_does_not_have() -> None:
    flavor = PackedFlavor("bm", {"CUSTOM_BM": 1})
    assert pack([Room({"VCPU": 10}), Room({"CUSTOM_BM": 1})], [flavor], {}, {}) == {"bm": 1}


amounts = st.integers(0, 40)


@given(
    rooms=st.lists(st.tuples(amounts, amounts), max_size=6),
    flavors=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=4),
    demands=st.lists(st.tuples(st.integers(0, 3), amounts, amounts), min_size=4, max_size=4),
)
def test_nothing_is_given_out_twice(rooms: list[Any], flavors: list[Any], demands: list[Any]) -> None:
    found = [Room({"VCPU": cores, "MEMORY_MB": ram}) for cores, ram in rooms]
    packed = [
        PackedFlavor(str(number), {"VCPU": cores} | ({"MEMORY_MB": ram} if ram else {}))
        for number, (cores, ram) in enumerate(flavors)
    ]
    demand = {flavor.name: AZDemand(0, *one[1:]) for flavor, one in zip(packed, demands, strict=False)}
    counts = pack(found, packed, demand, {})
    taken = {
        class_: sum(counts[flavor.name] * flavor.needs.get(class_, 0) for flavor in packed)
        for class_ in ("VCPU", "MEMORY_MB")
    }
    assert all(amount >= 0 for room in found for amount in room.free.values())
    assert taken["VCPU"] + sum(room.free["VCPU"] for room in found) == sum(cores for cores, _ in rooms)
    assert taken["MEMORY_MB"] + sum(room.free["MEMORY_MB"] for room in found) == sum(ram for _, ram in rooms)
    assert all(room.fits(flavor) == 0 for room in found for flavor in packed)
