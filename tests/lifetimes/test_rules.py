"""Which periods end and which begin, and what is followed."""

import re

import pytest

from limes.catalog.catalog import Catalog, ResourceDef, ServiceDef
from limes.lifetimes.rules import (
    Changes,
    LifetimeRule,
    NewPeriod,
    Observed,
    OpenPeriod,
    Subresource,
    compare,
    followed_resources,
    identify,
)

SMALL, BIG = '{"flavor":"small"}', '{"flavor":"big"}'


def server(id_: str, attributes: str = SMALL, az: str = "az-one") -> Observed:
    return Observed(Subresource("instances", az, id_, attributes))


def period(number: int, found: Observed, first_seen_at: float = 10.0) -> OpenPeriod:
    return OpenPeriod(number, found.what, first_seen_at, 20.0)


def test_what_is_still_there_goes_on() -> None:
    assert compare([period(1, server("a")), period(2, server("b"))], [server("b"), server("a")]) == Changes([], [])


def test_what_is_new_begins_and_what_is_gone_ends() -> None:
    assert compare([period(1, server("a"))], [server("b")]) == Changes([1], [NewPeriod(server("b"), None)])


@pytest.mark.parametrize("changed", [server("a", BIG), server("a", SMALL, "az-two")])
def test_a_change_is_another_period_of_the_same_subresource(changed: Observed) -> None:
    assert compare([period(1, server("a"))], [changed]) == Changes([1], [NewPeriod(changed, 10.0)])


def test_another_name_is_none() -> None:
    assert compare([period(1, server("a"))], [server("a")._replace(name="renamed")]) == Changes([], [])


def test_the_same_id_in_two_resources() -> None:
    other = Observed(server("a").what._replace(resource_name="instances_small"))
    assert compare([period(1, server("a"))], [server("a"), other]) == Changes([], [NewPeriod(other, None)])


@pytest.mark.parametrize(
    ("known", "found", "ended", "begun"), [(2, 2, 0, 0), (2, 3, 0, 1), (2, 1, 1, 0), (0, 2, 0, 2), (3, 0, 3, 0)]
)
def test_entries_that_are_alike_are_counted(known: int, found: int, ended: int, begun: int) -> None:
    changes = compare([period(number, server("a")) for number in range(known)], [server("a")] * found)
    assert (len(changes.ended), len(changes.begun)) == (ended, begun)


def test_an_entry_without_attributes_says_that_it_is_there() -> None:
    """Nova knows nothing but ids of the servers in a cell that is down."""
    unclear = server("a", "{}", "unknown")
    assert compare([period(1, server("a"))], [unclear]) == Changes([], [])
    assert compare([period(1, server("b"))], [unclear]) == Changes([1], [NewPeriod(unclear, None)])
    assert compare([period(1, unclear)], [server("a")]) == Changes([1], [NewPeriod(server("a"), 10.0)])


def test_what_is_not_known_just_now_is_no_change() -> None:
    """Glance does not answer, and so the operating system is not known."""
    linux = server("a", '{"flavor":"small","os_type":"linux"}')
    unclear = identify("instances", "az-one", {"id": "a", "flavor": "small", "os_type": None}, ("flavor", "os_type"))
    assert compare([period(1, linux)], [unclear]) == Changes([], [])
    assert compare([period(1, server("a"))], [unclear]) == Changes([], [])
    assert compare([period(1, server("a", linux.what.attributes, "az-two"))], [unclear]) == Changes(
        [1], [NewPeriod(unclear, 10.0)]
    )
    resized = identify("instances", "az-one", {"id": "a", "flavor": "big", "os_type": None}, ("flavor", "os_type"))
    assert compare([period(1, linux)], [resized]) == Changes([1], [NewPeriod(resized, 10.0)])
    without = identify("instances", "az-one", {"id": "a", "flavor": "small"}, ("flavor", "os_type"))
    assert compare([period(1, linux)], [without]) == Changes([1], [NewPeriod(without, 10.0)])


def test_attributes_of_an_entry() -> None:
    entry = {
        "id": "a",
        "name": "web",
        "ram": {"value": 1, "unit": "GiB"},
        "network": {"id": "n", "name": "x"},
        "tags": None,
    }
    found = identify("instances", "az-one", entry, ("ram", "network.id", "tags", "missing", "name.id"))
    attributes = '{"network.id":"n","ram":{"unit":"GiB","value":1}}'
    assert found == (("instances", "az-one", "a", attributes), "web", frozenset({"tags"}))


@pytest.mark.parametrize(
    ("entry", "id_"), [({"name": "b"}, "b"), ({"id": 5}, "5"), ({}, ""), ({"id": "a\0b"}, "ab"), ({"id": None}, "")]
)
def test_ids(entry: dict[str, object], id_: str) -> None:
    assert identify("instances", "any", entry, ()).what.id == id_


def test_what_is_followed() -> None:
    resources = [ResourceDef("cores"), ResourceDef("instances", billed_attributes=("flavor",)), ResourceDef("images")]
    catalog = Catalog([], [ServiceDef("compute", "compute", {one.name: one for one in resources})])
    rules = [
        LifetimeRule(resource=re.compile("compute/images"), attributes=("size.value",)),
        LifetimeRule(resource=re.compile("compute/(instances|images)")),
        LifetimeRule(resource=re.compile("core")),
    ]
    assert followed_resources(catalog, rules) == {
        ("compute", "instances"): ("flavor",),
        ("compute", "images"): ("size.value",),
    }
    assert followed_resources(catalog, [LifetimeRule(resource=re.compile(".*/cores"))]) == {
        ("compute", "cores"): ("flavor", "size", "type", "usage")
    }
