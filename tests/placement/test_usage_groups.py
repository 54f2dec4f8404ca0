"""Usage groups, our extension: what projects use of groups of providers, complete and of one moment."""

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from limes.db.engine import Engine
from tests.placement.world import World, claim, uuid_of

pytestmark = pytest.mark.sql

ONE, TWO, POOL = uuid_of("one"), uuid_of("two"), uuid_of("pool")
GROUPINGS = ("resource_provider", "root_provider", "aggregate", "consumer")


def groups(world: World, group_by: str, **query: str) -> list[dict[str, Any]]:
    text = "&".join(f"{key}={value}" for key, value in {"group_by": group_by, **query}.items())
    return list(world.ok("GET", f"/usage_groups?{text}")["usage_groups"])


@pytest.fixture
def cloud(world: World) -> World:
    """host1 in aggregate one has its cores in a child; host2 is in two; the disks are in both; lost is in none.

    alpha has servers c1 (host1) and c2 (host2), a migration m (host1) and a consumer of no type, old (lost); beta has
    c3 (host1).
    """
    for name, parent, inventory in (
        ("host1", None, {"MEMORY_MB": 100}),
        ("numa", "host1", {"VCPU": 50}),
        ("host2", None, {"VCPU": 50, "MEMORY_MB": 100}),
        ("disks", None, {"DISK_GB": 1000}),
        ("lost", None, {"VCPU": 10}),
    ):
        world.provider(name, parent, **inventory)
    for name, aggregates in (("host1", [ONE]), ("host2", [TWO]), ("disks", [ONE, POOL])):
        world.put(name, aggregates=aggregates)
    for consumer, project, kind, amounts in (
        ("c1", "alpha", "INSTANCE", {"numa": {"VCPU": 4}, "host1": {"MEMORY_MB": 8}, "disks": {"DISK_GB": 20}}),
        ("c2", "alpha", "INSTANCE", {"host2": {"VCPU": 2, "MEMORY_MB": 4}}),
        ("m", "alpha", "MIGRATION", {"numa": {"VCPU": 3}}),
        ("c3", "beta", "INSTANCE", {"numa": {"VCPU": 5}}),
    ):
        world.ok("PUT", f"/allocations/{uuid_of(consumer)}", claim(None, project, kind=kind, **amounts))
    untyped = {key: value for key, value in claim(None, "alpha", lost={"VCPU": 1}).items() if key != "consumer_type"}
    world.ok("PUT", f"/allocations/{uuid_of('old')}", untyped, version="1.37")
    return world


def of(group: dict[str, Any], key: str) -> tuple[Any, ...]:
    return (group["project_id"], group["consumer_type"], group[key], group["resources"])


def test_by_provider(cloud: World) -> None:
    found = groups(cloud, "resource_provider")
    assert sorted(of(group, "resource_provider_uuid") for group in found) == sorted(
        [
            ("alpha", "INSTANCE", uuid_of("numa"), {"VCPU": 4}),
            ("alpha", "INSTANCE", uuid_of("host1"), {"MEMORY_MB": 8}),
            ("alpha", "INSTANCE", uuid_of("disks"), {"DISK_GB": 20}),
            ("alpha", "INSTANCE", uuid_of("host2"), {"VCPU": 2, "MEMORY_MB": 4}),
            ("alpha", "MIGRATION", uuid_of("numa"), {"VCPU": 3}),
            ("alpha", "unknown", uuid_of("lost"), {"VCPU": 1}),
            ("beta", "INSTANCE", uuid_of("numa"), {"VCPU": 5}),
        ]
    )
    roots = {group["resource_provider_uuid"]: group["root_provider_uuid"] for group in found}
    assert roots[uuid_of("numa")] == uuid_of("host1")
    assert roots[uuid_of("host2")] == uuid_of("host2")


