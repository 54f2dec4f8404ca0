"""Many clients write to one Placement of several workers: what must never be, and what must not be refused.

The server has four gunicorn workers, on PostgreSQL if not said otherwise; sixteen clients write at once.
"""

from tests.concurrency.placement_fleet import Fleet, at_once, statuses
from tests.placement.world import claim, uuid_of


def test_what_fits_is_never_refused(any_fleet: Fleet) -> None:
    fleet = any_fleet
    for name in ("a", "b"):
        fleet.provider(name, VCPU=100, DISK_GB=1000)
    answers = at_once(lambda n: fleet.allocate(f"c{n}", None, **{"ab"[n % 2]: {"VCPU": 1, "DISK_GB": 10}}), 160)
    assert statuses(answers) == {204: 160}
    for name in ("a", "b"):
        assert fleet.usages(name) == {"VCPU": 80, "DISK_GB": 800}
        assert fleet.generation(name) == 1 + 80


def test_nothing_is_oversold(any_fleet: Fleet) -> None:
    fleet = any_fleet
    fleet.provider("a", VCPU=50)
    answers = at_once(lambda n: fleet.allocate(f"c{n}", None, a={"VCPU": 1}), 120)
    assert statuses(answers) == {204: 50, 409: 70}
    refusals = {answer.json()["errors"][0]["code"] for answer in answers if answer.status_code == 409}
    assert refusals == {"placement.undefined_code"}
    assert fleet.usages("a") == {"VCPU": 50}


def test_a_consumer_is_created_once(fleet: Fleet) -> None:
    fleet.provider("a", VCPU=100)
    for number in range(5):
        answers = at_once(lambda n, number=number: fleet.allocate(f"c{number}", None, a={"VCPU": 1 + n}), 16)
        assert statuses(answers) == {204: 1, 409: 15}
        codes = {answer.json()["errors"][0]["code"] for answer in answers if answer.status_code == 409}
        assert codes == {"placement.concurrent_update"}


def test_no_update_of_a_consumer_is_lost(fleet: Fleet) -> None:
    fleet.provider("a", VCPU=1000)
    fleet.allocate("c", None, a={"VCPU": 1})
    path = f"/allocations/{uuid_of('c')}"

    def add_one(_: int) -> None:
        while True:
            seen = fleet.ok("GET", path)
            amount = seen["allocations"][uuid_of("a")]["resources"]["VCPU"]
            if fleet.allocate("c", seen["consumer_generation"], a={"VCPU": amount + 1}).status_code == 204:
                return

    at_once(add_one, 32)
    assert fleet.usages("a") == {"VCPU": 33}
    assert fleet.ok("GET", path)["consumer_generation"] == 33


