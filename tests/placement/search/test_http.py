"""Candidates and the list of providers through the app, on both databases: settings, errors, headers, several workers."""

import itertools
import logging
from typing import Any

import pytest

from limes.kernel.system import SystemClock
from limes.placement.index import ProviderIndex
from limes.placement.search.render import AT_ONCE
from tests.placement.index.describe import describe
from tests.placement.world import World, claim, uuid_of


def candidates(world: World, query: str) -> Any:
    return world.ok("GET", f"/allocation_candidates?{query}")["allocation_requests"]


def test_what_is_remembered_is_of_the_same_question(world: World) -> None:
    for number in range(3):
        world.provider(f"cn{number}", VCPU=4, MEMORY_MB=16 * number + 1)
    for minor in (16, 17, 28, 29, 33, 34, 39):
        for query in ("resources=VCPU:1", "resources=VCPU:1,MEMORY_MB:9", "resources=VCPU:1&limit=2"):
            path, version = f"/allocation_candidates?{query}", f"1.{minor}"
            fresh = World(world.engine).ok("GET", path, version=version)
            assert [world.ok("GET", path, version=version) for _ in range(2)] == [fresh, fresh]


def test_a_large_answer_is_made_while_it_is_sent(world: World) -> None:
    """More candidates than are rendered together are the same ones, in the same order; their length is not announced."""
    world.provider("cn")
    for number in range(11):
        world.provider(f"n{number}", "cn", VCPU=8)
    query = "/allocation_candidates?group_policy=none&" + "&".join(f"resources{n}=VCPU:1" for n in range(3))
    large, small = world.call("GET", query), world.call("GET", f"{query}&limit={AT_ONCE}")
    assert "content-length" not in large.headers
    assert int(small.headers["content-length"]) == len(small.content)
    assert large.headers["content-type"] == small.headers["content-type"]
    assert len(large.json["allocation_requests"]) == 11**3 > AT_ONCE
    assert large.json["allocation_requests"][:AT_ONCE] == small.json["allocation_requests"]
    assert large.json["provider_summaries"] == small.json["provider_summaries"]


def test_every_worker_sees_each_write_at_once(world: World) -> None:
    other = World(world.engine)
    assert candidates(other, "resources=VCPU:1") == []
    world.provider("cn", VCPU=4)
    assert len(candidates(other, "resources=VCPU:4")) == 1
    assert other.allocate("server", None, cn={"VCPU": 3}).status_code == 204
    assert candidates(world, "resources=VCPU:2") == []
    assert len(candidates(world, "resources=VCPU:1")) == 1
    world.ok("DELETE", f"/allocations/{uuid_of('server')}")
    assert len(candidates(other, "resources=VCPU:4")) == 1
    world.ok("DELETE", f"/resource_providers/{uuid_of('cn')}")
    assert candidates(other, "resources=VCPU:1") == []
    assert other.ok("GET", "/resource_providers")["resource_providers"] == []


def devices(world: World) -> str:
    world.provider("cn", VCPU=4)
    for number in range(7):
        world.provider(f"gpu{number}", "cn", VGPU=1)
    return "&".join(f"resources{number}=VGPU:1" for number in range(1, 6)) + "&group_policy=none"


def test_the_bound_on_candidates_is_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    bounded = World(world.engine, bounds={"max_candidates": 1000})
    query = devices(world)
    with caplog.at_level(logging.WARNING, "limes.placement"):
        assert len(candidates(bounded, query)) == 1000
        [record] = caplog.records
        assert "with 1000 found (placement.bounds.max_candidates is 1000)" in record.getMessage()
        caplog.clear()
        assert len(candidates(bounded, f"{query}&limit=10")) == 10
        assert len(candidates(world, query)) == 7 * 6 * 5 * 4 * 3
        assert not caplog.records


