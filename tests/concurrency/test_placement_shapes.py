"""Reshapes, moved trees and changed limits while sixteen clients write and read: nothing is lost, mixed up or exceeded."""

import itertools
import threading
from typing import Any

from tests.concurrency.placement_fleet import Fleet, at_once
from tests.placement.world import claim, uuid_of

CONCURRENT = "placement.concurrent_update"


def code_of(answer: Any) -> str:
    return str(answer.json()["errors"][0]["code"])


def reshape(fleet: Fleet, source: str, target: str) -> bool:
    """Moves all inventory and all allocations from one provider to another. Answers whether nobody was faster."""
    held = fleet.ok("GET", f"/resource_providers/{uuid_of(source)}/inventories")
    shapes = {
        uuid_of(source): {"resource_provider_generation": held["resource_provider_generation"], "inventories": {}},
        uuid_of(target): {
            "resource_provider_generation": fleet.generation(target),
            "inventories": {"VCPU": {"total": held["inventories"]["VCPU"]["total"]}},
        },
    }
    seen = fleet.ok("GET", f"/resource_providers/{uuid_of(source)}/allocations")["allocations"]
    claims = {uuid: claim(one["consumer_generation"], **{target: {"VCPU": 1}}) for uuid, one in seen.items()}
    answer = fleet.call("POST", "/reshaper", {"inventories": shapes, "allocations": claims})
    assert answer.status_code in (204, 409), answer.text
    return answer.status_code == 204


def test_allocations_that_come_while_inventory_moves_to_another_provider(fleet: Fleet) -> None:
    fleet.provider("root")
    fleet.provider("a", "root", VCPU=1000)
    fleet.provider("b", "root")
    places = ["a", "b"]
    moved, over, quiet = threading.Event(), threading.Event(), threading.Event()

    def act(number: int) -> None:
        if number == 0:
            while not over.is_set():
                quiet.clear()
                over.wait(0.02)
                if reshape(fleet, *places):
                    places.reverse()
                    moved.set()
                quiet.set()
                over.wait(0.02)
            return
        for name in itertools.cycle("ab"):
            if number % 10:
                quiet.wait(10)  # else the generations that the reshaper has read would always be stale
            answer = fleet.allocate(f"c{number}", None, **{name: {"VCPU": 1}})
            if answer.status_code == 204:
                return
            # there is no inventory where it just was; never is it refused for what the reshaper did to generations
            assert answer.status_code == 409
            assert "Inventory for 'VCPU'" in answer.text, answer.text

    def part(number: int) -> None:
        try:
            act(number)
        finally:
            if number == 159:
                assert moved.wait(200)
                over.set()
                quiet.set()

    at_once(part, 160)
    holder, other = places
    assert reshape(fleet, holder, other)
    assert fleet.usages(other) == {"VCPU": 159}
    assert fleet.usages(holder) == {}
    for number in range(1, 160):
        allocations = fleet.ok("GET", f"/allocations/{uuid_of(f'c{number}')}")["allocations"]
        assert {uuid: one["resources"] for uuid, one in allocations.items()} == {uuid_of(other): {"VCPU": 1}}


def test_candidates_show_whole_trees_while_these_are_moved(fleet: Fleet) -> None:
    """Takes long: there are few moments in which a tree could be seen in two halves."""
    for root in ("r", "s"):
        fleet.provider(root)
    for number in range(6):
        fleet.provider(f"n{number}", "r", VCPU=8)
        fleet.provider(f"g{number}", f"n{number}", VGPU=1)

    def act(number: int) -> None:
        if number % 4 == 0:
            moved, parent = f"n{number // 4 % 6}", "rs"[number // 24 % 2]
            body = {"name": moved, "parent_provider_uuid": uuid_of(parent)}
            assert fleet.call("PUT", f"/resource_providers/{uuid_of(moved)}", body).status_code == 200
            return
        query = "/allocation_candidates?resources1=VCPU:1&resources2=VGPU:1&group_policy=none&same_subtree=1,2"
        found = fleet.ok("GET", query)
        summaries = found["provider_summaries"]
        for uuid, one in summaries.items():
            parent = one["parent_provider_uuid"]
            above = summaries[parent] if parent else {"root_provider_uuid": uuid}
            assert one["root_provider_uuid"] == above["root_provider_uuid"]
        pairs = {tuple(sorted(one["allocations"])) for one in found["allocation_requests"]}
        assert pairs == {tuple(sorted((uuid_of(f"n{n}"), uuid_of(f"g{n}")))) for n in range(6)}

    at_once(act, 240)


def test_limits_that_are_written_again_while_they_are_used_up(fleet: Fleet) -> None:
    fleet.provider("a", VCPU=1000, DISK_GB=1000)
    limits = {"quotas": {"VCPU": {"limit": 40}, "DISK_GB": {"limit": 1000}}}
    fleet.ok("PUT", "/quotas/project", limits)
    over = threading.Event()

    def act(number: int) -> int:
        if number < 4:
            while not over.is_set():
                assert fleet.call("PUT", "/quotas/project", limits).status_code == 200
            return 0
        answer = fleet.allocate(f"x{number}", None, a={"VCPU": 1, "DISK_GB": 1})
        if number == 399:
            over.set()
        assert answer.status_code == 204 or code_of(answer) == "placement.quota.exceeded", answer.text
        return answer.status_code

    assert at_once(act, 400).count(204) == 40
    assert fleet.ok("GET", "/quotas/project")["quotas"]["VCPU"] == {"limit": 40, "used": 40}


def test_consumers_that_change_their_project_keep_within_both_limits(fleet: Fleet) -> None:
    fleet.provider("a", VCPU=1000)
    for project in ("p", "q"):
        fleet.ok("PUT", f"/quotas/{project}", {"quotas": {"VCPU": {"limit": 12}}})
    for number in range(16):
        owner = "pq"[number % 2]
        fleet.ok("PUT", f"/allocations/{uuid_of(f'c{number}')}", claim(None, project=owner, a={"VCPU": 1}))

    def act(number: int) -> None:
        consumer, project = uuid_of(f"c{number % 16}"), "pq"[number // 16 % 2]
        seen = fleet.ok("GET", f"/allocations/{consumer}")
        body = claim(seen["consumer_generation"], project=project, a={"VCPU": 1 + number % 3})
        answer = fleet.call("PUT", f"/allocations/{consumer}", body)
        assert answer.status_code == 204 or code_of(answer) in (CONCURRENT, "placement.quota.exceeded"), answer.text
        for name in ("p", "q"):
            assert fleet.ok("GET", f"/quotas/{name}")["quotas"]["VCPU"]["used"] <= 12

    at_once(act, 240)


def test_old_clients_and_consumers_that_others_create_at_the_same_time(fleet: Fleet) -> None:
    """Below 1.28 no client knows of generations, so the last one wins; with limits, too."""
    fleet.provider("a", VCPU=1000)
    for project in ("p", "q"):
        fleet.ok("PUT", f"/quotas/{project}", {"quotas": {"VCPU": {"limit": 900}}})

    def act(number: int) -> int:
        body = claim(None, project="pq"[number % 2], a={"VCPU": 1})
        del body["consumer_generation"], body["consumer_type"]
        path = f"/allocations/{uuid_of(f'c{number // 8}')}"
        return fleet.call("PUT", path, body, version="1.27").status_code

    assert set(at_once(act, 320)) == {204}
    assert fleet.usages("a") == {"VCPU": 40}