def test_by_tree_and_by_aggregate_children_count_where_their_root_is(cloud: World) -> None:
    trees = [of(group, "root_provider_uuid") for group in groups(cloud, "root_provider", project_id="alpha")]
    assert ("alpha", "INSTANCE", uuid_of("host1"), {"VCPU": 4, "MEMORY_MB": 8}) in trees
    assert len(trees) == 5
    found = [of(group, "aggregate_uuid") for group in groups(cloud, "aggregate")]
    assert sorted(found, key=repr) == sorted(
        [
            ("alpha", "INSTANCE", ONE, {"VCPU": 4, "MEMORY_MB": 8, "DISK_GB": 20}),
            ("alpha", "INSTANCE", POOL, {"DISK_GB": 20}),
            ("alpha", "INSTANCE", TWO, {"VCPU": 2, "MEMORY_MB": 4}),
            ("alpha", "MIGRATION", ONE, {"VCPU": 3}),
            ("alpha", "unknown", None, {"VCPU": 1}),
            ("beta", "INSTANCE", ONE, {"VCPU": 5}),
        ],
        key=repr,
    )


def test_an_aggregate_that_a_child_shares_with_its_root_counts_once(cloud: World) -> None:
    cloud.put("numa", aggregates=[ONE, TWO])
    found = {group["aggregate_uuid"]: group["resources"] for group in groups(cloud, "aggregate", project_id="beta")}
    assert found == {ONE: {"VCPU": 5}, TWO: {"VCPU": 5}}


def test_by_consumer(cloud: World) -> None:
    found = groups(cloud, "consumer", project_id="alpha")
    assert {
        "project_id": "alpha",
        "consumer_type": "INSTANCE",
        "consumer_uuid": uuid_of("c1"),
        "resource_provider_uuid": uuid_of("numa"),
        "root_provider_uuid": uuid_of("host1"),
        "resources": {"VCPU": 4},
    } in found
    assert Counter(group["consumer_uuid"] for group in found) == {
        uuid_of("c1"): 3,
        uuid_of("c2"): 1,
        uuid_of("m"): 1,
        uuid_of("old"): 1,
    }


@pytest.mark.parametrize("group_by", ["resource_provider", "root_provider", "consumer"])
@pytest.mark.parametrize("project", ["alpha", "beta"])
def test_the_sums_are_those_of_usages(cloud: World, group_by: str, project: str) -> None:
    sums: dict[str, Counter[str]] = {}
    for group in groups(cloud, group_by, project_id=project):
        sums.setdefault(group["consumer_type"], Counter()).update(group["resources"])
    usages = cloud.ok("GET", f"/usages?project_id={project}")["usages"]
    assert sums == {type_: {k: v for k, v in used.items() if k != "consumer_count"} for type_, used in usages.items()}


def test_only_some_classes_and_aggregates(cloud: World) -> None:
    cores = groups(cloud, "aggregate", resource_classes="VCPU,PCPU", member_of=ONE)
    assert {(group["project_id"], group["consumer_type"]): group["resources"] for group in cores} == {
        ("alpha", "INSTANCE"): {"VCPU": 4},
        ("alpha", "MIGRATION"): {"VCPU": 3},
        ("beta", "INSTANCE"): {"VCPU": 5},
    }
    some = groups(cloud, "resource_provider", member_of=f"in:{TWO},{POOL}")
    assert {group["resource_provider_uuid"] for group in some} == {uuid_of("host2"), uuid_of("disks")}
    assert groups(cloud, "resource_provider", project_id="nobody") == []