class Ticking(SystemClock):
    """A second passes each time that somebody looks."""

    def __init__(self) -> None:
        self.seconds = itertools.count()

    def monotonic(self) -> float:
        return float(next(self.seconds))


def test_a_search_ends_in_time_and_says_so(world: World, caplog: pytest.LogCaptureFixture) -> None:
    query = f"/allocation_candidates?{devices(world)}"
    assert "x-limes-incomplete" not in world.call("GET", query).headers
    hasty = World(world.engine, clock=Ticking(), bounds={"search_seconds": 20})
    with caplog.at_level(logging.WARNING, "limes.placement"):
        answer = hasty.call("GET", query)
        found = len(answer.json["allocation_requests"])
        assert 0 < found < 7 * 6 * 5 * 4 * 3
        reason = f"with {found} candidates (placement.bounds.search_seconds is 20)"
        assert answer.headers["x-limes-incomplete"] == f"stopped {reason}"
        [record] = caplog.records
        assert f"with {found} found (placement.bounds.search_seconds is 20): resources1" in record.getMessage()
    assert "x-limes-incomplete" not in hasty.call("GET", f"{query}&limit=100").headers


def test_a_search_that_found_nothing_in_time_is_not_an_answer(world: World) -> None:
    query = f"/allocation_candidates?{devices(world)}"
    hasty = World(world.engine, clock=Ticking(), bounds={"search_seconds": 0.5})
    refused = hasty.refused(503, "GET", query)
    assert "stopped before it found any (placement.bounds.search_seconds is 0.5)" in refused["detail"]


def test_random_order_where_it_is_asked_for(world: World) -> None:
    query = devices(world)
    whole = candidates(world, query)
    assert candidates(world, query) == whole
    shuffled = candidates(World(world.engine, randomize_allocation_candidates=True), query)
    assert shuffled != whole
    assert sorted(str(one["mappings"]) for one in shuffled) == sorted(str(one["mappings"]) for one in whole)


@pytest.mark.parametrize(
    ("query", "code", "text"),
    [
        ("limit=1", "query.missing_value", "There must be at least one resources or resources[$S] parameter."),
        ("resources=VCPU:1&limit=cow", "undefined_code", "'cow' does not match '^[1-9][0-9]*$'"),
        ("resources=VCPU:1&limit=cow&limit=1", "undefined_code", "'cow' does not match '^[1-9][0-9]*$'"),
        ("resources=VCPU:1&moo=1", "undefined_code", "'moo' does not match any of the regexes"),
        ("resources1=VCPU:1&group_policy=both", "undefined_code", "'both' is not one of ['none', 'isolate']"),
        (
            "&".join(f"resources{n}=VCPU:1" for n in range(101)) + "&group_policy=none",
            "query.bad_value",
            "The query asks for 101 request groups; at most 100 are accepted.",
        ),
    ],
)
def test_what_is_refused(world: World, query: str, code: str, text: str) -> None:
    for _ in range(2):
        error = world.refused(400, "GET", f"/allocation_candidates?{query}")
        assert error["code"] == f"placement.{code}"
        assert text in error["detail"]


def test_a_limit_of_any_length(world: World) -> None:
    world.provider("cn", VCPU=4)
    assert len(candidates(world, "resources=VCPU:1&limit=" + "9" * 5000)) == 1


def test_headers(world: World) -> None:
    world.provider("cn", VCPU=4)
    for path in ("/allocation_candidates?resources=VCPU:1", "/resource_providers"):
        headers = world.call("GET", path).headers
        assert headers["cache-control"] == "no-cache"
        assert headers["last-modified"].endswith(" GMT")
        assert headers["content-type"] == "application/json"
    assert "last-modified" not in world.call("GET", "/resource_providers", version="1.14").headers