def test_moves_in_opposite_directions_neither_lose_nor_block(fleet: Fleet) -> None:
    for name in ("a", "b"):
        fleet.provider(name, VCPU=64)
    for number in range(32):
        fleet.allocate(f"c{number}", None, **{"ab"[number % 2]: {"VCPU": 2}})

    def swap(number: int) -> int:
        pair = [number % 16 * 2, number % 16 * 2 + 1]
        if number % 2:
            pair.reverse()
        body = {}
        for one, target in zip(pair, "ab" if number // 16 % 2 else "ba", strict=True):
            seen = fleet.ok("GET", f"/allocations/{uuid_of(f'c{one}')}")
            body[uuid_of(f"c{one}")] = claim(seen["consumer_generation"], **{target: {"VCPU": 2}})
        answer = fleet.call("POST", "/allocations", body)
        assert answer.status_code == 204 or "consumer generation conflict" in answer.text, answer.text
        return answer.status_code

    assert at_once(swap, 96).count(204) >= 32
    assert fleet.usages("a")["VCPU"] + fleet.usages("b")["VCPU"] == 64


def test_a_generation_is_used_once_and_never_goes_back(fleet: Fleet) -> None:
    fleet.provider("a", VCPU=10)
    path = f"/resource_providers/{uuid_of('a')}/inventories/VCPU"

    def write(number: int) -> tuple[int, int]:
        seen = fleet.generation("a")
        answer = fleet.call("PUT", path, {"resource_provider_generation": seen, "total": 10 + number})
        assert answer.status_code == 200 or answer.json()["errors"][0]["code"] == "placement.concurrent_update"
        later = fleet.generation("a")
        assert later >= seen + (answer.status_code == 200)
        return answer.status_code, seen

    written = at_once(write, 96)
    used = [seen for status, seen in written if status == 200]
    assert len(set(used)) == len(used)
    assert fleet.generation("a") == 1 + len(used)


def test_inventory_is_not_lowered_away_under_an_allocation(fleet: Fleet) -> None:
    for number in range(20):
        name = f"p{number}"
        fleet.provider(name, VCPU=1)
        path = f"/resource_providers/{uuid_of(name)}/inventories"

        def act(n: int, name: str = name, path: str = path) -> int:
            if n % 2:
                return fleet.allocate(f"c{name}{n}", None, **{name: {"VCPU": 1}}).status_code
            return fleet.call("DELETE", path).status_code

        found = at_once(act, 4, clients=4)
        has_inventory = bool(fleet.ok("GET", path)["inventories"])
        assert (found[1::2].count(204) == 1) == has_inventory
        assert found[1::2].count(204) <= 1


def test_trees_keep_right_roots_while_they_are_moved_and_grow(fleet: Fleet) -> None:
    """Takes long: sixteen clients move trees, each waiting for the others."""
    for name in ("r", "s", "t"):
        fleet.provider(name)
        fleet.provider(f"{name}1", name)

    def act(number: int) -> int:
        if number % 3 == 0:
            parent = ("r1", "s1", "t1")[number % 9 // 3]
            body = {"name": f"n{number}", "parent_provider_uuid": uuid_of(parent)}
            return fleet.call("POST", "/resource_providers", body).status_code
        moved, parent = [("r1", "s"), ("s1", "t1"), ("t1", "r1"), ("s1", "r"), ("t1", "s1"), ("r1", "t1")][number % 6]
        body = {"name": moved, "parent_provider_uuid": uuid_of(parent)}
        return fleet.call("PUT", f"/resource_providers/{uuid_of(moved)}", body).status_code

    found = at_once(act, 192)
    assert set(found) <= {200, 400}
    assert found[::3] == [200] * 64
    fleet.check_invariants()


def test_names_stay_unique_and_the_slower_one_is_told_so(fleet: Fleet) -> None:
    for number in range(8):
        fleet.provider(f"old{number}")

    def act(number: int) -> int:
        target = number % 4
        if number % 2:
            body = {"name": f"new{target}"}
            return fleet.call("PUT", f"/resource_providers/{uuid_of(f'old{number % 8}')}", body).status_code
        return fleet.call("POST", "/resource_providers", {"name": f"new{target}"}).status_code

    assert set(at_once(act, 64)) <= {200, 409}
    names = [one["name"] for one in fleet.ok("GET", "/resource_providers")["resource_providers"]]
    assert len(set(names)) == len(names)


def test_a_class_that_goes_while_inventory_of_it_comes(fleet: Fleet) -> None:
    fleet.provider("a")
    inventories = f"/resource_providers/{uuid_of('a')}/inventories"

    def act(number: int) -> tuple[str, int]:
        name = f"CUSTOM_C{number // 4 % 2}"
        if number % 4 == 0:
            return "create", fleet.call("PUT", f"/resource_classes/{name}").status_code
        if number % 4 == 1:
            return "delete", fleet.call("DELETE", f"/resource_classes/{name}").status_code
        if number % 4 == 2:
            body = {"resource_class": name, "total": 1}
            return "add", fleet.call("POST", inventories, body).status_code
        return "remove", fleet.call("DELETE", f"{inventories}/{name}").status_code

    found = set(at_once(act, 800))
    allowed = {"create": (201, 204), "delete": (204, 404, 409), "add": (201, 400, 409), "remove": (204, 404)}
    assert [(what, status) for what, status in found if status not in allowed[what]] == []


def test_a_trait_that_goes_while_it_comes(fleet: Fleet) -> None:
    fleet.provider("a")
    mine = f"/resource_providers/{uuid_of('a')}/traits"

    def act(number: int) -> tuple[str, int]:
        name = f"CUSTOM_T{number // 3 % 2}"
        if number % 3 == 0:
            return "create", fleet.call("PUT", f"/traits/{name}").status_code
        if number % 3 == 1:
            return "delete", fleet.call("DELETE", f"/traits/{name}").status_code
        body = {"traits": [name][: number % 2], "resource_provider_generation": fleet.generation("a")}
        return "use", fleet.call("PUT", mine, body).status_code

    found = set(at_once(act, 600))
    allowed = {"create": (201, 204), "delete": (204, 404, 409), "use": (200, 400, 409)}
    assert [(what, status) for what, status in found if status not in allowed[what]] == []


def test_a_project_never_gets_more_than_its_quota(fleet: Fleet) -> None:
    for name in ("a", "b", "c"):
        fleet.provider(name, VCPU=100)
    fleet.ok("PUT", "/quotas/project", {"quotas": {"VCPU": {"limit": 40}}})
    answers = at_once(lambda n: fleet.allocate(f"x{n}", None, **{"abc"[n % 3]: {"VCPU": 1}}), 96)
    assert statuses(answers) == {204: 40, 409: 56}
    codes = {answer.json()["errors"][0]["code"] for answer in answers if answer.status_code == 409}
    assert codes == {"placement.quota.exceeded"}
    assert fleet.ok("GET", "/quotas/project")["quotas"]["VCPU"] == {"limit": 40, "used": 40}


def test_a_read_sees_every_write_that_was_acknowledged_on_whichever_worker(fleet: Fleet) -> None:
    for number in range(48):
        fleet.provider(f"p{number}", VCPU=1)

    def fill_and_look(number: int) -> None:
        name = f"p{number}"
        query = f"/allocation_candidates?resources=VCPU:1&in_tree={uuid_of(name)}"
        assert len(fleet.ok("GET", query)["allocation_requests"]) == 1
        assert fleet.allocate(f"c{number}", None, **{name: {"VCPU": 1}}).status_code == 204
        for _ in range(3):
            assert fleet.ok("GET", query)["allocation_requests"] == []
        assert fleet.call("DELETE", f"/allocations/{uuid_of(f'c{number}')}").status_code == 204
        assert len(fleet.ok("GET", query)["allocation_requests"]) == 1

    at_once(fill_and_look, 48)