def test_pages_have_whole_projects(cloud: World) -> None:
    for number in range(5):
        body = claim(None, f"p{number}", host2={"VCPU": 1})
        cloud.ok("PUT", f"/allocations/{uuid_of(f'x{number}')}", body)
    everything = groups(cloud, "resource_provider")
    path, pages = "/usage_groups?group_by=resource_provider&resource_classes=VCPU,MEMORY_MB,DISK_GB&limit=2", []
    while path:
        document = cloud.ok("GET", path)
        pages.append(document["usage_groups"])
        path = document["usage_groups_links"][0]["href"] if "usage_groups_links" in document else ""
    assert [group for page in pages for group in page] == everything
    assert [len({group["project_id"] for group in page}) for page in pages] == [2, 2, 2, 1]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("", "'group_by' is a required property"),
        ("group_by=trait", "'trait' is not one of"),
        ("group_by=consumer&project_id=", "project_id"),
        ("group_by=consumer&resource_classes=CUSTOM_NO", "No such resource class CUSTOM_NO."),
        ("group_by=consumer&resource_classes=vcpu", "'vcpu' does not match"),
        ("group_by=consumer&member_of=here", "Expected 'member_of' parameter to contain valid UUID(s). Got: here"),
        (f"group_by=consumer&member_of=!{ONE}", f"Here 'member_of' cannot exclude aggregates. Got: !{ONE}"),
        ("group_by=consumer&limit=0", "'0' does not match"),
        ("group_by=consumer&user_id=me", "Additional properties are not allowed ('user_id' was unexpected)"),
    ],
)
def test_bad_queries(world: World, query: str, problem: str) -> None:
    assert problem in world.refused(400, "GET", f"/usage_groups?{query}")["detail"]


def test_an_answer_that_is_too_large_is_refused_with_a_way_out(placement_engine: Engine) -> None:
    world = World(placement_engine, bounds={"max_usage_groups": 100})
    world.provider("host", VCPU=1000)
    consumers = {uuid_of(f"c{number}"): claim(None, f"p{number}", host={"VCPU": 1}) for number in range(101)}
    world.ok("POST", "/allocations", consumers)
    problem = world.refused(400, "GET", "/usage_groups?group_by=consumer")["detail"]
    assert "more than 100 groups: ask for fewer projects at a time with 'limit'" in problem
    assert len(groups(world, "consumer", limit="100")) == 100


def test_operators_and_services_may_see_it_and_nobody_else(cloud: World) -> None:
    path = "/usage_groups?group_by=aggregate&project_id=alpha"
    for roles, status in (("admin", 200), ("service", 200), ("reader", 403), ("member,manager", 403)):
        assert cloud.call("GET", path, token="u:alpha", x_roles=roles).status_code == status
    assert cloud.call("GET", path, token=None).status_code == 401
    assert cloud.call("POST", path, {}).status_code == 405


def test_unknown_to_no_microversion(cloud: World) -> None:
    found = groups(cloud, "root_provider")
    for version in ("1.0", "1.29", "1.39"):
        answer = cloud.call("GET", "/usage_groups?group_by=root_provider", version=version)
        assert answer.json == {"usage_groups": found}
        assert ("last-modified" in answer.headers) == (version != "1.0")


@pytest.fixture
def mover(cloud: World) -> Iterator[None]:
    """Moves a server of gamma to and fro, as long as the test runs."""
    stop, moves = threading.Event(), []
    cloud.ok("PUT", f"/allocations/{uuid_of('z')}", claim(None, "gamma", host2={"VCPU": 9}))

    def move() -> None:
        generation = 1
        while not stop.is_set():
            host = "numa" if generation % 2 else "host2"
            cloud.ok("PUT", f"/allocations/{uuid_of('z')}", claim(generation, "gamma", **{host: {"VCPU": 9}}))
            generation += 1
            moves.append(host)

    thread = threading.Thread(target=move)
    thread.start()
    yield
    stop.set()
    thread.join()
    assert moves


@pytest.mark.usefixtures("mover")
def test_what_moves_meanwhile_is_neither_lost_nor_counted_twice(cloud: World) -> None:
    seen = set()
    for turn in range(400):
        found = groups(cloud, GROUPINGS[turn % 4], project_id="gamma")
        assert [group["resources"] for group in found] == [{"VCPU": 9}]
        seen.add(found[0].get("aggregate_uuid"))
        if turn >= 40 and {ONE, TWO} <= seen:
            break
    assert {ONE, TWO} <= seen