def test_the_list_says_the_same_as_each_provider(world: World) -> None:
    world.provider("cn", VCPU=4)
    world.provider("child", "cn")
    for version in ("1.0", "1.1", "1.6", "1.11", "1.14", "1.39"):
        listed = world.ok("GET", "/resource_providers", version=version)["resource_providers"]
        paths = [f"/resource_providers/{uuid_of(name)}" for name in ("cn", "child")]
        assert listed == [world.ok("GET", path, version=version) for path in paths]


@pytest.mark.sql
def test_every_kind_of_write_reaches_the_index(world: World) -> None:
    """After each write an index that follows holds what one that starts afresh reads."""

    def fresh() -> ProviderIndex:
        return ProviderIndex(world.engine, SystemClock())

    def write(method: str, path: str, body: Any = None) -> list[str]:
        world.ok(method, path, body, x_roles="admin,service")
        following = describe(world.index.current())
        assert following == describe(fresh().current())
        return following

    providers, aggregate = "/resource_providers", uuid_of("agg")
    cn, other, child = (f"{providers}/{uuid_of(name)}" for name in ("cn", "other", "child"))
    first, second = (f"/allocations/{uuid_of(name)}" for name in ("first", "second"))
    write("POST", providers, {"uuid": uuid_of("cn"), "name": "cn"})
    write("POST", providers, {"uuid": uuid_of("other"), "name": "other"})
    write("POST", providers, {"uuid": uuid_of("child"), "name": "child", "parent_provider_uuid": uuid_of("cn")})
    inventories = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}, "DISK_GB": {"total": 9}}}
    write("PUT", f"{cn}/inventories", inventories)
    one = {"resource_provider_generation": 1, "total": 16, "reserved": 1, "allocation_ratio": 2.0}
    assert "cn VCPU=0/30 DISK_GB=0/9" in write("PUT", f"{cn}/inventories/VCPU", one)
    write("POST", f"{other}/inventories", {"resource_class": "VCPU", "total": 4})
    write("DELETE", f"{cn}/inventories/DISK_GB")
    write("PUT", "/traits/CUSTOM_A")
    write("PUT", f"{cn}/traits", {"resource_provider_generation": 3, "traits": ["CUSTOM_A"]})
    body = {"resource_provider_generation": 4, "aggregates": [aggregate]}
    assert f"cn VCPU=0/30 CUSTOM_A {aggregate}" in write("PUT", f"{cn}/aggregates", body)
    write("DELETE", f"{cn}/traits")
    write("PUT", first, claim(None, cn={"VCPU": 3}))
    assert f"cn VCPU=5/30 {aggregate}" in write("PUT", first, claim(1, cn={"VCPU": 5}))
    body = {uuid_of("first"): claim(2, other={"VCPU": 2}), uuid_of("second"): claim(None, cn={"VCPU": 1})}
    assert "other VCPU=2/4" in write("POST", "/allocations", body)
    shapes = {
        uuid_of(name): {"resource_provider_generation": world.generation(name), "inventories": inventories}
        for name, inventories in (("cn", {}), ("child", {"VCPU": {"total": 5}}))
    }
    reshaped = {"inventories": shapes, "allocations": {uuid_of("second"): claim(1, child={"VCPU": 1})}}
    assert f"{uuid_of('cn')} > child VCPU=1/5" in write("POST", "/reshaper", reshaped)
    write("PUT", second, claim(2))
    write("DELETE", first)
    moved = {"name": "renamed", "parent_provider_uuid": uuid_of("other")}
    assert f"{uuid_of('other')} > renamed VCPU=0/5" in write("PUT", child, moved)
    write("PUT", other, {"name": "other", "parent_provider_uuid": uuid_of("cn")})
    write("PUT", child, {"name": "renamed", "parent_provider_uuid": None})
    write("DELETE", f"{child}/inventories")
    write("DELETE", child)
    write("DELETE", "/traits/CUSTOM_A")
    write("PUT", "/resource_classes/CUSTOM_X")
    write("DELETE", "/resource_classes/CUSTOM_X")
    assert list(world.index.current().classes) == list(fresh().current().classes)
